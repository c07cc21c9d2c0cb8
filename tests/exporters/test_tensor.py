"""A tensor draws itself, in our engine and in PyTorch, with no recording."""

from __future__ import annotations

import contextlib

import pytest

import graphscope as gs
from graphscope.errors import ExportError
from graphscope.exporters.export import export
from graphscope.exporters.tensor import op_name, tensor_view
from graphscope.graph.view import GraphView

from .conftest import parse, unrolled


def shape_of(view: GraphView) -> tuple[list[str], set[tuple[str, str]]]:
    """Ops of a view, and its edges by op."""
    nodes = view.by_id()
    return sorted(node.op for node in view.nodes), {(nodes[e.source].op, nodes[e.target].op) for e in view.edges}


def test_our_tensor() -> None:
    a = gs.tensor(15.0, requires_grad=True)
    b = gs.tensor(20.0, requires_grad=True)
    assert shape_of(tensor_view(a * b)) == (["leaf", "leaf", "mul"], {("leaf", "mul")})
    found = parse(export(a * b, format="dot"))
    assert len(found.nodes) == 3
    assert len(found.edges) == 2


def test_a_tensor_used_twice_is_one_node() -> None:
    a = gs.tensor(3.0, requires_grad=True)
    b = a.tanh()
    view = tensor_view(b * b)
    assert sorted(node.op for node in view.nodes) == ["leaf", "mul", "tanh"]
    assert sorted(edge.argument for edge in view.edges if view.by_id()[edge.source].op == "tanh") == [0, 1]


def test_the_same_tensor_gives_the_same_bytes() -> None:
    assert export(unrolled(5), format="dot") == export(unrolled(5), format="dot")


@pytest.mark.slow
def test_a_deep_graph() -> None:
    x = gs.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(5000):
        y = y + 1.0
    assert len(tensor_view(y).nodes) == 5001


@pytest.mark.parametrize("recorded", [False, True])
def test_the_shapes_of_our_ops(recorded: bool) -> None:
    with gs.record() if recorded else contextlib.nullcontext():
        W = gs.randn(4, 3, requires_grad=True)
        bias = gs.randn(4, 1, requires_grad=True)
        x = gs.randn(2, 3)
        hidden = (gs.mm(W, x.t()) + bias).tanh()
        loss = ((hidden * 2 - gs.ones(4, 2)) ** 2).sum(1).exp().mean()
        found = {node.op: node.shape for node in tensor_view(loss).nodes if node.op != "leaf"}
    assert found == {
        "mm": (4, 2), "add": (4, 2), "tanh": (4, 2), "mul": (4, 2), "sub": (4, 2), "pow": (4, 2), "sum": (4,),
        "exp": (4,), "mean": (),
    }  # fmt: skip


def test_an_op_whose_shape_nothing_tells() -> None:
    x = gs.randn(3, 4, requires_grad=True)
    y = gs.mm(gs.randn(2, 3), x).relu()
    y.sum().backward()
    assert tensor_view(y).nodes[-1].shape == (2, 4)
    assert {node.op for node in tensor_view(y).nodes} == {"leaf", "mm", "relu"}


def test_a_leaf_is_a_graph_of_one() -> None:
    assert [node.kind for node in tensor_view(gs.tensor(1.0, requires_grad=True)).nodes] == ["leaf"]


def test_a_tensor_without_a_graph_says_why() -> None:
    with pytest.raises(ExportError, match="has no graph") as error:
        export(gs.tensor(1.0) * 2, format="dot")
    assert "no_grad" in str(error.value.hint)


def test_a_tensor_has_no_time() -> None:
    with pytest.raises(ExportError, match="only of a recording"):
        export(gs.tensor(1.0, requires_grad=True), format="dot", at=3)


@pytest.mark.parametrize(
    ("rule", "op"),
    [
        ("MulBackward0", "mul"),
        ("LogSoftmaxBackward0", "log_softmax"),
        ("TBackward0", "t"),
        ("AddmmBackward0", "addmm"),
        ("torch::autograd::CopySlices", "copy_slices"),
        ("MulBackward", "mul"),
        ("Conv2DBackward1", "conv2_d"),
        ("?", "?"),
    ],
)
def test_ops_are_named_as_in_programs(rule: str, op: str) -> None:
    assert op_name(rule) == op


@pytest.mark.torch
def test_a_tensor_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(3, 4)
    values, _ = torch.log_softmax(model(torch.randn(2, 3)), 1).max(1)
    loss = values.sum()
    view = tensor_view(loss)
    ops, edges = shape_of(view)
    assert ops == ["addmm", "leaf", "leaf", "log_softmax", "max", "sum", "t"]
    assert edges == {
        ("leaf", "t"), ("t", "addmm"), ("leaf", "addmm"), ("addmm", "log_softmax"), ("log_softmax", "max"),
        ("max", "sum"),
    }  # fmt: skip
    shapes = {node.op: node.shape for node in view.nodes if node.op != "leaf"}
    assert shapes == {"t": (3, 4), "addmm": (2, 4), "log_softmax": (2, 4), "max": (2,), "sum": ()}
    assert {node.shape for node in view.nodes if node.parameter} == {(4, 3), (4,)}
    assert str(export(loss, format="svg")).startswith("<?xml")
