"""The programs that train, run by PyTorch and by graphscope from the same initial weights: each loss is the same."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs

SAMPLES = Path(__file__).parents[2] / "samples"

PROGRAMS = {
    "digits": {"EPOCHS": 1},
    "char_rnn": {"STEPS": 6},
    "digits_conv": {"EPOCHS": 1},
    "transformer": {"STEPS": 12},
    "vae": {"EPOCHS": 2},
    "pinn": {"STEPS": 25},
}
"""The programs, and constants that make them short."""

RTOL = 2e-3


def shortened(name: str, constants: dict[str, int]) -> str:
    text = (SAMPLES / f"{name}.py").read_text(encoding="utf-8")
    for constant, value in constants.items():
        text, count = re.subn(rf"^{constant} = \d+$", f"{constant} = {value}", text, flags=re.MULTILINE)
        assert count == 1, constant
    return text


def for_torch(text: str) -> str:
    """The same program as a person would write it for PyTorch: only the imports differ."""
    return re.sub(r"^(import|from) graphscope\b", r"\1 torch", text, flags=re.MULTILINE)


class Run:
    """One run of a program: it begins with weights that do not depend on the engine, and its losses are kept."""

    def __init__(self, t: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.t = t
        self.losses: list[float] = []
        self.numbers = np.random.default_rng(7)
        run = self
        backward, begin = t.Tensor.backward, t.optim.Optimizer.__init__

        def watched(tensor: Any, *args: Any, **kwargs: Any) -> None:
            run.losses.append(tensor.item())
            backward(tensor, *args, **kwargs)

        def filled(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            begin(optimizer, *args, **kwargs)
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    run.fill(parameter)

        monkeypatch.setattr(t.Tensor, "backward", watched)
        monkeypatch.setattr(t.optim.Optimizer, "__init__", filled)
        monkeypatch.setattr(t, "randn_like", lambda tensor: run.draw(tuple(tensor.shape), 1.0))

    def draw(self, shape: tuple[int, ...], scale: float) -> Any:
        return self.t.tensor((scale * self.numbers.standard_normal(shape)).astype(np.float32))

    def fill(self, parameter: Any) -> None:
        shape = tuple(parameter.shape)
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 100
        with self.t.no_grad():
            parameter.copy_(self.draw(shape, fan_in**-0.5))

    def __call__(self, text: str, file: Path) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(text, str(file), "exec"), {"__name__": "__main__", "__file__": str(file)})
        return said.getvalue()


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Run, Run]]:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Run(torch, monkeypatch), Run(gs, monkeypatch)
    torch.set_num_threads(threads)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_loss_is_that_of_torch(name: str, both: tuple[Run, Run]) -> None:
    theirs, ours = both
    text = shortened(name, PROGRAMS[name])
    theirs(for_torch(text), SAMPLES / f"{name}.py")
    ours(text, SAMPLES / f"{name}.py")
    assert len(ours.losses) == len(theirs.losses) > 5
    assert all(np.isfinite(theirs.losses))
    np.testing.assert_allclose(ours.losses, theirs.losses, rtol=RTOL)
    np.testing.assert_allclose(ours.losses[:3], theirs.losses[:3], rtol=2e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_few_steps_run_as_torch_without_torch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(gs, monkeypatch)
    with gs.as_torch():
        run(for_torch(shortened(name, PROGRAMS[name])), SAMPLES / f"{name}.py")
    assert all(np.isfinite(run.losses))
    assert np.mean(run.losses[-3:]) < run.losses[0]
