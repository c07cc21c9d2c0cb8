"""The graph itself: what it derives, what it refuses, and how it is walked and rewritten."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.errors import StaticError
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.graph import Graph, Node, Value, walk
from graphscope.static.graphs.rewriting import rewrite


def chain() -> tuple[Graph, Value]:
    graph = Graph("chain")
    x = graph.input("x", (None, 3), "float32")
    w = graph.add("constant", attributes={"value": np.ones((3, 4), np.float32)}, name="w")
    y = graph.add("matmul", (x, w), name="y")
    graph.outputs = [graph.add("tanh", (y,))]
    return graph, y


def test_shapes_and_dtypes_are_derived_with_dims_that_are_not_known() -> None:
    graph, y = chain()
    assert (y.shape, y.dtype) == ((None, 4), np.float32)
    graph.validate()
    (out,) = interpreter.run(graph, [gs.ones(5, 3)])
    np.testing.assert_allclose(out.array, np.tanh(np.full((5, 4), 3.0, np.float32)), rtol=1e-6)


def test_shapes_that_contradict_name_the_node_and_the_cure() -> None:
    graph, y = chain()
    with pytest.raises(StaticError, match=r"add node 'sum'.*y: float32\[\?, 4\].*\n?.*hint"):
        graph.add("add", (y, graph.input("b", (5,), "float32")), name="sum")


def test_an_op_that_is_not_there() -> None:
    graph, y = chain()
    with pytest.raises(StaticError, match="there is no op 'tanhh'"):
        graph.add("tanhh", (y,))


def test_a_cycle_is_told_with_both_nodes() -> None:
    graph, y = chain()
    tanh = graph["tanh"]
    y.node.inputs = (tanh.outputs[0], y.node.inputs[1])
    with pytest.raises(StaticError, match="a cycle"):
        graph.validate()
    with pytest.raises(StaticError, match="a cycle"):
        walk(graph.outputs)


def test_a_value_of_another_graph_is_refused() -> None:
    _, y = chain()
    other = Graph("other")
    other.outputs = [other.add("tanh", (y,))]
    with pytest.raises(StaticError, match="which is no node of graph 'other'"):
        other.validate()


def test_what_was_not_fed_or_does_not_fit() -> None:
    graph, _ = chain()
    with pytest.raises(StaticError, match="input node 'x' was not fed"):
        interpreter.run_nodes(walk(graph.outputs), {})
    with pytest.raises(StaticError, match="'chain' takes 1 tensors, and was given 0"):
        interpreter.run(graph, [])
    with pytest.raises(StaticError, match=r"takes float32\[\?, 3\], and was fed an array of shape \(5, 2\)"):
        interpreter.run(graph, [gs.ones(5, 2)])


@pytest.mark.slow
def test_walking_ten_thousand_nodes_does_not_recurse() -> None:
    graph = Graph("long")
    value = graph.input("x", (), "float32")
    for _ in range(10_000):
        value = graph.add("neg", (value,))
    assert len(walk([value])) == 10_001


def test_rewriting_keeps_where_nodes_came_from() -> None:
    graph, _ = chain()

    def doubled(new: Graph, node: Node, inputs: tuple[Value, ...]) -> list[Value] | None:
        if node.op != "tanh":
            return None
        return [new.add("add", (new.add("sigmoid", inputs), new.add("exp", inputs)))]

    found = rewrite(graph, doubled)
    assert [node.op for node in found.nodes] == ["input", "constant", "matmul", "sigmoid", "exp", "add"]
    assert found["add"].origins == ("tanh",)
    assert graph["tanh"].origins == ("tanh",)


def test_a_recorded_run_stands_at_the_lines_of_the_nodes() -> None:
    def f(x: gs.Tensor) -> gs.Tensor:
        return x.exp().sin()

    from graphscope import jit

    traced = jit.trace(f, gs.ones(2))
    with gs.record() as log:
        traced(gs.ones(2))
    nodes = [node for node in log.graph.nodes if node.op in ("exp", "sin")]
    assert [node.op for node in nodes] == ["exp", "sin"]
    assert all(node.site.file == __file__ and node.site.line == f.__code__.co_firstlineno + 1 for node in nodes)
