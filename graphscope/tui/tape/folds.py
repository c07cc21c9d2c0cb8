"""What of a log can be folded: scopes, backward passes, and loops, whose turns make the same nodes again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.tui.passes import Passes

BEGINS: Final = (Kind.SCOPE_ENTER, Kind.BACKWARD_BEGIN)
ENDS: Final = {Kind.SCOPE_ENTER: Kind.SCOPE_EXIT, Kind.BACKWARD_BEGIN: Kind.BACKWARD_END}

TURNS: Final = 3
"""So many turns make a loop."""

_LONGEST_TURN: Final = 256
_REACH: Final = 1 << 15
"""Rows in either direction in which a loop is looked for."""

_STRETCH: Final = 4096


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


def enclosing(log: Log, passes: Passes, row: int) -> int | None:
    """The row of the innermost scope or backward pass that holds a row, or is that row."""
    if log.event(row).kind in BEGINS:
        return row
    first, _ = passes.span_of(passes.step_of(row), log)
    kinds = log.column("kind", first, row + 1)
    depth = 0
    for offset in np.flatnonzero(np.isin(kinds, [*BEGINS, *ENDS.values()]))[::-1].tolist():
        if kinds[offset] in ENDS.values():
            depth += 1
        elif depth == 0:
            return first + int(offset)
        else:
            depth -= 1
    return None


def last_of(log: Log, row: int) -> int:
    """The last row of the scope or backward pass that begins at a row."""
    begins = log.event(row).kind
    ends, depth = ENDS[begins], 0
    for low in range(row, log.end, _STRETCH):
        kinds = log.column("kind", low, low + _STRETCH)
        for offset in np.flatnonzero((kinds == begins) | (kinds == ends)).tolist():
            depth += 1 if kinds[offset] == begins else -1
            if depth == 0:
                return low + int(offset)
    return log.end - 1


def scopes_of_step(log: Log, passes: Passes, row: int) -> list[int]:
    """The rows of the outermost scopes of the training step that a row belongs to."""
    first, last = passes.span_of(passes.step_of(row), log)
    kinds = log.column("kind", first, last + 1)
    found, behind = [], -1
    for offset in np.flatnonzero(kinds == Kind.SCOPE_ENTER).tolist():
        if first + offset > behind:
            found.append(first + int(offset))
            behind = last_of(log, first + int(offset))
    return found


def loop_at(log: Log, passes: Passes, row: int) -> Loop | None:
    """The loop that a row lies in, of the shortest turn; it never leaves its training step."""
    low, high = passes.span_of(passes.step_of(row), log)
    low, high = max(low, row - _REACH), min(high + 1, row + _REACH)
    columns = [log.column(name, low, high).astype(np.int64) for name in ("kind", "op", "site", "scope")]
    marks = columns[0] * 31 + columns[1] * 1_000_003 + columns[2] * 998_244_353 + columns[3] * 2_147_483_647
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
