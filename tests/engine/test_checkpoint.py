"""Checkpoints change no gradient, run the function again, and say so in the log."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import graphscope as gs
import graphscope.utils.checkpoint
from tests.engine.test_function import inputs, same

torch = pytest.importorskip("torch")
importlib.import_module("torch.utils.checkpoint")

pytestmark = pytest.mark.torch


SEGMENTS = {
    "a chain": lambda t, x, w: (x * w).tanh().exp(),
    "a closure": lambda t, x, w: (x.sin() * w).sum() * x,
    "several outputs": lambda t, x, w: (x * w, (x + w).exp()),
    "in place": lambda t, x, w: (x * w).add_(1).mul_(x).exp(),
    "views": lambda t, x, w: (x * w).reshape(2, 2).t().exp() @ w.reshape(2, 2),
    "nested": lambda t, x, w: t.utils.checkpoint.checkpoint(lambda v: (v * w).exp(), x, use_reentrant=False).tanh(),
}


@pytest.mark.parametrize("segment", SEGMENTS.values(), ids=SEGMENTS)
@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
def test_a_checkpoint_changes_no_gradient(segment, recorded, tmp_path):
    def outcome(t, wrap):
        x, w = inputs(t)
        out = t.utils.checkpoint.checkpoint(segment, t, x, w, use_reentrant=False) if wrap else segment(t, x, w)
        parts = out if isinstance(out, tuple) else (out,)
        loss = sum((part * part).sum() for part in parts)
        first = t.autograd.grad(loss, (x, w), retain_graph=True)
        loss.backward()
        return [g.detach().numpy() for g in (*first, x.grad, w.grad)]

    expected = outcome(torch, True)
    if recorded:
        with gs.record(tmp_path / "a.gscope"):
            same(outcome(gs, True), expected)
    else:
        same(outcome(gs, True), expected)
        same(outcome(gs, False), expected)


def test_a_checkpoint_runs_again_in_the_backward_pass_and_the_log_says_so(tmp_path):
    x, w = inputs(gs)
    calls = []

    def part(value):
        calls.append(value)
        return (value * w).exp()

    with gs.record(tmp_path / "a.gscope") as log:
        out = gs.utils.checkpoint.checkpoint(part, x)
        assert len(calls) == 1
        out.sum().backward()
    assert len(calls) == 2
    graph = gs.Graph(gs.load(log.path))
    again = [node for node in graph.nodes if node.scope == "checkpoint"]
    assert [(node.op, node.graph_pass) for node in again if node.kind == "op"] == [
        ("mul", "backward"),
        ("exp", "backward"),
    ]


def test_a_checkpoint_that_does_something_else_is_told():
    (x, w), state = inputs(gs), [0]

    def part(value):
        state[0] += 1
        return (value * w).exp() if state[0] == 1 else value * w

    out = gs.utils.checkpoint.checkpoint(part, x)
    with pytest.raises(gs.utils.checkpoint.CheckpointError, match="must do the same both times"):
        out.sum().backward()


def test_a_checkpoint_draws_the_same_random_numbers():
    x, _ = inputs(gs)
    gs.manual_seed(3)
    out = gs.utils.checkpoint.checkpoint(lambda v: gs.rand(4) * v * v, x)
    gs.rand(7)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.array, 2 * out.array / x.array, rtol=1e-6)


def test_what_is_saved_is_on_the_cpu_in_any_case():

    for t in (gs, torch):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        with t.autograd.graph.save_on_cpu():
            y = (x * x).sum()
        y.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2, 4])
