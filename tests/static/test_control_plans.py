"""Graphs with loops and branches, differentiated: every way to run one gives what eager code gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.differentiation import gradients
from graphscope.static.graphs.graph import Graph
from graphscope.static.graphs.rewriting import copied
from graphscope.static.machine.library import available
from graphscope.static.tracing.compiled import plan_of


@gs.jit.script
def loop(x, w):  # type: ignore[no-untyped-def]
    n = 0
    while (x * x).sum() < 3.0:
        if x[0] > 0.5:
            x = x * 1.5 + w.tanh()
        else:
            x = x + 0.3
        n = n + 1
    return (x * w).sum()


WAYS: dict[str, Callable[[Graph], Callable[[list[Any]], Any]]] = {
    "interpreted": lambda graph: lambda arrays: [t.array for t in interpreter.run(graph, list(map(gs.tensor, arrays)))],
    "numpy": lambda graph: plan_of(graph, "numpy"),
    "machine": lambda graph: plan_of(graph, "machine"),
}


@pytest.mark.parametrize("way", WAYS)
def test_gradients_of_loops_with_branches_are_eager_ones_each_time(way: str) -> None:
    if way == "machine" and not available():
        pytest.skip("needs llvmlite")
    start, w = np.float32([0.1, 0.2, 0.3]), np.float32([0.5, -0.4, 0.9])
    graph, _ = copied(loop.graph_for(gs.tensor(start), gs.tensor(w)), "both")
    graph.outputs += [value for value in gradients(graph, graph.outputs, graph.inputs) if value is not None]
    graph.validate()
    run = WAYS[way](graph)
    for scale in (1.0, 0.2, 3.0, 1.0):  # other numbers of turns, none among them
        x, v = (gs.tensor(each, requires_grad=True) for each in (start * np.float32(scale), w))
        value = loop(x, v)
        value.backward()
        found = run([start * np.float32(scale), w])
        for mine, theirs in zip(found, (value.detach(), x.grad, v.grad), strict=True):
            np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-5, atol=1e-7)
