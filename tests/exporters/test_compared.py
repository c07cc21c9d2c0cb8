"""Two runs in one picture: what belongs together is one box, and who does not see colours can tell them apart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import graphscope as gs
from graphscope.compare import Difference, Parting
from graphscope.compare.difference import PAIR, PARTED, SAME
from graphscope.compare.sides import side
from graphscope.errors import ExportError
from graphscope.exporters.json import schema


def norm(*, by_hand: bool, steps: int = 1) -> None:
    gs.manual_seed(0)
    x = gs.randn(4, 8, requires_grad=True)
    optimizer = gs.optim.SGD([x], lr=0.1)
    for _ in range(steps):
        h = x * 2
        if by_hand:
            y = (h - h.mean(1, keepdim=True)) / h.std(1, keepdim=True)
        else:
            y = gs.nn.functional.layer_norm(h, (8,))
        loss = y.tanh().sum()
        loss.backward()
        optimizer.step()


@pytest.fixture(scope="module")
def parted() -> Difference:
    with gs.record() as a:
        norm(by_hand=False)
    with gs.record() as b:
        norm(by_hand=True)
    nodes_a, nodes_b = ({node.op: node for node in log.graph.select("forward")} for log in (a, b))
    ops = ["randn", "mul", ("layer_norm", "div"), "tanh", "sum"]
    states = [SAME, SAME, PARTED, PARTED, PARTED]
    names = [(op, op) if isinstance(op, str) else op for op in ops]
    pairs = np.array([(nodes_a[x].row, nodes_b[y].row, s) for (x, y), s in zip(names, states, strict=True)], PAIR)
    alone = [node.row for op, node in nodes_b.items() if op in ("mean", "sub", "std")]
    first = Parting("forward", 1, side(nodes_a["layer_norm"]), side(nodes_b["div"]), "op", "parts", True)
    return Difference(a, b, "parted", (first,), pairs, alone_b=np.array(alone))


@pytest.mark.slow
def test_what_belongs_together_is_one_box(parted: Difference) -> None:
    graph = json.loads(gs.export(parted, format="json"))
    jsonschema.validate(graph, schema())
    told = {node["label"]: node["compared"] for node in graph["nodes"]}
    assert told == {
        "x": "same", "mul": "same", "layer_norm | div": "parted", "tanh": "parted", "sum": "parted",
        "mean": "b", "sub": "b", "std": "b",
    }  # fmt: skip
    label = {node["id"]: node["label"] for node in graph["nodes"]}
    edges = {(label[each["source"]], label[each["target"]]): each["compared"] for each in graph["edges"]}
    assert edges == {
        ("x", "mul"): "same", ("mul", "layer_norm | div"): "a", ("layer_norm | div", "tanh"): "same",
        ("tanh", "sum"): "same", ("mul", "mean"): "b", ("mul", "sub"): "b", ("mean", "sub"): "b", ("mul", "std"): "b",
        ("sub", "layer_norm | div"): "b", ("std", "layer_norm | div"): "b",
    }  # fmt: skip
    assert [node["label"] for node in graph["nodes"] if node["current"]] == ["layer_norm | div"]


def test_a_picture_can_be_read_without_colours(parted: Difference, tmp_path: Path) -> None:
    gs.export(parted, tmp_path / "diff.svg")
    drawn = (tmp_path / "diff.svg").read_text(encoding="utf-8")
    for text in ("= ", "≠ ", "only b: ", "apart", "test_compared.py:"):
        assert text in drawn


def test_the_other_way_round_it_is_only_in_a(parted: Difference) -> None:
    pairs = parted.pairs.copy()
    pairs["a"], pairs["b"] = parted.pairs["b"], parted.pairs["a"]
    (first,) = parted.partings
    turned = replace(
        parted, a=parted.b, b=parted.a, pairs=pairs, partings=(replace(first, a=first.b, b=first.a),),
        alone_a=parted.alone_b, alone_b=parted.alone_a,
    )  # fmt: skip
    graph = json.loads(gs.export(turned, format="json"))
    assert sorted(node["label"] for node in graph["nodes"] if node["compared"] == "a") == ["mean", "std", "sub"]


def test_where_only_one_run_has_something_that_is_marked(parted: Difference) -> None:
    (first,) = parted.partings
    graph = json.loads(
        gs.export(replace(parted, partings=(replace(first, a=None),), pairs=parted.pairs[:2]), format="json")
    )
    assert [(node["label"], node["compared"]) for node in graph["nodes"] if node["current"]] == [("div", "b")]


def test_a_radius_and_a_pass_can_be_chosen(parted: Difference) -> None:
    near = json.loads(gs.export(parted, format="json", radius=1))
    assert {node["label"] for node in near["nodes"]} == {"mul", "layer_norm | div", "tanh", "sub", "std"}
    back = json.loads(gs.export(gs.diff(parted.a, parted.b), format="json", graph_pass="backward", radius=3))
    assert {node["pass"] for node in back["nodes"]} == {"backward"}


def test_of_a_long_run_the_step_of_the_parting_is_drawn(parted: Difference) -> None:
    with gs.record() as log:
        norm(by_hand=True, steps=40)
    found = gs.diff(log, parted.a)
    assert found
    drawn = json.loads(gs.export(found, format="json"))
    assert len(drawn["nodes"]) < 100
    assert max(row for node in drawn["nodes"] for row in node["rows"]) < 40


def test_runs_that_are_the_same(parted: Difference) -> None:
    with gs.record() as log:
        norm(by_hand=False)
    drawn = json.loads(gs.export(gs.diff(parted.a, log), format="json"))
    assert {node["compared"] for node in drawn["nodes"]} == {"same"}


def test_what_two_runs_have_not(parted: Difference) -> None:
    with pytest.raises(ExportError, match="only of a recording"):
        gs.export(parted, format="dot", select="op:mul")
