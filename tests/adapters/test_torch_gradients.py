"""Gradients that a program takes in its hands: what they are worth, what they are reset by, and who they belong to."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.optim import SGD

import graphscope as gs
from graphscope.adapters.torch.known_tensors import More
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.torch

RESETS: Final[dict[str, Callable[[Any], Any]]] = {
    "zero_": lambda w: w.grad.zero_(),
    "of data": lambda w: w.grad.data.zero_(),
    "of what is detached": lambda w: w.grad.detach().zero_(),
    "fill_": lambda w: w.grad.fill_(0),
    "foreach": lambda w: torch._foreach_zero_([w.grad]),
    "zero_grad": lambda w: SGD([w], lr=0.1).zero_grad(set_to_none=False),
    "zero_grad foreach": lambda w: SGD([w], lr=0.1, foreach=True).zero_grad(set_to_none=False),
    "None": lambda w: setattr(w, "grad", None),
}


@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
@pytest.mark.parametrize("reset", RESETS)
def test_what_a_leaf_has_gathered_since_its_gradient_was_reset_is_what_torch_has(reset: str, capture: str) -> None:
    w = torch.arange(3.0, requires_grad=True)
    with gs.record(capture=capture) as log:
        for factor in range(3):
            for _ in range(2):
                (w * factor).sum().backward()
            norm = w.grad.norm()
            if factor < 2:
                RESETS[reset](w)
    log.refresh()
    events = [log.event(row) for row in range(log.first, log.end)]
    leaf = next(event for event in reversed(events) if event.kind is Kind.LEAF and event.shape == (3,))
    np.testing.assert_array_equal(log.graph.node(leaf.row).grad, w.grad.numpy())
    ops = {event.row: log.op(event.op).name for event in events if event.op and event.kind is Kind.OP}
    assert "changed" not in ops.values()
    assert norm.item() in [log.value(row) for row, name in ops.items() if name == "norm"]


def test_a_gradient_that_several_passes_added_to_is_told_whole_where_it_is_used() -> None:
    w = torch.ones(3, requires_grad=True)
    with gs.record() as log:
        for _ in range(2):
            (w * 2).sum().backward()
        w.grad.sin()
        (w * 3).sum().backward()
        w.grad.cos()
    log.refresh()
    used = [node.inputs[0].source for node in log.graph.nodes if node.op in ("sin", "cos")]
    assert [(node.op, node.name) for node in used] == [("accumulate_grad", "w.grad")] * 2
    np.testing.assert_array_equal([node.value for node in used], [[4, 4, 4], [7, 7, 7]])
    assert used[0] in [edge.source for edge in used[1].inputs]


@pytest.mark.slow
def test_what_is_known_of_gradients_that_are_gone_goes_too() -> None:
    def known() -> int:
        gc.collect()
        return sum(type(each) is More for each in gc.get_objects())

    def use(weight: Any) -> Any:
        (weight * 2).sum().backward()
        return weight.grad

    before = known()
    with gs.record(values="none"):
        held = [use(torch.ones(2, requires_grad=True)) for _ in range(2000)]
        assert known() - before >= 2000
        held.clear()
        others = [torch.ones(2) for _ in range(20_000)]  # so many that those that are gone are looked for
        assert known() - before < 100
    assert len(others) == 20_000
