"""The table of the lines of a program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphscope.tables.batches import Batch

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log


def batches(log: Log) -> Iterator[Batch]:
    """The lines that a log names, all at once: a program has few."""
    found = [(number, log.site(number)) for number in range(1, len(log.table("sites")) + 1)]
    places = [(number, place) for number, place in found if place is not None]
    lines: dict[str, list[str]] = {}
    yield {
        "site": [number for number, _ in places],
        **{
            name: [getattr(place, name) for _, place in places]
            for name in ("file", "line", "column", "end_line", "end_column", "function")
        },
        "caller": [place.caller or None for _, place in places],
        "source": [_source(log, place, lines) for _, place in places],
    }


def _source(log: Log, place: Site, known: dict[str, list[str]]) -> str | None:
    if place.file not in known:
        known[place.file] = (log.source(place.file) or "").splitlines()
    lines = known[place.file]
    return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else None
