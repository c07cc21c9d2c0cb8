"""Loops, whose turns make the same nodes again and again: nodes within a step, or whole steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

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

    @property
    def turns(self) -> int:
        """How many there are."""
        return (self.last + 1 - self.first) // self.turn


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
            return Loop(low + first, low + first + turns * turn - 1, turn)
    return None


def equal_steps(log: Log, steps: Steps, place: int) -> Loop | None:
    """The steps from a place on that make the same nodes, one like the other, as far as they follow one another."""
    turn = int(steps.last[place]) - int(steps.first[place]) + 1
    wanted = _marks(log, int(steps.first[place]), int(steps.last[place]) + 1)
    last = place
    while (
        last + 1 < len(steps)
        and int(steps.last[last + 1]) - int(steps.first[last + 1]) + 1 == turn
        and (_marks(log, int(steps.first[last + 1]), int(steps.last[last + 1]) + 1) == wanted).all()
    ):
        last += 1
    if last - place + 1 < TURNS:
        return None
    return Loop(int(steps.first[place]), int(steps.last[last]), turn)


def _marks(log: Log, low: int, high: int) -> np.ndarray:
    """What nodes that a loop makes again have in common, as a number for each row."""
    columns = [log.column(name, low, high).astype(np.int64) for name in ("kind", "op", "site", "scope")]
    return np.asarray(columns[0] * 31 + columns[1] * 1_000_003 + columns[2] * 998_244_353 + columns[3] * 2_147_483_647)
