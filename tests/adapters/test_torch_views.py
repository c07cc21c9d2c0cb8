"""Which results the log calls views: those that share the memory of their first input, as PyTorch's storages say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphscope as gs
from graphscope.eventlog.schema import Flag

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "linear of two dims": lambda x, w: torch.nn.functional.linear(x[0], w),
    "linear of three dims": lambda x, w: torch.nn.functional.linear(x, w, torch.ones(4)),
    "matmul of three dims": lambda x, w: x @ w.T.contiguous(),
    "view": lambda x, w: x.view(-1),
    "a view of a view": lambda x, w: x.transpose(0, 1)[0],
    "reshape that copies": lambda x, w: x.transpose(1, 2).reshape(-1),
    "reshape that views": lambda x, w: x.reshape(-1),
    "expand": lambda x, w: w.expand(3, *w.shape),
    "flatten": lambda x, w: x.flatten(),
    "narrow": lambda x, w: x.narrow(1, 0, 1),
    "squeeze of a sum": lambda x, w: x.sum(0, keepdim=True).squeeze(0),
    "addition": lambda x, w: x + 1,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no grad"])
def test_a_view_shares_memory_with_its_first_input(call, grad):
    x = torch.arange(12.0).reshape(2, 3, 2).clone().requires_grad_(grad)
    w = torch.ones(4, 2)
    with gs.record() as log:
        out = call(x, w)
        graph = log.graph
        last = list(graph.select("forward"))[-1]
        inputs = list(last.inputs)
        flagged = bool(log.event(last.row).flags & Flag.VIEW)
    chain = {each.untyped_storage().data_ptr() for each in (x, w)}
    shares = out.untyped_storage().data_ptr() in chain
    if call is CALLS["squeeze of a sum"]:
        shares = True  # of the sum, which is its input
    assert inputs
    assert flagged == shares
