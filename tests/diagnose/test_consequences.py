"""What stands beneath a finding came of it: values flow from the one to the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphscope as gs

ENGINES = ["graphscope", pytest.param("torch", marks=pytest.mark.torch)]


def converged(library: Any, behind: str) -> None:
    """A training whose last updates are smaller than what the weights can tell apart; then, something else."""
    library.manual_seed(0)
    layer = library.nn.Linear(1, 1)
    optimizer = library.optim.SGD(layer.parameters(), lr=1e-3)
    x = library.randn(16, 1)
    for _ in range(3):
        optimizer.zero_grad()
        (layer(x) * 1e-5).mean().backward()
        optimizer.step()
    total = library.full((8,), 1e6)
    for _ in range(10):
        total.add_(library.ones(8), alpha=1e-3)
    if behind == "of weights written since":
        optimizer.step()
    made = {
        "of a constant": lambda: library.tensor([-1.0], requires_grad=True).sqrt().sum(),
        "of the sum": lambda: (layer(total.reshape(8, 1)) * 0.0 - 1.0).sqrt().sum(),
        "of weights": lambda: (layer(x) * 0.0 - 1.0).sqrt().sum(),
        "of weights written since": lambda: (layer(x) * 0.0 - 1.0).sqrt().sum(),
    }
    made[behind]().backward()


def told(engine: str, behind: str, folder: Path) -> list[tuple[str, list[str]]]:
    library = gs if engine == "graphscope" else pytest.importorskip(engine)
    with gs.record(folder / "run.gscope", values="full"):
        converged(library, behind)
    report = gs.doctor(folder / "run.gscope")
    lost = [each.verdict for each in report if each.kind == "precision_lost"]
    assert len(lost) == 1, "updates of weights are judged elsewhere"
    assert "adds 0.001 to a sum of 1e+06" in lost[0]
    return [(each.kind, [effect.kind for effect in each.consequences]) for each in report]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_what_has_nothing_to_do_with_a_rounded_sum_stands_beside_it(engine: str, tmp_path: Path) -> None:
    found = told(engine, "of a constant", tmp_path)
    assert ("precision_lost", []) in found
    assert ("nan", []) in found


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_computed_from_a_rounded_sum_came_of_it(engine: str, tmp_path: Path) -> None:
    assert ("precision_lost", ["nan"]) in told(engine, "of the sum", tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_that_no_optimizer_has_written_since_carry_nothing(engine: str, tmp_path: Path) -> None:
    found = told(engine, "of weights", tmp_path)
    assert ("precision_lost", []) in found
    assert ("nan", []) in found


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_that_an_optimizer_has_written_since_carry_it(engine: str, tmp_path: Path) -> None:
    assert ("precision_lost", ["nan"]) in told(engine, "of weights written since", tmp_path)
