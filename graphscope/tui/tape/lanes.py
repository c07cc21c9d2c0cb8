"""Lanes beside the tape, as `git log --graph` draws branches: from where a value is made to its last use.

Worked out a stretch of lines at a time, so that a long log costs nothing where nobody looks. Lanes lead between rows
that one sees right beneath each other; what comes from elsewhere is written in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphscope.eventlog.schema import NODES, Kind, Pass

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event
    from graphscope.tui.glyphs import Glyphs

STRETCH: Final = 256
"""Lines that are worked out together."""
_KEPT: Final = 64

REACH: Final = 48
"""A lane to a use farther away than this is not drawn."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes at one row, each cell told by what it means."""

    own: int
    """Where the node stands."""
    through: frozenset[int]
    """Lanes that pass by, or are used and go on."""
    used: tuple[int, ...]
    """Lanes that lead into the node."""
    ended: frozenset[int]
    """Those of them that end here."""
    backward: frozenset[int]
    """Lanes that carry gradients."""
    goes_on: bool
    """Whether the node's own lane goes on below."""


def lanes_of(rows: Sequence[int], events: Callable[[int], Event | None]) -> dict[int, Lanes]:
    """The lanes of rows that one sees right beneath each other.

    Args:
        rows: The rows, ascending.
        events: The event of a row, or None.
    """
    known = {row: event for row in rows if (event := events(row)) is not None and event.kind in NODES}
    last_use = _last_uses(known)
    found: dict[int, Lanes] = {}
    held: list[int | None] = []  # the row whose value runs in each lane
    for row, event in known.items():
        sources = {source for source, _ in event.inputs}
        used = tuple(lane for lane, source in enumerate(held) if source in sources and _is_close(source, row))
        through = frozenset(lane for lane, source in enumerate(held) if source is not None)
        colours = frozenset(lane for lane in through if _is_backward(known[held[lane] or 0]))
        ended = frozenset(lane for lane, source in enumerate(held) if source is not None and last_use[source] <= row)
        for lane in ended:
            held[lane] = None
        own = _choose(held, [lane for lane in used if lane in ended], through - ended)
        goes_on = last_use.get(row, row) > row
        if goes_on:
            held += [None] * (own + 1 - len(held))
            held[own] = row
        gradient = colours | {own} if _is_backward(event) else colours - {own}
        found[row] = Lanes(own, through, used, ended, frozenset(gradient), goes_on)
        while held and held[-1] is None:
            held.pop()
    return found


class LaneSheet:
    """The lanes of the lines of a tape, worked out a stretch at a time.

    Args:
        runs: Of the lines from one number up to another the rows, run by run: those that one sees right beneath each
            other and that lie in one section.
        events: The event of a row, or None.
    """

    def __init__(self, runs: Callable[[int, int], list[list[int]]], events: Callable[[int], Event | None]) -> None:
        self._runs = runs
        self._events = events
        self._stretches: dict[int, dict[int, Lanes]] = {}
        self.widest = 0
        """The cells of the widest seen so far: so much room are all given."""

    def of(self, line: int, row: int) -> Lanes | None:
        """The lanes of the row in a line."""
        stretch = line // STRETCH
        known = self._stretches.get(stretch)
        if known is None:
            first = stretch * STRETCH
            known = self._stretches[stretch] = {}
            for rows in self._runs(max(first - REACH, 0), first + STRETCH + REACH):
                known.update(lanes_of(rows, self._events))
            if len(self._stretches) > _KEPT:
                del self._stretches[next(iter(self._stretches))]
            width = max((2 * max([lanes.own, *lanes.through]) + 1 for lanes in known.values()), default=0)
            self.widest = max(self.widest, width)
        return known.get(row)


def _last_uses(known: dict[int, Event]) -> dict[int, int]:
    found = {row: row for row in known}
    for row, event in known.items():
        for source, _ in event.inputs:
            if source in found and _is_close(source, row):
                found[source] = row
    return found


def _is_close(source: int | None, row: int) -> bool:
    return source is not None and row - source <= REACH


def _choose(held: list[int | None], merged: list[int], taken: frozenset[int]) -> int:
    """The lane of a node: that of an input that ends in it, else the first that is free."""
    if merged:
        return merged[0]
    lane = 0
    while lane in taken or (lane < len(held) and held[lane] is not None):
        lane += 1
    return lane


def _is_backward(event: Event) -> bool:
    return event.graph_pass == Pass.BACKWARD


def draw(lanes: Lanes, mark: str, glyphs: Glyphs, width: int) -> list[tuple[str, str]]:
    """One row of lanes as (character, meaning), two a lane, at most `width` cells; meanings are `forward`,
    `backward`, `node` and nothing.
    """
    into = [lane for lane in lanes.used if lane != lanes.own]
    low, high = min([lanes.own, *into]), max([lanes.own, *into])
    count = max([lanes.own, *lanes.through]) + 1
    cells: list[tuple[str, str]] = []
    for lane in range(count):
        colour = "backward" if lane in lanes.backward else "forward"
        inside = low < lane < high
        if lane == lanes.own:
            cells.append((mark, "node"))
        elif lane in into:
            ends = lane in lanes.ended
            side = "left" if lane < lanes.own else "right"
            glyph = (
                (glyphs.end_left if ends else glyphs.fork_left)
                if side == "left"
                else (glyphs.end_right if ends else glyphs.fork_right)
            )
            cells.append((glyph if lane in (low, high) or ends else glyphs.crossing, colour))
        elif lane in lanes.through and lane not in lanes.ended:
            cells.append((glyphs.crossing if inside else glyphs.lane, colour))
        elif lane in lanes.ended:
            cells.append((glyphs.across if inside else " ", colour))
        else:
            cells.append((glyphs.across if inside else " ", "backward" if lanes.own in lanes.backward else "forward"))
        joined = low <= lane < high
        cells.append((glyphs.across if joined else " ", "backward" if lanes.own in lanes.backward else "forward"))
    if cells[-1][0] == " ":
        cells.pop()
    if len(cells) > width:
        cells = [*cells[: max(width - 1, 0)], (glyphs.more, "forward")]
        if lanes.own * 2 >= width - 1 and width > 0:
            cells[-1] = (mark, "node")
    return cells


def mark_of(event: Event, glyphs: Glyphs) -> str:
    """The mark of a node by its kind."""
    return {
        Kind.LEAF: glyphs.leaf,
        Kind.OP: glyphs.op,
        Kind.GRAD: glyphs.grad,
        Kind.ACCUMULATE: glyphs.accumulate,
    }.get(event.kind, glyphs.mark)
