"""Parts that scripted functions write, lists, dicts and numbers: as Python and TorchScript run them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import graphscope as gs
from graphscope import jit
from graphscope.static.script import ScriptError

FUNCTIONS: Final = """
from typing import Dict, List

import LIBRARY as lib
from LIBRARY import Tensor


def part(x: Tensor) -> Tensor:
    y = x * 2
    y[0] = 5.0
    return y * x


def parts(x: Tensor) -> Tensor:
    y = x.clone()
    y[1:] += x[:2]
    y[y > 3.0] = 0.0
    return y


def part_in_a_loop(x: Tensor) -> Tensor:
    y = lib.zeros_like(x)
    for i in range(3):
        y[i] = x[i] * i
    return y


def part_on_one_way(x: Tensor) -> Tensor:
    y = x * 1
    if bool(x.sum() > 0):
        y[0] = 7.0
    return y


def another_name(x: Tensor) -> Tensor:
    y = x * 2
    z = y
    y[0] = 1.0
    return z


def by_key(x: Tensor) -> Tensor:
    kept: Dict[str, Tensor] = {"a": x, "b": x * 2}
    kept["c"] = kept["a"] + kept["b"]
    return kept["c"] * len(kept)


def listed(x: Tensor) -> Tensor:
    rows = [x * i for i in range(3)]
    rows[0] = rows[2] + 1
    rows.extend([x])
    last = rows.pop()
    return lib.stack(rows).sum(0) + last


def number(x: Tensor) -> Tensor:
    if x.sum().item() > 1.0:
        return x * float(x[0]) + int(x[1])
    return x
"""


def module(library: str, folder: Path) -> Any:
    file = folder / f"for_{library}.py"
    file.write_text(FUNCTIONS.replace("LIBRARY", library), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


NAMES: Final = [line.split("(")[0][4:] for line in FUNCTIONS.splitlines() if line.startswith("def ")]
ARRAYS: Final = [np.float32([1, 2, 3]), np.float32([-3, 0.5, 1])]


@pytest.mark.parametrize("name", NAMES)
def test_they_are_what_python_makes_of_them(name: str, tmp_path: Path) -> None:
    function = getattr(module("graphscope", tmp_path), name)
    scripted = jit.script(function)
    for array in ARRAYS:
        found, slopes = [], []
        for call in (scripted, function):
            x = gs.tensor(array, requires_grad=True)
            out = call(x)
            out.sum().backward()
            found.append(out.detach().numpy())
            slopes.append(x.grad.numpy())
        np.testing.assert_allclose(found[0], found[1], rtol=1e-6)
        if name != "number":  # a number that Python makes of a tensor has no gradient
            np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-6)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
@pytest.mark.parametrize("name", NAMES)
def test_they_are_what_torchscript_makes_of_them(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.jit.script(getattr(module("torch", tmp_path), name))
    ours = jit.script(getattr(module("graphscope", tmp_path), name))
    for array in ARRAYS:
        np.testing.assert_allclose(ours(gs.tensor(array)).numpy(), theirs(torch.tensor(array)).numpy(), rtol=1e-6)


def seen_outside(x: Any) -> Any:
    x[0] = 1.0
    return x


def inner(x: Any) -> Any:
    x[0] = 1.0
    return x


def seen_by_the_caller(x: Any) -> Any:
    y = x * 2
    return inner(y) + y


def seen_in_a_view(x: Any) -> Any:
    y = x * 2
    z = y[1:]
    y[1] = 0.0
    return z


def of_a_view(x: Any) -> Any:
    y = (x * 2)[1:]
    y[0] = 0.0
    return y


def told_when_it_runs(x: Any) -> Any:
    return gs.stack([row for row in x if row > 0])


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (seen_outside, "it was given from outside"),
        (seen_by_the_caller, "it was given from outside"),
        (seen_in_a_view, "'z' is a view of it"),
        (of_a_view, "it is a view of another tensor"),
        (told_when_it_runs, "is told when it runs"),
    ],
)
def test_a_write_that_would_be_seen_elsewhere_is_refused(function: Any, why: str) -> None:
    with pytest.raises(ScriptError, match=why) as caught:
        jit.script(function)(gs.ones(3))
    assert caught.value.hint


def test_random_numbers_are_drawn_anew_in_each_run() -> None:
    def noise(x: Any) -> Any:
        return x * 0 + gs.rand(3) + gs.randn_like(x) * 0

    scripted = jit.script(noise)
    one, other = scripted(gs.zeros(3)).numpy(), scripted(gs.zeros(3)).numpy()
    assert (one != other).all()
    assert ((one >= 0) & (one < 1)).all()
