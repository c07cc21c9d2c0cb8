"""The JSON exporter: valid against the published schema, and true."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

import graphscope as gs
from graphscope.exporters.export import export
from graphscope.exporters.json import schema

from .conftest import unrolled


@pytest.mark.parametrize("options", [{}, {"fold": "repeats"}, {"graph_pass": "backward"}, {"at": 3}])
def test_it_is_valid(recorded, options) -> None:
    log = recorded(lambda: unrolled(4))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(export(log, format="json", **options)), schema())


def test_the_schema_knows_every_field(product) -> None:
    graph = json.loads(export(product, format="json"))
    definitions = schema()["$defs"]
    assert set(graph["nodes"][0]) == set(definitions["node"]["properties"])
    assert set(graph["edges"][0]) == set(definitions["edge"]["properties"])


def test_it_says_what_the_log_says(recorded) -> None:
    def program() -> None:
        a = gs.tensor([1.0, 2.0, 0.0], requires_grad=True)
        b = a * 3.0
        b.sum().backward()

    log = recorded(program)
    graph = json.loads(export(log, format="json"))
    nodes = {node["rows"][0]: node for node in graph["nodes"]}
    assert set(nodes) == {node.row for node in log.graph.nodes}
    for node in log.graph.nodes:
        entry = nodes[node.row]
        assert (entry["kind"], entry["op"], entry["pass"]) == (node.kind, node.op, node.graph_pass)
        assert entry["shape"] == list(node.shape)
        assert entry["site"]["line"] == node.site.line
        assert entry["stats"]["mean"] == pytest.approx(float(np.mean(node.value)))
    leaf = nodes[0]
    assert (leaf["stats"]["zero"], leaf["stats"]["max"]) == (1, 2.0)
    assert leaf["grad_stats"]["mean"] == 3.0
    drawn = {(edge["source"], edge["target"]) for edge in graph["edges"] if edge["kind"] != "link"}
    said = {(f"n{edge.source.row}", f"n{node.row}") for node in log.graph.nodes for edge in node.inputs}
    assert drawn == said


def test_values_that_are_not_numbers_are_json(recorded) -> None:
    text = export(recorded(lambda: gs.tensor([float("nan"), float("inf")]) * 2), format="json")
    (node, *_) = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))["nodes"]
    assert node["nonfinite"]
    assert node["stats"] == {
        "min": None, "max": None, "mean": None, "std": None, "nan": 1, "inf": 1, "zero": 0, "count": 2
    }  # fmt: skip


def test_names_are_kept_as_they_are(product) -> None:
    from dataclasses import replace

    name = 'a "b" \\N <c> \u202e' + "x" * 10_000
    view = replace(product, nodes=(replace(product.nodes[0], name=name), *product.nodes[1:]))
    assert json.loads(export(view, format="json"))["nodes"][0]["name"] == name


@pytest.mark.slow
def test_a_shared_leaf_is_there_once(recorded) -> None:
    log = recorded(lambda: unrolled(60))
    graph = json.loads(export(log, format="json"))
    (leaf,) = (node for node in graph["nodes"] if node["kind"] == "leaf" and node["name"] == "W_h")

    users = [edge for edge in graph["edges"] if edge["source"] == leaf["id"] and edge["kind"] == "data"]
    assert len(users) == 60
    assert len({node["id"] for node in graph["nodes"]}) == len(log.graph.nodes)
    assert leaf["grad_stats"]["count"] == 20 * 20
