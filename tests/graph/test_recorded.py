"""Real recordings: what the graph says is what the tensors of the program hold."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.graph import Graph
from graphscope.graph.passes import fold_repeats, whole


def cell(steps):
    """The unrolled cell of the README, and its weights."""
    W_h = gs.tensor(np.random.default_rng(0).normal(size=(20, 20)).astype("f4") / 10, requires_grad=True)
    W_x = gs.randn(20, 10, requires_grad=True)
    h = gs.randn(1, 20)
    for _ in range(steps):
        x = gs.randn(1, 10)
        h2h = gs.mm(W_h, h.t())
        i2h = gs.mm(W_x, x.t())
        next_h = h2h + i2h
        h = next_h.tanh().t()
    loss = h.sum()
    loss.backward()
    return W_h, W_x


@pytest.mark.parametrize("steps", [1, 100])
def test_gradients_are_those_of_the_tensors(steps):
    with gs.record() as log:
        W_h, W_x = cell(steps)
    graph = Graph(log)
    for name, tensor in (("W_h", W_h), ("W_x", W_x)):
        (leaf,) = graph.select(f"name:{name} leaf")
        np.testing.assert_array_equal(leaf.value, tensor.detach().numpy())
        np.testing.assert_array_equal(leaf.grad, tensor.grad.numpy())
        assert len(leaf.contributions) == steps
        assert {part.source.label for part in leaf.contributions} == {"MmBackward"}


def test_names_are_those_of_the_program():
    with gs.record() as log:
        cell(3)
    graph = Graph(log)
    names = [(node.op, node.name) for node in graph.nodes if node.kind == "op"]
    one = [("t", ""), ("mm", "h2h"), ("t", ""), ("mm", "i2h"), ("add", "next_h"), ("tanh", ""), ("t", "h")]
    assert names == [*one * 3, ("sum", "loss")]
    assert graph.select("name:h2h forward")[0].source_line == "h2h = gs.mm(W_h, h.t())"


@pytest.mark.parametrize("window", [1 << 16, 7])
def test_an_expression_of_many_ops_has_the_same_names_in_a_loop_of_many_turns(monkeypatch, window):
    def names(turns):
        with gs.record() as log:
            x, y = gs.ones(1, 2), gs.rand(1, 2)
            for _ in range(turns):
                z = gs.nn.functional.cosine_similarity(x, y)
            assert z.shape == (1,)
        nodes = [node for node in Graph(log).nodes if node.kind == "op"][::-1]
        return [(node.op, node.name) for node in nodes[: len(nodes) // turns]]

    monkeypatch.setattr("graphscope.graph.names._WINDOW", window)
    assert names(2) == names(51)
    assert names(2)[0] == ("sum_dim", "z")


@pytest.mark.parametrize("steps", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_unrolled_cell_is_one_cell(steps):
    with gs.record() as log:
        cell(steps)
    view = fold_repeats(whole(Graph(log)))
    (frame,) = view.clusters
    assert frame.label == f"x {steps}"
    assert len(view.nodes) == 21
    inside = {node.label for node in view.members()[frame.id]}
    assert {"mm", "add", "tanh", "t", "x", "MmBackward", "TanhBackward", "accumulate"} <= inside


def test_a_trained_parameter_keeps_its_name_and_its_gradient():
    net = gs.nn.Linear(3, 2)
    first = net.weight._version
    with gs.record() as log:
        optimizer = gs.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(gs.ones(4, 3)).sum()
            loss.backward()
            optimizer.step()
    graph = Graph(log)
    weights = graph.select("name:weight forward")
    assert [node.version for node in weights] == [first, first + 1, first + 2, first + 3]
    assert [node.kind for node in weights] == ["leaf", "op", "op", "op"]
    for node in weights:
        np.testing.assert_array_equal(node.grad, net.weight.grad.numpy())
    np.testing.assert_array_equal(weights[-1].value, net.weight.detach().numpy())
    assert len(graph.select("name:weight accumulate")) == 3
    for name in {node.name for node in graph.nodes} - {""}:
        assert graph.select(f"name:{name}") == [node for node in graph.nodes if node.name == name]


@pytest.mark.slow
def test_a_gradient_is_found_without_a_look_at_the_steps_before_it(monkeypatch):
    def rows_read(steps):
        with gs.record() as log:
            w = gs.ones(3, requires_grad=True)
            optimizer = gs.optim.SGD([w], lr=0.1)
            for _ in range(steps):
                optimizer.zero_grad()
                (w * 2).sum().backward()
                optimizer.step()
        graph, event, read = Graph(log), type(log).event, []
        (leaf,) = graph.select("name:w leaf")
        with monkeypatch.context() as patched:
            patched.setattr(type(log), "event", lambda log, row: read.append(row) or event(log, row))
            np.testing.assert_array_equal(leaf.grad, w.grad.numpy())
            assert len(leaf.contributions) == 1
        return len(read)

    assert rows_read(steps=300) <= rows_read(steps=30) + 2
