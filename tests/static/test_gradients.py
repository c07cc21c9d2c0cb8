"""Gradients as nodes, and of nodes that are run, are those of the engine, for every op and every sample of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core.op import OPS, Op
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.differentiation import gradients
from graphscope.static.graphs.graph import Graph
from graphscope.static.graphs.node_kinds import RANDOM
from graphscope.static.tracing.tape import taped
from tests.engine.sampling import arguments, flat, name_of, results, run, tensors

CASES = [
    pytest.param(op, sample, marks=pytest.mark.slow if number else ())
    for op in OPS.values()
    for number, sample in enumerate(op.samples)
    if (any(op.vjps) or op.composite) and op.name not in RANDOM
]
"""Every differentiable op, and those that are made of them."""


def of_grad(given: list[Any]) -> list[Any]:
    return [x for x in flat(given) if isinstance(x, gs.Tensor) and x.requires_grad]


@pytest.mark.parametrize(("op", "sample"), CASES, ids=name_of)
def test_gradient_nodes_agree_with_the_engine(op: Op, sample: Any) -> None:
    made, attrs = arguments(op, sample)
    given = tensors(made)
    xs = of_grad(given)
    graph = Graph(op.name)
    with taped(graph) as tape:
        for x in xs:
            tape.take(x, graph.input("x", x.array.shape, x.array.dtype))
        outs = [out for out in results(run(op, given, attrs)) if isinstance(out, gs.Tensor) and out.requires_grad]
        ys = [tape.value_of(out) for out in outs]
    if not ys:
        pytest.skip("nothing here requires grad")
    numbers = np.random.default_rng(0)
    gs_ = [numbers.standard_normal(np.shape(out.array)) * (1 + 0.5j if out.dtype.kind == "c" else 1) for out in outs]
    cotangents = [graph.input("g", value.shape, value.dtype) for value in gs_]
    try:
        expected = gs.grad(outs, xs, [gs.tensor(g) for g in gs_], allow_unused=True)
    except RuntimeError as error:
        pytest.skip(str(error))  # the engine has no derivative of it
    again = Graph(op.name)
    again.inputs, again.nodes, again.outputs = graph.inputs[: len(xs)], list(graph.nodes), ys
    of_run = gs.grad(interpreter.run(again, xs), xs, [gs.tensor(g) for g in gs_], allow_unused=True)
    for one, other in zip(of_run, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            np.testing.assert_allclose(one.array, other.array, rtol=1e-7, atol=1e-9)
    graph.outputs = [y for y in gradients(graph, ys, graph.inputs[: len(xs)], cotangents) if y is not None]
    graph.validate()
    with gs.no_grad():
        found = interpreter.run(graph, [x.detach() for x in xs] + [gs.tensor(g) for g in gs_])
    wanted = [value for value in expected if value is not None]
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.array.dtype == other.array.dtype
        np.testing.assert_allclose(one.array, other.array, rtol=1e-7, atol=1e-9)


def test_most_rules_become_nodes() -> None:
    """What falls back to running a rule on arrays is exotic; the ops of everyday do not."""
    everyday = [
        "add",
        "mul",
        "sub",
        "div",
        "matmul",
        "tanh",
        "exp",
        "log",
        "relu",
        "sigmoid",
        "softmax",
        "log_softmax",
        "sum",
        "mean",
        "linear",
        "where",
        "pow",
        "sqrt",
    ]
    for name in everyday:
        op = OPS[name]
        made, attrs = arguments(op, op.samples[0])
        given = tensors(made)
        graph = Graph(name)
        with taped(graph) as tape:
            for x in of_grad(given):
                tape.take(x, graph.input("x", x.array.shape, x.array.dtype))
            y = tape.value_of(results(op.call(*given, **attrs))[0])
        gradients(graph, [y], graph.inputs)
        assert "vjp" not in {node.op for node in graph.nodes}, name


def test_gradients_by_a_value_in_the_middle_and_of_several() -> None:
    graph = Graph("middle")
    x = graph.input("x", (3,), "float64")
    y = graph.add("mul", (x, x))
    z = graph.add("exp", (y,))
    graph.outputs = [v for v in gradients(graph, [z, y], [y, x]) if v is not None]
    by_y, by_x = interpreter.run(graph, [gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64)])
    at = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(by_y.array, np.exp(at**2) + 1)
    np.testing.assert_allclose(by_x.array, (np.exp(at**2) + 1) * 2 * at)
