"""What stood at each place of an op: in operands, formulas, tables of the console, and pictures."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.graph.operands import saved


@pytest.fixture
def log() -> Any:
    with gs.record() as log:
        x = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        y = 1 - x
        z = y[..., [1, 0]] * 3
        w = gs.cat([z, y], 1).flip(0, 1).sum()
        w.backward()
    return log


def node(log: Any, spec: str) -> Any:
    return log.graph.select(spec)[-1]


def test_operands_are_edges_and_constants_in_their_places(log: Any) -> None:
    minus = node(log, "op:sub forward")
    assert [(each.name, each.edge and each.edge.source.row, each.text) for each in minus.operands] == [
        ("x", None, "1"),
        ("y", 0, ""),
    ]
    assert [edge.argument for edge in minus.inputs] == [1]
    assert node(log, "op:mul forward").constants == [("y", "3")]
    assert node(log, "op:flip forward").constants == [("dims", "(0, 1)")]


def test_a_rule_is_told_for_inputs_alone(log: Any) -> None:
    assert node(log, "op:sub backward").formula == "grad of y = -g"
    assert node(log, "op:mul backward").formula == "grad of x = g * y"


def test_the_console_shows_constants(log: Any) -> None:
    debugger = Debugger(log)
    interpreter.run(debugger, "goto y")
    shown = interpreter.run(debugger, "inputs")
    assert [row[:3] for row in shown.rows] == [("#0", "x", "x"), ("constant", "1", "x")]
    assert [row[0] for row in interpreter.run(debugger, "args").rows] == ["y", "x"]
    assert "grad of x" not in interpreter.run(debugger, "source").text


def test_pictures_show_constants_in_their_places(log: Any, tmp_path: Any) -> None:
    gs.export(log, tmp_path / "graph.json")
    entries = json.loads((tmp_path / "graph.json").read_text())["nodes"]
    told = {entry["op"]: entry["arguments"] for entry in entries if entry["kind"] == "op"}
    assert told["sub"] == "(1, ·)"
    assert told["mul"] == "(·, 3)"
    assert told["flip"] == "(·, dims=(0, 1))"
    gs.export(log, tmp_path / "graph.dot")
    assert "(1, ·)" in (tmp_path / "graph.dot").read_text()


def test_what_a_call_was_given_survives_a_look_from_numpy_alone(tmp_path: Any) -> None:
    with gs.record(tmp_path / "run.gscope"):
        x = gs.tensor([1.0])
        for rate in (0.5, -0.25, 1e300):
            x = x * rate
    rows = np.load(tmp_path / "run.gscope/segments/000000000000/events.npy")
    held = rows[rows["kind"] == 2]["inputs"][1:, 1].view(np.float64)
    assert held.tolist() == [-0.25, 1e300]  # the first lies in the table


def test_what_is_saved_is_named_as_the_rules_name_it() -> None:
    with gs.record() as log:
        x = gs.tensor(2.0, requires_grad=True)
        (3.0 / x).backward()
    operands, needs_output = saved(log.graph.select("op:div forward")[0])
    assert [(each.name, each.text or each.edge.source.name) for each in operands] == [("x", "3.0"), ("y", "x")]
    assert not needs_output
