"""Turning to another rank of a run: at the same node, and what was set up stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message, Stop
from graphscope.eventlog.reader import load
from tests.graph.ranked import write_ranks


@pytest.fixture
def debugger(tmp_path: Path) -> Debugger:
    write_ranks(tmp_path, 3)
    return Debugger(load(tmp_path / "run-rank0.gscope"))


def ask(debugger: Debugger, *lines: str) -> object:
    return [interpreter.answer(debugger, line) for line in lines][-1]


def test_another_rank_is_looked_at_where_it_was(debugger: Debugger) -> None:
    ask(debugger, "goto 5", "checkpoint here", "break op:tanh", "watch value", "watch x")
    stop = ask(debugger, "rank 1")
    assert isinstance(stop, Stop)
    assert (debugger.log.path.name, debugger.now, stop.remark) == ("run-rank1.gscope", 7, "")
    assert debugger.checkpoints == {}
    assert [watch.expression.text for watch in debugger.watches.values()] == ["x"]
    assert ask(debugger, "continue").node.row == 10  # the breakpoint holds here too
    assert ask(debugger, "rank 0").node.row == 8
    assert list(debugger.checkpoints) == ["here"]
    assert [watch.expression.text for watch in debugger.watches.values()] == ["value", "x"]


def test_all_ranks_are_listed_with_where_they_are(debugger: Debugger) -> None:
    table = ask(debugger, "goto 4", "rank")
    assert [(row[0], row[1], row[2], row[3]) for row in table.rows] == [
        ("0", "here", "#4 tanh", "add #3"),
        ("1", "", "#5 tanh", "add #4"),
        ("2", "", "#4 tanh", "add #3"),
    ]
    table = ask(debugger, "rank 2", "goto 6", "rank")
    assert [row[2] for row in table.rows] == ["no such node", "no such node", "#6 tanh"]
    stop = ask(debugger, "rank rank 1")
    assert (debugger.now, stop.remark) == (4, "it has no such node behind add (#4): this is the nearest before")


def test_what_is_no_rank_is_refused(debugger: Debugger, tmp_path: Path) -> None:
    answer = ask(debugger, "rank 7")
    assert isinstance(answer, Message)
    assert (answer.error, answer.text, answer.hint) == (True, "This run has no rank 7", "it has 0, 1, 2")
    (tmp_path / "run-rank0.gscope").rename(tmp_path / "alone.gscope")
    alone = Debugger(load(tmp_path / "alone.gscope"))
    assert ask(alone, "rank").note == "This run has one log alone"
