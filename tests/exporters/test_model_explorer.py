"""Graphs and data of nodes for Model Explorer: what they say is what the log says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log
from graphscope.exporters.export import export
from graphscope.graph.view import Cluster, GraphView

from .test_trace import training


def graph_of(thing: Any) -> dict[str, Any]:
    """The one graph of a file."""
    (graph,) = json.loads(export(thing, format="model-explorer"))["graphs"]
    return graph


@pytest.fixture
def log(recorded: Callable[..., Log]) -> Log:
    """The log of a training."""
    return recorded(training)


def test_nodes_lie_in_layers_of_steps_passes_and_modules(log: Log) -> None:
    graph = graph_of(log)
    found = {each["id"]: each for each in graph["nodes"]}
    assert set(found) == {f"n{node.row}" for node in log.graph.nodes}
    products = [node for node in log.graph.nodes if node.op == "linear" and node.scope]
    for place, node in enumerate(products):
        layer = f"step {place // 4}/{node.graph_pass}/{node.scope}: Linear"
        assert found[f"n{node.row}"]["namespace"] == layer
        assert graph["groupNodeAttributes"][layer] == {"path": node.scope, "module": f"{node.scope}: Linear"}


def test_edges_and_links_are_those_of_the_log(log: Log) -> None:
    graph = graph_of(log)
    told = {
        (edge["sourceNodeId"], edge["sourceNodeOutputId"], node["id"])
        for node in graph["nodes"]
        for edge in node["incomingEdges"]
    }
    assert told == {
        (f"n{edge.source.row}", str(edge.slot), f"n{node.row}") for node in log.graph.nodes for edge in node.inputs
    }
    (links,) = graph["tasksData"]["edgeOverlaysDataListLeftPane"]
    (overlay,) = links["overlays"]
    assert {(each["sourceNodeId"], each["targetNodeId"]) for each in overlay["edges"]} == {
        (f"n{node.forward.row}", f"n{node.row}") for node in log.graph.nodes if node.graph_pass == "backward"
    }


def test_data_are_those_of_the_values(log: Log) -> None:
    found = json.loads(export(log, format="model-explorer-data"))
    (graph,) = found
    assert graph == graph_of(log)["id"]
    values = {f"n{node.row}": node.value for node in log.graph.nodes if node.value is not None}
    results = found[graph]["results"]
    assert set(results) == set(values)
    for id, value in values.items():
        assert results[id]["value"] == pytest.approx(math.sqrt(np.mean(np.square(value, dtype=float))), rel=1e-5)
    largest = json.loads(export(log, format="model-explorer-data", measure="largest"))[graph]["results"]
    assert all(largest[id]["value"] == pytest.approx(np.abs(value).max()) for id, value in values.items())
    times = json.loads(export(log, format="model-explorer-data", measure="time"))[graph]["results"]
    ran = [node for node in log.graph.nodes if node.kind == "op"]
    assert all(times[f"n{node.row}"]["value"] * 1000 == pytest.approx(node.duration) for node in ran)


def test_what_is_not_finite_is_marked_and_left_out_of_sizes(recorded: Callable[..., Log]) -> None:
    log = recorded(lambda: gs.log(gs.tensor([-1.0])) * 2)
    assert [("style" in node) for node in graph_of(log)["nodes"]] == [node.label != "leaf" for node in log.graph.nodes]
    numbers = json.loads(export(log, format="model-explorer-data", measure="nonfinite"))["run"]["results"]
    assert [each["value"] for each in numbers.values()] == [0, 1, 1]
    assert len(json.loads(export(log, format="model-explorer-data"))["run"]["results"]) == 1


def test_a_log_without_values_has_its_times(product: GraphView, recorded: Callable[..., Log]) -> None:
    with pytest.raises(ExportError, match="no node tells its size") as raised:
        export(product, format="model-explorer-data")
    assert "--measure time" in str(raised.value.hint)


def test_a_name_is_no_path(product: GraphView) -> None:
    cluster = Cluster("s1", "scope", "a/b: Tricky", None, 0, "a/b")
    view = replace(product, nodes=(replace(product.nodes[0], cluster="s1", label="x\u202e"),), clusters=(cluster,))
    (node,) = graph_of(replace(view, edges=()))["nodes"]
    assert node["namespace"].split("/") == ["forward", "a\N{DIVISION SLASH}b: Tricky"]
    assert node["label"].isprintable()
