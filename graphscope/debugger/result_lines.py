"""Results of commands as lines of text with a meaning: console, screen and editor dress them, each in its way."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Literal

from graphscope.debugger.results import (
    BreakpointInfo,
    Change,
    Display,
    Ended,
    Frame,
    Interact,
    Listing,
    Message,
    NodeInfo,
    Place,
    Result,
    Resumed,
    Stop,
    TableResult,
    Tour,
    ValueResult,
    Where,
)
from graphscope.debugger.terminal_text import escape, fill, fit, width_of
from graphscope.diagnose import Explanation, Finding, Report, report_lines, text_lines

Meaning = Literal["text", "position", "source", "current", "error", "remark"]
"""What a line is: where one stands or what matters most, a line of the program, the one among several that is meant,
what went wrong, what is said beside."""

_SMALLEST = 6
_LONGEST_NAME = 60
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without control characters."""

    text: str
    meaning: Meaning = "text"


def lines_of(result: Result, width: int | None = None) -> list[Line]:
    """The lines of a result, for so many columns; lines of the program and cells of tables are cut there."""
    return LINES[type(result)](result, width)


def text_of(result: Result) -> str:
    """The lines of a result as plain text."""
    return "\n".join(line.text for line in lines_of(result))


def header(node: NodeInfo, *, before: bool = False) -> str:
    """A node as a stop announces it: `#12 mul (2x3 float32) forward model.py:31 h`."""
    shape = "x".join(map(str, node.shape)) if node.shape else "scalar"
    what = "not computed yet" if before else f"{shape} {node.dtype}" if node.dtype else "no value"
    name = fit(node.name, _LONGEST_NAME)
    is_in_name = node.name.startswith(node.scope.partition(" (")[0])  # as that of a parameter does
    scope = "" if is_in_name else f"in {node.scope}"
    parts = [f"#{node.row}", node.op, f"({what})", node.graph_pass, _place(node.place), name, scope]
    return " ".join(part for part in parts if part)


def reason(stop: Stop) -> str:
    """Why one stands somewhere, in words; empty for an ordinary step."""
    words = {
        "breakpoint": "" if stop.breakpoint is None else _breakpoint(stop.breakpoint),
        "watch": "; ".join(map(_change, stop.changes)),
        "exception": "" if stop.raised is None else stop.raised.words,
        "raised": "" if stop.raised is None else stop.raised.words,
        "pause": "interrupted",
    }
    return ": ".join(filter(None, (stop.remark, words.get(stop.cause, ""))))


def beside(stop: Stop) -> list[str]:
    """What else is to be said at a stop."""
    return [*stop.notes, *(map(_change, stop.changes) if stop.cause == "breakpoint" else ())]


def _breakpoint(found: BreakpointInfo) -> str:
    return f"{'temporary ' * found.temporary}breakpoint {found.number}: {found.title}"


def _change(change: Change) -> str:
    note = f" ({change.note})" if change.note else ""
    return f"watch {change.watch}: {change.expression}: {change.before} -> {change.after}{note}"


def _lines(text: str, meaning: Meaning = "text") -> list[Line]:
    return [Line(escape(line), meaning) for line in text.split("\n")]


def _cut(text: str, meaning: Meaning, width: int | None) -> Line:
    shown = escape(text)
    return Line(shown if width is None else fit(shown, width), meaning)


def _stop(stop: Stop, width: int | None) -> list[Line]:
    found: list[Line] = []
    raised = None if stop.raised is None or stop.raised.by_node else stop.raised
    if raised is not None and raised.place is not None:
        found += [*_lines(f"> raised at {_place(raised.place)}", "position"), *_code(raised.place, width)]
    elif stop.line is not None and not stop.silent:
        found += [*_lines(f"> at {_place(stop.line)}", "position"), *_code(stop.line, width)]
    elif stop.node is not None and not stop.silent:
        found += [*_lines(f"> {header(stop.node, before=stop.before)}", "position"), *_code(stop.node.place, width)]
    if (why := reason(stop)) and not stop.silent:
        found += _lines(f"({why})", "remark")
    if raised is not None and stop.node is not None:
        found += _lines(f"(the last node: {header(stop.node)})", "remark")
    for note in beside(stop):
        found += _lines(note)
    for cure in dict.fromkeys(each.cure for each in stop.findings if each.cure):
        found += _lines(f"cure: {cure}")
    for shown in stop.displays:
        found += _lines(f"display {shown.expression}: {shown.text}")
    return found


def _code(place: Place | None, width: int | None) -> list[Line]:
    return [] if place is None or not place.text else [_cut(f"-> {place.text}", "source", width)]


def _where(where: Where, width: int | None) -> list[Line]:
    found: list[Line] = []
    for number, frame in enumerate(where.frames):
        current = number == where.current
        text = _frame(frame, frame.place.file)
        if width is not None and width_of(text) + 2 > width:
            text = _frame(frame, _name(frame.place.file))
        found += _lines(f"{'>' if current else ' '} {text}", "current" if current else "text")
        found += _code(frame.place, width)
    return found


def _frame(frame: Frame, file: str) -> str:
    function = frame.place.function or "<module>"
    recorded = "" if frame.live else " (recorded)"
    scope = f" in {frame.scope}" if frame.scope else ""
    return f"{file}({frame.place.line}){function}{scope}{recorded}"


def _listing(listing: Listing, width: int | None) -> list[Line]:
    notes = dict(listing.notes)
    found = []
    for number, text in enumerate(listing.lines, listing.first):
        marks = ("B" if number in listing.breakpoints else " ") + ("->" if number == listing.current else "  ")
        note = f"    [{notes[number]}]" if number in notes else ""
        meaning: Meaning = "current" if number == listing.current else "text"
        found.append(_cut(f"{number:4} {marks} {text}{note}", meaning, width))
    return found


def _value(value: ValueResult, width: int | None) -> list[Line]:
    found = _lines(value.text) if value.text else []
    facts = []
    if value.shape is not None:
        facts.append(f"shape {value.shape} {value.dtype}".rstrip())
    if value.statistics is not None:
        known = value.statistics
        facts.append(f"min {known.min:.6g} max {known.max:.6g} mean {known.mean:.6g} std {known.std:.6g}")
        facts += [f"{count} {name}" for name, count in (("nan", known.nan), ("inf", known.inf)) if count]
    return [*found, *(_lines(", ".join(facts), "remark") if facts else ())]


def _display(display: Display, width: int | None) -> list[Line]:
    return _lines(f"display {display.number}: {display.expression}: {display.text}")


def _table(table: TableResult, width: int | None) -> list[Line]:
    found = _lines(table.title) if table.title else []
    if table.rows:
        texts = [tuple(escape("" if cell is None else str(cell)) for cell in row) for row in table.rows]
        if table.wrap and width is not None:
            texts = [piece for row in texts for piece in _wrapped(row, texts, width)]
        columns = tuple(map(escape, table.columns))
        widths = _widths([columns, *texts], width)
        found.append(Line(_row(columns, widths), "remark"))
        found += [Line(_row(row, widths)) for row in texts]
    return [*found, *(_lines(table.note) if table.note else ())]


def _wrapped(row: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[tuple[str, ...]]:
    """A row as several, so that the words of its last cell fit beside the other columns of all rows."""
    taken = sum(max(width_of(other[column]) for other in rows) + len(_GAP) for column in range(len(row) - 1))
    first, *more = textwrap.wrap(row[-1], max(width - taken, _SMALLEST), break_on_hyphens=False) or [""]
    yield (*row[:-1], first)
    yield from (("",) * (len(row) - 1) + (words,) for words in more)


def _widths(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Columns as wide as their widest cell; where that is too much for the terminal, the widest give way."""
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    room = None if width is None else width - len(_GAP) * (len(widths) - 1)
    while room is not None and sum(widths) > room and max(widths) > _SMALLEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(fill(cell, room) for cell, room in zip(cells, widths, strict=True)).rstrip()


def _explanation(found: Explanation, width: int | None) -> list[Line]:
    path = [_cut(text, "current" if blamed else "text", width) for text, blamed in found.marked_lines()]
    others = [line for other in found.others for line in _lines(other)]
    cure = _lines(f"hint: {found.cure}", "remark") if found.cure else []
    return [*_lines(found.verdict, "position"), *path, *others, *cure]


def _report(found: Report, width: int | None) -> list[Line]:
    return _told(report_lines.lines_of(found, width))


def lines_of_finding(found: Finding, width: int | None = None) -> list[Line]:
    """All that is to be said of one finding, for so many columns."""
    return _told(report_lines.lines_of_finding(found, width))


def _told(lines: list[text_lines.Line]) -> list[Line]:
    return [Line(escape(line.text), _MEANINGS[line.meaning]) for line in lines]


_MEANINGS: Final[dict[text_lines.Meaning, Meaning]] = {
    "text": "text",
    "error": "error",
    "warning": "position",
    "source": "source",
    "remark": "remark",
}


def _message(message: Message, width: int | None) -> list[Line]:
    text = f"*** {message.text}" if message.error else message.text
    found = _lines(text, "error" if message.error else "text") if message.text else []
    if message.hint:
        found += _lines(f"hint: {message.hint}" if message.error else f"({message.hint})", "remark")
    return found


def _nothing(result: object, width: int | None) -> list[Line]:
    return []


def _place(place: Place | None) -> str:
    return "" if place is None else f"{_name(place.file)}:{place.line}"


def _name(file: str) -> str:
    return PurePath(file.replace("\\", "/")).name


def _tour(tour: Tour, width: int | None) -> list[Line]:
    return _lines("The tour is of the screen's keys: `graphscope open` draws it, and `tour` there begins")


LINES: Final[dict[type, Callable[[Any, int | None], list[Line]]]] = {
    Stop: _stop,
    Where: _where,
    Explanation: _explanation,
    Report: _report,
    Listing: _listing,
    ValueResult: _value,
    Display: _display,
    TableResult: _table,
    Message: _message,
    Resumed: _nothing,
    Ended: _nothing,
    Interact: _nothing,
    Tour: _tour,
}
"""How each kind of result is written."""
