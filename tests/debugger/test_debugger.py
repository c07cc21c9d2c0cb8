"""Stepping through a recorded log: positions are checked against the log's own rows."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
import graphscope as torch
from graphscope.debugger import interpreter, nodes
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.json_data import to_json
from graphscope.debugger.result_lines import reason
from graphscope.debugger.results import Message, Statistics, Stop
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind


def rows(dbg: Debugger) -> list[int]:
    """All nodes, read row by row."""
    log = dbg.log
    events = [log.event(row) for row in range(log.first, log.end)]
    kinds = (Kind.LEAF, Kind.OP, Kind.GRAD, Kind.ACCUMULATE)
    return [e.row for e in events if e.kind in kinds and not (e.kind == Kind.LEAF and e.tensor != e.row)]


def visited(dbg: Debugger, command: str) -> list[int]:
    """The rows where a command stops when it is given again and again."""
    found: list[int] = []
    while True:
        stop = interpreter.run(dbg, command)
        assert isinstance(stop, Stop)
        assert stop.node is not None
        if "of the recording" in reason(stop):
            return found
        found.append(stop.node.row)


def test_s_visits_every_node_and_rs_every_one_back(dbg: Debugger) -> None:
    assert visited(dbg, "s") == rows(dbg)
    assert visited(dbg, "rs") == rows(dbg)[-2::-1]


def test_n_steps_over_modules_and_sees_every_backward_node(dbg: Debugger) -> None:
    events = [dbg.log.event(row) for row in rows(dbg)]
    expected = [e.row for e in events if e.graph_pass == 1 or e.scope == 0]
    first = expected[0]

    assert visited(dbg, "n") == [row for row in expected if row >= first]


def test_c_finds_what_the_selector_selects(dbg: Debugger) -> None:
    interpreter.run(dbg, "b op:linear")

    found = visited(dbg, "c")

    assert found == [node.row for node in dbg.graph.at(None).select("op:linear")]
    assert visited(dbg, "rc") == found[:-1][::-1] or visited(dbg, "rc") == []


def test_bulk_and_single_steps_stop_at_the_same_nodes(dbg: Debugger) -> None:
    interpreter.run(dbg, "b op:mul, shape == (5, 2)")
    quick = visited(dbg, "c")
    interpreter.run(dbg, "goto #0")
    interpreter.run(dbg, "watch 1")  # a watch has every node looked at one by one

    assert visited(dbg, "c") == quick
    assert quick


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["n", "s", "r", "unt", "c", "rn", "rs", "rc", "n 3", "rs 2"]), max_size=12))
def test_any_walk_stays_on_nodes(recorded, commands: list[str]) -> None:
    dbg = Debugger(load(recorded))
    interpreter.run(dbg, "b op:tanh")
    all_rows = rows(dbg)
    position = -1
    for command in commands:
        stop = interpreter.run(dbg, command)
        assert isinstance(stop, Stop)
        assert stop.node is not None
        assert stop.node.row in all_rows
        if command.startswith("r") and command != "r" and position >= 0:
            assert stop.node.row <= position
        elif not command.startswith("r") or command == "r":
            assert stop.node.row >= position
        position = stop.node.row


def test_positions_leave_the_log_as_it_is(dbg: Debugger) -> None:
    before = dbg.log.end
    for line in ("c", "p fc1", "p x * 2", "lt", "contributions fc1.weight", "last loss", "watch loss", "rc"):
        interpreter.answer(dbg, line)

    assert dbg.log.refresh() is False
    assert dbg.log.end == before


def test_a_name_means_the_newest_version_at_now(dbg: Debugger) -> None:
    losses = [node.row for node in dbg.graph.at(None).select("loss forward")]
    interpreter.run(dbg, f"goto {losses[1] - 1}")
    early = dbg.lookup()("loss")
    interpreter.run(dbg, f"goto {losses[1]}")
    late = dbg.lookup()("loss")

    assert (early.node.row, late.node.row) == tuple(losses)


def test_gradients_accumulate_over_steps(dbg: Debugger) -> None:
    interpreter.run(dbg, "c")
    twice = interpreter.run(dbg, "p nodes['fc2.bias'].grad")
    arrived = [node.value for node in dbg.graph.select("name:fc2.bias accumulate")]

    assert len(arrived) == 2
    assert twice.text == repr(arrived[0] + arrived[1])


@pytest.mark.parametrize(
    "line",
    [
        "n",
        "w",
        "l",
        "p value",
        "a",
        "inputs",
        "info",
        "help",
        "lt",
        "when",
        "nobody",
        "watch loss",
        "source",
        "interact",
        "q",
    ],
)
def test_results_travel_as_json(dbg: Debugger, line: str) -> None:
    interpreter.run(dbg, "s 12")

    body = to_json(interpreter.answer(dbg, line))

    assert json.loads(json.dumps(body, allow_nan=False)) == body
    assert body["type_name"]


def test_numbers_that_json_lacks_are_text() -> None:
    assert to_json(Statistics(0.0, float("inf"), float("nan"), 0.0, 1, 1, 0))["max"] == "inf"


def test_results_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Message("a").text = "b"  # type: ignore[misc]


def test_completion(dbg: Debugger) -> None:
    interpreter.run(dbg, "c")

    assert "tbreak" in interpreter.complete(dbg, "tb", "tb")
    assert "loss" in interpreter.complete(dbg, "p lo", "lo")
    assert "op:" in interpreter.complete(dbg, "b o", "o")
    assert interpreter.complete(dbg, "help tbr", "tbr") == ["tbreak"]


def test_blocks_of_rows_are_joined(dbg: Debugger, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(nodes.forward(dbg.log, 0, dbg.log.end))
    monkeypatch.setattr(nodes, "_BLOCK", 7)

    assert list(nodes.forward(dbg.log, 0, dbg.log.end)) == whole
    assert list(nodes.backward(dbg.log, 0, dbg.log.end)) == whole[::-1]


def test_a_value_of_which_only_statistics_were_kept_is_told_by_them(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).normal(size=(50, 40)).astype(np.float32)
    with gs.record(tmp_path / "it.gscope", values="summary"):
        x = torch.tensor(numbers, requires_grad=True)
        (x * 2).sum().backward()
    dbg = Debugger(load(tmp_path / "it.gscope"))
    interpreter.run(dbg, "goto 1")
    for command in ("p value", "pt"):
        found = interpreter.run(dbg, command)
        assert found.text.startswith("None: only its statistics were kept")
        assert (found.shape, found.dtype) == ((50, 40), "float32")
        np.testing.assert_allclose(
            (found.statistics.min, found.statistics.max, found.statistics.mean, found.statistics.std),
            (2 * numbers.min(), 2 * numbers.max(), 2 * numbers.mean(), 2 * numbers.std()),
            rtol=1e-5,
        )
    told = dict(interpreter.run(dbg, "info").rows)["value"]
    assert told == f"{2 * numbers.min():.4g} .. {2 * numbers.max():.4g}, mean {2 * numbers.mean():.4g} (statistics)"


def test_whoever_goes_to_a_mark_stands_at_the_node_that_it_is_of_or_at_the_last_before_it(tmp_path: Path) -> None:
    with gs.record(tmp_path / "it.gscope"):
        x = torch.tensor([[1.0, 2.0]], requires_grad=True)
        loss = (x * 2).sum()
        torch.ones(1)
        loss.backward()
        with pytest.raises(RuntimeError):
            x @ x
        gs.step()
    dbg = Debugger(load(tmp_path / "it.gscope"))
    (begin,), (end,) = dbg.log.marks(Kind.BACKWARD_BEGIN).tolist(), dbg.log.marks(Kind.STEP).tolist()
    (raised,) = dbg.log.marks(Kind.EXCEPTION).tolist()

    stop = interpreter.run(dbg, f"goto {begin}")
    assert (stop.node.op, stop.remark) == ("sum", f"#{begin} (backward begin) is of this node")
    stop = interpreter.run(dbg, f"goto {raised}")
    assert (stop.node.op, stop.remark, stop.raised.type) == ("matmul", "", "RuntimeError")
    stop = interpreter.run(dbg, f"goto {end}")
    assert (stop.node.op, stop.remark) == ("matmul", f"the last node before #{end} (step)")
