"""What marks of a compiler say, whatever lies in them."""

from __future__ import annotations

from typing import Any

import graphscope as gs
from graphscope.eventlog import record
from graphscope.eventlog.schema import Kind
from graphscope.graph.compilation import compilation


def log_of(*marks: dict[str, Any]) -> gs.Log:
    with gs.record() as log:
        assert record.writer is not None
        for told in marks:
            record.writer.mark(Kind.COMPILE, **told)
    log.refresh()
    return log


def test_marks_are_told_in_their_order() -> None:
    guard = {"compilation": "0/0", "guard": "x == 1"}
    log = log_of(
        {"compiler": "break", "compilation": "0/0", "title": "Data-dependent branching", "hints": ["none"]},
        {"compiler": "compiled", "compilation": "0/0", "function": "f", "calls": 3, "guards": 7},
        {"compiler": "compiled", "compilation": "0/1", "function": "f", "failed": [guard]},
        {"compiler": "skipped", "compilation": "0/2", "function": "f", "title": "Limit"},
    )
    events = compilation(log).events
    assert [each.words for each in events] == [
        "graph break: Data-dependent branching", "compiled f", "compiled f again: x == 1", "f is not compiled: Limit",
    ]  # fmt: skip
    assert {each.function for each in events} == {"f"}
    assert (events[0].hints, events[1].calls, events[1].guards) == (("none",), 3, 7)


def test_damaged_marks_are_told_as_far_as_they_go() -> None:
    log = log_of({}, {"compiler": 3, "failed": 4, "hints": {}, "calls": "x"}, {"compilation": None, "failed": [1, {}]})
    events = compilation(log).events
    assert len(events) == 3
    assert [each.words for each in events if each.words]
    assert events[2].failed[0].guard == ""


def test_of_a_program_that_compiles_nothing_nothing_is_told() -> None:
    found = compilation(log_of())
    assert (found.events, found.regions) == ((), ())
