"""The gradient of a leaf, as a log tells it: what the program itself has, whatever it does with it between passes."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphscope as gs

USES = st.integers(1, 4).map(lambda count: ("pass", count))
DEEDS = st.sampled_from(["zero", "scale", "shift", "none", "read", "hook"]).map(lambda name: (name, 0))


def run(framework: ModuleType, deeds: list[tuple[str, int]], *, hooked: float = 2.0) -> None:
    """Do something with the gradient of a leaf; then what the log tells of it is compared with what it is."""
    with gs.record() as log:
        x = framework.tensor([3.0, -2.0], requires_grad=True)
        for name, count in deeds:
            if name == "pass":
                sum((x * (number + 2.0) for number in range(count)), framework.zeros(2)).sum().backward()
            elif name == "hook":
                x.register_hook(lambda gradient: gradient * hooked)
            elif x.grad is not None:
                _change(x, name)
    log.refresh()
    row = next(row for row in range(log.first, log.end) if log.event(row).shape == (2,))
    told: Any = log.graph.node(row).grad
    if x.grad is not None:
        np.testing.assert_allclose(told, x.grad.tolist(), rtol=1e-6)


def _change(x: Any, name: str) -> None:
    if name == "zero":
        x.grad.zero_()
    elif name == "scale":
        x.grad.mul_(0.5)
    elif name == "shift":
        x.grad += 1.0
    elif name == "none":
        x.grad = None
    else:
        x.grad.sum()


@pytest.mark.slow
@given(st.lists(USES | DEEDS, min_size=1, max_size=8))
def test_of_our_own_engine(deeds: list[tuple[str, int]]) -> None:
    run(gs, deeds)


@pytest.mark.slow
@pytest.mark.torch
@given(st.lists(USES | DEEDS, min_size=1, max_size=8))
def test_of_pytorch(deeds: list[tuple[str, int]]) -> None:
    run(pytest.importorskip("torch"), deeds)
