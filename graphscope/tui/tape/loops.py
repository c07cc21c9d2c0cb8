"""Loops, whose turns make the same nodes again and again: nodes within a step, or whole steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.outline import Steps

TURNS: Final = 3
"""So many turns make a loop."""

_LONGEST_TURN: Final = 256
_REACH: Final = 1 << 15
"""Rows in either direction in which a loop is looked for."""


@dataclass(frozen=True)
class Loop:
    """Turns that are alike."""

    first: int
    """The first row of the first turn."""
    last: int
    """The last row of the last whole turn."""
    turn: int
    """Rows a turn."""
    turns: int
    """How many there are."""

    @property
    def second(self) -> int:
        """The first row of the second turn."""
        return self.first + self.turn


def loop_at(log: Log, steps: Steps, row: int) -> Loop | None:
    """The loop that a row lies in, of the shortest turn; it never leaves its training step."""
    place = steps.place(row)
    low, high = (log.first, log.end - 1) if place is None else (int(steps.first[place]), int(steps.last[place]))
    low, high = max(low, row - _REACH), min(high + 1, row + _REACH)
    marks = _marks(log, low, high)
    here = row - low
    for turn in range(1, min(_LONGEST_TURN, len(marks) // TURNS) + 1):
        same = marks[:-turn] == marks[turn:]
        if not (here < len(same) and same[here]) and not (here >= turn and same[here - turn]):
            continue
        inside = min(here, len(same) - 1) if here < len(same) and same[here] else here - turn
        parted = np.flatnonzero(~same)
        place = int(np.searchsorted(parted, inside))
        first = int(parted[place - 1]) + 1 if place else 0
        behind = (int(parted[place]) if place < len(parted) else len(same)) + turn
        turns = (behind - first) // turn
        if turns >= TURNS and first <= here < first + turns * turn:
            return Loop(low + first, low + first + turns * turn - 1, turn, turns)
    return None


def equal_steps(log: Log, steps: Steps, place: int) -> Loop | None:
    """The steps from a place on that make the same nodes, one like the other, as far as they follow one another."""
    wanted, last = _nodes_of(log, steps, place), place
    while last + 1 < len(steps) and np.array_equal(_nodes_of(log, steps, last + 1), wanted):
        last += 1
    turns, first = last - place + 1, int(steps.first[place])
    if turns < TURNS:
        return None
    return Loop(first, int(steps.last[last]), int(steps.last[place]) - first + 1, turns)


def _nodes_of(log: Log, steps: Steps, place: int) -> np.ndarray:
    """The rows of a step, but for leaves that a segment repeats, each told as a number."""
    first, stop = int(steps.first[place]), int(steps.last[place]) + 1
    again = (log.column("kind", first, stop) == Kind.LEAF) & (
        log.column("tensor", first, stop) != np.arange(first, stop)
    )
    return np.asarray(_marks(log, first, stop)[~again])


def _marks(log: Log, low: int, high: int) -> np.ndarray:
    """What nodes that a loop makes again have in common, as a number for each row."""
    columns = [log.column(name, low, high).astype(np.int64) for name in ("kind", "op", "site", "scope")]
    columns[2][columns[0] == Kind.ACCUMULATE] = 0  # the line of the leaf, which a segment may repeat elsewhere
    return np.asarray(columns[0] * 31 + columns[1] * 1_000_003 + columns[2] * 998_244_353 + columns[3] * 2_147_483_647)
