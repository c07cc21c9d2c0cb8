"""Results of commands as styled text: one function for each kind of result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, Final

from rich.cells import cell_len
from rich.text import Text

from graphscope.debugger.results import (
    Ended,
    Frame,
    Interact,
    Listing,
    Message,
    Result,
    Resumed,
    Stop,
    TableResult,
    ValueResult,
    Where,
)
from graphscope.diagnose.explanation import Explanation
from graphscope.tui.screen_text import escape, fit, shape_text

_SMALLEST = 6


def render(result: Result, width: int) -> Text:
    """What shows a result in so many columns."""
    return RENDERERS[type(result)](result, width)


def _lines(*found: tuple[str, str]) -> Text:
    """Lines, each with its style; text is data and never markup."""
    made = Text()
    for number, (text, style) in enumerate(found):
        if number:
            made.append("\n")
        made.append("\n".join(escape(line) for line in text.split("\n")), style)
    return made


def _stop(stop: Stop, width: int) -> Text:
    found: list[tuple[str, str]] = []
    if stop.node is not None and not stop.silent:
        node = stop.node
        place = f"{PurePath(node.place.file).name}:{node.place.line}" if node.place is not None else ""
        what = "not computed yet" if stop.before else f"{shape_text(node.shape) or 'scalar'} {node.dtype}"
        words = (f"#{node.row}", node.label, node.name if node.name != node.label else "", what, node.graph_pass, place)
        found.append(("  ".join(word for word in words if word), "bold"))
    if stop.reason:
        found.append((stop.reason, "muted"))
    found += [(note, "") for note in stop.notes]
    found += [(f"display {shown.expression}: {shown.text}", "") for shown in stop.displays]
    return _lines(*found)


def _where(where: Where, width: int) -> Text:
    found: list[tuple[str, str]] = []
    for number, frame in enumerate(where.frames):
        found.append((_frame(frame, number == where.current), "bold" if number == where.current else ""))
        if frame.place.text:
            found.append((f"    {frame.place.text}", "forward"))
    return _lines(*found)


def _frame(frame: Frame, current: bool) -> str:
    recorded = "" if frame.live else "  (recorded)"
    function = frame.place.function or "<module>"
    return f"{'>' if current else ' '} {PurePath(frame.place.file).name}:{frame.place.line} {function}{recorded}"


def _listing(listing: Listing, width: int) -> Text:
    notes = dict(listing.notes)
    found = []
    for number, text in enumerate(listing.lines, listing.first):
        sign = ("B" if number in listing.breakpoints else " ") + (">" if number == listing.current else " ")
        note = f"   [{notes[number]}]" if number in notes else ""
        found.append((f"{number:4} {sign} {text}{note}", "bold" if number == listing.current else ""))
    return _lines(*found)


def _value(value: ValueResult, width: int) -> Text:
    found = [(value.text, "")] if value.text else []
    if value.expression.startswith("display "):
        found = [(f"{value.expression}: {value.text}", "")]
    facts = []
    if value.shape is not None:
        facts.append(f"{shape_text(value.shape) or 'scalar'} {value.dtype}".rstrip())
    if value.statistics is not None:
        known = value.statistics
        facts.append(f"min {known.min:.6g}  max {known.max:.6g}  mean {known.mean:.6g}  std {known.std:.6g}")
        facts += [f"{count} {name}" for name, count in (("nan", known.nan), ("inf", known.inf)) if count]
    if facts:
        found.append((", ".join(facts), "muted"))
    return _lines(*found)


def _table(table: TableResult, width: int) -> Text:
    made = Text()
    if table.title:
        made.append(escape(table.title) + "\n")
    if table.rows:
        texts = [tuple(escape("" if cell is None else str(cell)) for cell in row) for row in table.rows]
        widths = _widths([table.columns, *texts], width)
        if table.wrap:
            widths[-1] = max(map(cell_len, (row[-1] for row in texts)))
        made.append(_row(table.columns, widths), "muted")
        for row in texts:
            made.append("\n" + _row(row, widths))
        if table.note:
            made.append("\n")
    if table.note:
        made.append(escape(table.note), "muted")
    return made


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Columns as wide as their widest cell; where that is too much, the widest give way."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    room = width - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _SMALLEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(fit(cell, room) for cell, room in zip(cells, widths, strict=True)).rstrip()


def _explanation(found: Explanation, width: int) -> Text:
    path = [(text, "bold" if text.startswith("  >") else "") for text in found.lines()]
    cure = [(f"hint: {found.cure}", "muted")] if found.cure else []
    return _lines((found.verdict, "bold"), *path, *((text, "") for text in found.others), *cure)


def _message(message: Message, width: int) -> Text:
    found = [(message.text, "bold error" if message.error else "")] if message.text else []
    if message.hint:
        found.append((f"hint: {message.hint}" if message.error else f"({message.hint})", "muted"))
    return _lines(*found)


def _interact(result: Interact, width: int) -> Text:
    return _lines(("A Python prompt needs the terminal: leave with q and add --console", "muted"))


def _nothing(result: object, width: int) -> Text:
    return Text()


RENDERERS: Final[dict[type, Callable[[Any, int], Text]]] = {
    Stop: _stop,
    Where: _where,
    Explanation: _explanation,
    Listing: _listing,
    ValueResult: _value,
    TableResult: _table,
    Message: _message,
    Resumed: _nothing,
    Ended: _nothing,
    Interact: _interact,
}
"""How each kind of result is shown."""
