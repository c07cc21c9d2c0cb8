"""Results of commands as plain text, for the debug console of an editor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from graphscope.dap.stop_events import described
from graphscope.debugger.results import Listing, Message, Stop, TableResult, ValueResult, Where
from graphscope.diagnose.explanation import Explanation


def text_of(result: object) -> str:
    """A result as lines of text."""
    write = WRITERS.get(type(result))
    return "" if write is None else write(result)


def _value(result: ValueResult) -> str:
    head = f"{result.dtype} {'x'.join(map(str, result.shape))}\n" if result.shape else ""
    return head + result.text


def _message(result: Message) -> str:
    return f"{result.text}\n{result.hint}" if result.hint else result.text


def _table(result: TableResult) -> str:
    rows = [tuple("" if cell is None else str(cell) for cell in row) for row in result.rows]
    lines = [result.title] if result.title else []
    if rows:
        widths = [max(map(len, column)) for column in zip(result.columns, *rows, strict=True)]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (result.columns, *rows)
        ]
    return "\n".join([*lines, *([result.note] if result.note else [])])


def _where(result: Where) -> str:
    marks = ("> " if place == result.current else "  " for place in range(len(result.frames)))
    return "\n".join(
        f"{mark}{frame.place.file}({frame.place.line}) {frame.place.function}: {frame.place.text}"
        for mark, frame in zip(marks, result.frames, strict=True)
    )


def _listing(result: Listing) -> str:
    numbered = enumerate(result.lines, result.first)
    notes = dict(result.notes)
    return "\n".join(
        f"{number:4}{'B' if number in result.breakpoints else ' '}{'->' if number == result.current else '  '} {line}"
        + (f"  # {notes[number]}" if number in notes else "")
        for number, line in numbered
    )


def _stop(result: Stop) -> str:
    shown = [f"{each.expression} = {each.text}" for each in result.displays]
    return "\n".join([described(result), *([result.reason] if result.reason else []), *result.notes, *shown])


def _explanation(result: Explanation) -> str:
    steps = [f"  {step.label} {step.name} {step.place} {step.note}".rstrip() for step in result.path]
    return "\n".join([result.verdict, *steps, *([result.cure] if result.cure else []), *result.others])


WRITERS: Final[dict[type, Callable[[Any], str]]] = {
    ValueResult: _value,
    Message: _message,
    TableResult: _table,
    Where: _where,
    Listing: _listing,
    Stop: _stop,
    Explanation: _explanation,
}
"""How each kind of result is written."""
