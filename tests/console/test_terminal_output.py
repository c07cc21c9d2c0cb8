"""Text for terminals of all kinds."""

from __future__ import annotations

import io

import pytest

from graphscope.console.terminal_output import Output
from graphscope.debugger.result_lines import Line, lines_of
from graphscope.debugger.results import BreakpointInfo, Listing, NodeInfo, Place, Stop, TableResult
from graphscope.debugger.terminal_text import escape


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


PLACE = Place("/a/b/model.py", 31, "f", "h = a * b")
NODE = NodeInfo(7, "op", "mul", "mul", "h", (2, 3), "float32", "forward", "", PLACE)
STOP = Stop(NODE, "breakpoint", 7, breakpoint=BreakpointInfo(1, "mul"))


def test_a_stop() -> None:
    assert [line.text for line in lines_of(STOP)] == [
        "> #7 mul (2x3 float32) forward model.py:31 h",
        "-> h = a * b",
        "(breakpoint 1: mul)",
    ]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_table_fits_the_terminal(width: int) -> None:
    table = TableResult(("node", "name"), (("#1", "a" * 100), ("#22", "b")))
    lines = lines_of(table, width)

    assert all(len(line.text) <= width for line in lines)
    assert lines[1].text.startswith("#1 ")
    assert lines[1].text.endswith("…")


def test_a_listing_is_cut_at_the_edge() -> None:
    stream = Terminal()
    Output(stream, 20).write(lines_of(Listing("f.py", 1, ("x" * 50,), 1), 20))

    assert "x…" in stream.getvalue()


def test_control_characters_are_seen_and_not_obeyed() -> None:
    assert escape("a\x1b[31m\x07\u202eb\tc") == "a\\x1b[31m\\x07\\u202eb   c"
    assert escape("日本 ünï") == "日本 ünï"


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal, pipe = Terminal(), io.StringIO()
    Output(terminal, 80).write([Line("a", "error")])
    Output(pipe).write([Line("a", "error")])

    assert terminal.getvalue() == "\x1b[31ma\x1b[0m\n"
    assert pipe.getvalue() == "a\n"


def test_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    Output(terminal, 80).write([Line("a", "error")])

    assert terminal.getvalue() == "a\n"


def test_a_stream_that_can_not_say_it() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", write_through=True, newline="")
    Output(stream).write([Line("x · y")])

    assert raw.getvalue() == b"x \\xb7 y\n"


def test_words_go_on_in_the_next_line_where_none_may_be_cut() -> None:
    words = " ".join(f"word{number}" for number in range(20))
    found = [line.text for line in lines_of(TableResult(("about", "commands"), (("looking", words),), wrap=True), 40)]

    assert max(map(len, found)) <= 40
    assert " ".join(line[9:].strip() for line in found[1:]) == words


def test_a_name_that_never_ends_is_shortened() -> None:
    node = NodeInfo(0, "leaf", "ones", "leaf", "x" * 10_000, (3,), "float32", "forward", "", PLACE)

    assert len(lines_of(Stop(node))[0].text) < 150
