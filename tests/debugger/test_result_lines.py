"""Results as lines: one place writes them, and every face knows how to dress what it writes."""

from __future__ import annotations

from typing import get_args

import pytest

from graphscope.console import terminal_output
from graphscope.debugger.json_data import KINDS
from graphscope.debugger.result_lines import LINES, Meaning, lines_of, reason, text_of
from graphscope.debugger.results import (
    BreakpointInfo,
    Change,
    Frame,
    NodeInfo,
    Place,
    Raised,
    Result,
    Stop,
    TableResult,
    ValueResult,
    Where,
)
from graphscope.debugger.terminal_text import width_of
from graphscope.tui.prompt import answers

PLACE = Place("/a/b/model.py", 31, "f", "h = a * b")
NODE = NodeInfo(7, "op", "mul", "mul", "h", (2, 3), "float32", "forward", "", PLACE)


def test_every_kind_of_result_is_written_and_travels() -> None:
    assert set(LINES) == set(get_args(Result))
    assert set(get_args(Result)) <= set(KINDS.values())


@pytest.mark.parametrize("styles", [terminal_output.STYLES, answers.STYLES], ids=["console", "screen"])
def test_every_face_dresses_every_meaning(styles: dict[str, str]) -> None:
    assert set(styles) == set(get_args(Meaning))


def test_a_stop_tells_its_breakpoint_and_what_has_changed_beside() -> None:
    change = Change(2, "W", "1", "2")
    stop = Stop(NODE, "breakpoint", 7, breakpoint=BreakpointInfo(1, "mul", condition="k > 1"), changes=(change,))

    assert reason(stop) == "breakpoint 1: mul, k > 1"
    assert text_of(stop).endswith("(breakpoint 1: mul, k > 1)\nwatch 2: W: 1 -> 2")
    assert reason(Stop(NODE, "watch", 7, changes=(change,))) == "watch 2: W: 1 -> 2"
    assert text_of(Stop(NODE, "breakpoint", 7, breakpoint=BreakpointInfo(1, "mul", commands=("silent", "n")))) == ""


def test_an_exception_is_told_at_the_line_that_raised_it() -> None:
    raised = Raised("ValueError", "no", Place("/a/b/model.py", 40, "f", "raise ValueError('no')"))

    assert text_of(Stop(NODE, "exception", 7, raised=raised)).splitlines() == [
        "> raised at model.py:40",
        "-> raise ValueError('no')",
        "(ValueError: no)",
        "(the last node: #7 mul (2x3 float32) forward model.py:31 h)",
    ]


def test_what_a_program_calls_things_is_never_obeyed() -> None:
    evil = "\x1b[2J\x07"
    results: list[Result] = [
        ValueResult("x", evil),
        TableResult((evil,), ((evil,),), title=evil, note=evil),
        Where((Frame(Place(evil, 1, evil, evil)),), 0),
        Stop(NodeInfo(1, "op", evil, evil, evil, (), evil, "forward", evil, PLACE), notes=(evil,)),
    ]
    for result in results:
        assert all(line.text.isprintable() for line in lines_of(result))


@pytest.mark.parametrize("width", [20, 40])
def test_wide_characters_take_their_cells(width: int) -> None:
    table = TableResult(("node", "name"), (("#1", "日本語" * 30), ("#22", "b")))

    assert all(width_of(line.text) <= width for line in lines_of(table, width))
