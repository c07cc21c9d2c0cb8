"""Results of commands as lines of text; one function for each kind of result."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final

from graphscope.console.terminal_output import Line, escape, lines
from graphscope.debugger.results import (
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
    ValueResult,
    Where,
)
from graphscope.diagnose.explanation import Explanation

_SMALLEST = 6
_LONGEST_NAME = 60
_GAP = "  "


def render(result: Result, width: int | None = None) -> list[Line]:
    """The lines that show a result on a terminal of so many columns."""
    return RENDERERS[type(result)](result, width)


def header(node: NodeInfo, *, before: bool = False) -> str:
    """A node as a stop announces it: `> #12 mul (2x3 float32) forward model.py:31 h`."""
    shape = "x".join(map(str, node.shape)) if node.shape else "scalar"
    what = "not computed yet" if before else f"{shape} {node.dtype}" if node.dtype else "no value"
    name = node.name if len(node.name) <= _LONGEST_NAME else f"{node.name[: _LONGEST_NAME - 1]}…"
    told = node.name.startswith(node.scope.partition(" (")[0])  # as that of a parameter does
    scope = "" if told else f"in {node.scope}"
    parts = [f"> #{node.row}", node.op, f"({what})", node.graph_pass, _place(node.place), name, scope]
    return " ".join(part for part in parts if part)


def _stop(stop: Stop, width: int | None) -> list[Line]:
    found: list[Line] = []
    if stop.node is not None and not stop.silent:
        found.append(Line(header(stop.node, before=stop.before), "stop"))
        if stop.node.place is not None and stop.node.place.text:
            found.append(Line(f"-> {stop.node.place.text}", "source", cut=True))
    if stop.reason and not stop.silent:
        found.append(Line(f"({stop.reason})", "dim"))
    found += [Line(note) for note in stop.notes]
    found += [line for shown in stop.displays for line in lines(f"display {shown.expression}: {shown.text}")]
    return found


def _where(where: Where, width: int | None) -> list[Line]:
    found = []
    for number, frame in enumerate(where.frames):
        current = number == where.current
        found.append(Line(_frame(frame, "> " if current else "  "), "current" if current else ""))
        if frame.place.text:
            found.append(Line(f"-> {frame.place.text}", "source", cut=True))
    return found


def _frame(frame: Frame, mark: str) -> str:
    function = frame.place.function or "<module>"
    recorded = "" if frame.live else " (recorded)"
    scope = f" in {frame.scope}" if frame.scope else ""
    return f"{mark}{frame.place.file}({frame.place.line}){function}{scope}{recorded}"


def _listing(listing: Listing, width: int | None) -> list[Line]:
    notes = dict(listing.notes)
    found = []
    for number, text in enumerate(listing.lines, listing.first):
        marks = ("B" if number in listing.breakpoints else " ") + ("->" if number == listing.current else "  ")
        note = f"    [{notes[number]}]" if number in notes else ""
        found.append(Line(f"{number:4} {marks} {text}{note}", "current" if number == listing.current else "", cut=True))
    return found


def _value(value: ValueResult, width: int | None) -> list[Line]:
    found = lines(value.text) if value.text else []
    if value.expression.startswith("display "):
        found = lines(f"{value.expression}: {value.text}")
    facts = []
    if value.shape is not None:
        facts.append(f"shape {value.shape} {value.dtype}".rstrip())
    if value.statistics is not None:
        known = value.statistics
        facts.append(f"min {known.min:.6g} max {known.max:.6g} mean {known.mean:.6g} std {known.std:.6g}")
        facts += [f"{count} {name}" for name, count in (("nan", known.nan), ("inf", known.inf)) if count]
    if facts:
        found.append(Line(", ".join(facts), "dim"))
    return found


def _table(table: TableResult, width: int | None) -> list[Line]:
    found = [Line(table.title)] if table.title else []
    if table.rows:
        texts = [tuple(escape("" if cell is None else str(cell)) for cell in row) for row in table.rows]
        if table.wrap and width is not None:
            texts = [piece for row in texts for piece in _wrapped(row, texts, width)]
        widths = _widths([table.columns, *texts], width)
        found.append(Line(_row(table.columns, widths), "dim"))
        found += [Line(_row(row, widths)) for row in texts]
    if table.note:
        found.append(Line(table.note))
    return found


def _wrapped(row: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[tuple[str, ...]]:
    """A row as several, so that the words of its last cell fit beside the other columns of all rows."""
    taken = sum(max(len(other[column]) for other in rows) + len(_GAP) for column in range(len(row) - 1))
    first, *more = textwrap.wrap(row[-1], max(width - taken, _SMALLEST), break_on_hyphens=False) or [""]
    yield (*row[:-1], first)
    yield from (("",) * (len(row) - 1) + (words,) for words in more)


def _widths(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Columns as wide as their longest cell; where that is too much for the terminal, the widest give way."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = None if width is None else width - len(_GAP) * (len(widths) - 1)
    while room is not None and sum(widths) > room and max(widths) > _SMALLEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    cut = [cell if len(cell) <= room else cell[: room - 1] + "…" for cell, room in zip(cells, widths, strict=True)]
    return _GAP.join(cell.ljust(room) for cell, room in zip(cut, widths, strict=True)).rstrip()


def _explanation(found: Explanation, width: int | None) -> list[Line]:
    path = [Line(text, "current" if text.startswith("  >") else "", cut=True) for text in found.lines()]
    cure = lines(f"hint: {found.cure}", "dim") if found.cure else []
    return [Line(found.verdict, "stop"), *path, *map(Line, found.others), *cure]


def _message(message: Message, width: int | None) -> list[Line]:
    text = f"*** {message.text}" if message.error else message.text
    found = lines(text, "error" if message.error else "") if message.text else []
    if message.hint:
        found += lines(f"hint: {message.hint}" if message.error else f"({message.hint})", "dim")
    return found


def _nothing(result: object, width: int | None) -> list[Line]:
    return []


def _place(place: Place | None) -> str:
    return "" if place is None else f"{PurePath(place.file.replace(chr(92), '/')).name}:{place.line}"


RENDERERS: Final[dict[type, Callable[[Any, int | None], list[Line]]]] = {
    Stop: _stop,
    Where: _where,
    Explanation: _explanation,
    Listing: _listing,
    ValueResult: _value,
    TableResult: _table,
    Message: _message,
    Resumed: _nothing,
    Ended: _nothing,
    Interact: _nothing,
}
"""How each kind of result is shown."""
