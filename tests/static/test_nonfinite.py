"""`jit.blame`: the line of the program that a plan's first NaN or Inf comes from, of values and of gradients."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope import jit
from graphscope.errors import StaticError

PARAMETER = gs.ones(2).requires_grad_()


def of_value(w: gs.Tensor, x: gs.Tensor) -> gs.Tensor:
    p = (w * x).sigmoid()
    q = (p - p).log()  # here
    return (q * 0.5).sum()


def of_gradient(w: gs.Tensor, x: gs.Tensor) -> gs.Tensor:
    d = w * x * 0
    root = d.sqrt()  # here
    return root.sum()


def in_a_loop(w: gs.Tensor, x: gs.Tensor) -> gs.Tensor:
    for row in x:
        w = w - row
        w = w / w.sum()  # here
    return w.sum()


def of_a_parameter(w: gs.Tensor, x: gs.Tensor) -> gs.Tensor:
    return ((PARAMETER - 1).sqrt() * w * x).sum()  # here


def fine(w: gs.Tensor, x: gs.Tensor) -> gs.Tensor:
    return (w * x).tanh().sum()


def line(function: Callable[..., Any]) -> int:
    """The line of a function that is marked."""
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, text in enumerate(lines) if text.endswith("# here\n"))


MADE = {
    "value_and_grad": lambda f, *args: jit.value_and_grad(f, *args),
    "compile": lambda f, *args: jit.compile(f, *args),
    "trace": lambda f, *args: jit.trace(f, *args),
    "script": lambda f, *_: jit.script(f),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("function", [of_value, of_gradient, in_a_loop, of_a_parameter])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_line_to_blame_is_named(function: Any, made: str) -> None:
    w, x = gs.ones(2).requires_grad_(), gs.ones(2)
    if function is of_a_parameter and made == "value_and_grad":
        pytest.skip("only its arguments are differentiated")
    call = MADE[made](function, w, x)
    call(w, x)
    found = jit.blame(call, w, x)
    assert found is not None
    assert f"{Path(__file__).name}:{line(function)}: " in found.verdict
    assert w.grad is None
    assert PARAMETER.grad is None


@pytest.mark.parametrize("made", MADE)
def test_nobody_is_blamed_for_numbers(made: str) -> None:
    w, x = gs.ones(2).requires_grad_(), gs.ones(2)
    call = MADE[made](fine, w, x)
    call(w, x)
    assert jit.blame(call, w, x) is None


@pytest.mark.parametrize("made", MADE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_anomalies_are_errors(made: str) -> None:
    w, x = gs.ones(2).requires_grad_(), gs.ones(2)
    call = MADE[made](of_gradient, w, x)

    def step() -> None:
        call(w, x).backward()  # of a value and its gradients, the call raises

    with gs.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=f"nan.*{Path(__file__).name}:"):
        step()


def test_inside_of_a_recording_it_is_found_there() -> None:
    w, x = gs.ones(2).requires_grad_(), gs.ones(2)
    call = jit.compile(of_value, w, x)
    with gs.record(), np.errstate(all="ignore"):
        before = (w * x).log()
        found = jit.blame(call, w, x)
        assert gs.explain(before) is not None  # the recording goes on
    assert found is not None
    assert "made by log" in found.verdict


def test_other_functions_are_refused() -> None:
    with pytest.raises(StaticError, match="takes what jit made of a function, not function"):
        jit.blame(fine, gs.ones(2), gs.ones(2))
