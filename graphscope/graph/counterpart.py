"""Where another rank was at the same moment of the program: the same node, counted from what both did together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.collectives import line_up

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A place in another rank's log."""

    row: int
    """The node; without one, where both met last, or the first row."""
    same: bool
    """Whether it is of the same op and line; else it is what both came to last."""
    met: Event | None
    """The collective that both came to last, as the other log has it; None where they have not met before."""


def counterpart(log: Log, row: int, other: Log) -> Counterpart:
    """The node of another rank that belongs to the one at `row`.

    Both are counted from the last collective that both had come to (or from where they begin): the third `mul` of
    line 12 behind it is the third `mul` of line 12 behind it there, as long as that comes ahead of the next one.
    """
    met, low, stop = None, other.first, other.end
    began = log.first
    for meeting in line_up((log, other)):
        here, there = meeting.events
        if here is None or there is None:
            continue
        if here.row <= row and here.row >= began:
            began, met, low = here.row, there, there.row
        elif here.row > row:
            stop = min(stop, there.row) if there.row > low else stop
    if log.first <= row < log.end:
        number = int(np.count_nonzero(_alike(log, began, row + 1, log, row)))
        found = np.flatnonzero(_alike(other, low, stop, log, row))
        if 0 < number <= len(found):
            return Counterpart(low + int(found[number - 1]), True, met)
    return Counterpart(low, False, met)


def _alike(log: Log, start: int, stop: int, other: Log, row: int) -> np.ndarray:
    """Which rows of a stretch are of the same kind, op and line as a row of the other log."""
    event = other.event(row)
    name, site = other.op(event.op).name, other.site(event.site)
    ops = [number for number in range(len(log.table("ops")) + 1) if log.op(number).name == name]
    sites = [number for number in range(len(log.table("sites")) + 1) if log.site(number) == site]
    found: np.ndarray = log.column("kind", start, stop) == event.kind
    return found & np.isin(log.column("op", start, stop), ops) & np.isin(log.column("site", start, stop), sites)
