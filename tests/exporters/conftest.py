"""Views to draw: written by hand where the result must be known, recorded where the whole way is tried."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log
from graphscope.exporters.graphviz_program import drawn
from graphscope.graph.view import GraphView, ViewEdge, ViewNode


@dataclass(frozen=True)
class Parsed:
    """A graph as Graphviz itself reads it from DOT source."""

    attributes: dict[str, Any]
    nodes: dict[str, dict[str, Any]]
    clusters: dict[str, dict[str, Any]]
    edges: list[dict[str, Any]]

    def pairs(self, **wanted: str) -> set[tuple[str, str]]:
        """Tail and head of the edges that have these attributes."""
        return {
            (edge["from"], edge["to"])
            for edge in self.edges
            if all(edge.get(name) == value for name, value in wanted.items())
        }


def parse(source: str) -> Parsed:
    """Let Graphviz read DOT source."""
    graph = json.loads(drawn(source, "dot_json"))
    objects = graph.get("objects", [])
    nodes = {each["name"]: each for each in objects if "nodes" not in each and "subgraphs" not in each}
    names = {each["_gvid"]: each["name"] for each in objects}
    clusters = {
        each["name"]: {**each, "nodes": {names[number] for number in each.get("nodes", [])}}
        for each in objects
        if each["name"].startswith("cluster_")
    }
    edges = [{**each, "from": names[each["tail"]], "to": names[each["head"]]} for each in graph.get("edges", [])]
    return Parsed(graph, {name: node for name, node in nodes.items() if name not in clusters}, clusters, edges)


@pytest.fixture
def product() -> GraphView:
    """c = a * b and its backward pass, as the log of the tutorial has it."""
    scalar: dict[str, Any] = {"shape": (), "dtype": "float32"}
    nodes = (
        ViewNode("n0", (0,), "leaf", "a", op="leaf", name="a", requires_grad=True, **scalar),
        ViewNode("n1", (1,), "leaf", "b", op="leaf", name="b", parameter=True, **scalar),
        ViewNode("n2", (2,), "op", "mul", op="mul", name="c", **scalar),
        ViewNode("n4", (4,), "grad", "MulBackward", op="mul", graph_pass="backward", forward="n2", **scalar),
        ViewNode("n5", (5,), "accumulate", "accumulate", graph_pass="backward", forward="n0", **scalar),
        ViewNode("n6", (6,), "accumulate", "accumulate", graph_pass="backward", forward="n1", **scalar),
    )
    edges = (
        ViewEdge("n0", "n2", "data", 0, 0, ()),
        ViewEdge("n1", "n2", "data", 0, 1, ()),
        ViewEdge("n2", "n4", "link"),
        ViewEdge("n4", "n5", "gradient", 0, 0, ()),
        ViewEdge("n4", "n6", "gradient", 1, 0, ()),
        ViewEdge("n0", "n5", "link"),
        ViewEdge("n1", "n6", "link"),
    )
    return GraphView(nodes, edges)


def unrolled(steps: int) -> Any:
    """The recurrent cell of the issue, run `steps` times, and its backward pass; returns the loss."""
    gs.manual_seed(0)
    W_h = gs.randn(20, 20, requires_grad=True)
    W_x = gs.randn(20, 10, requires_grad=True)
    h = gs.randn(1, 20)
    for _ in range(steps):
        x = gs.randn(1, 10)
        i2h = gs.mm(W_x, x.t())
        h2h = gs.mm(W_h, h.t())
        next_h = (i2h + h2h).tanh()
        h = next_h.t()
    loss = next_h.sum()
    loss.backward()
    return loss


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[[Callable[[], Any]], Log]:
    """Records what a function does and gives the log."""

    def record(program: Callable[[], Any]) -> Log:
        with gs.record(tmp_path / "run.gscope") as log:
            program()
        return log

    return record
