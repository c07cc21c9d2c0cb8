"""How much the segment of a log holds that is made next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.eventlog.segment import FIRST_BYTES

if TYPE_CHECKING:
    from graphscope.eventlog.retention import Retention
    from graphscope.eventlog.segment import Segment

_FIRST: Final = 1 << 25
"""Bytes for values in the first segment where disk space can be reserved as they come: several steps of most programs
that are tried out."""
_MUCH, _MOST, _FEW = 8, 32, 64
"""So much more room for values has the segment behind one that they filled before half of its rows were written, and so
much more where not one row of so many was. To make a segment, in which the leaves are written again, takes a small
program as long as a step."""

_LEAST_ROWS: Final = 1 << 6
"""So many rows has a segment where values of the most bytes fill it before a fraction of these are written: of a small
budget, rows would take more than the values do."""


class SegmentSizes:
    """Its rows, and its bytes for values: more than those of the one before, up to what retention allows.

    Args:
        retention: Of the log.
        policy: What is kept of values.
    """

    def __init__(self, retention: Retention, policy: str) -> None:
        self._retention = retention
        self.rows, self.bytes = retention.first_rows, min(FIRST_BYTES, retention.most_bytes(policy))
        self.first_bytes = self.bytes if retention.lets_go_of_steps else min(_FIRST, retention.most_bytes(policy))
        """Bytes for values in the first segment, where they take disk space only as they come. Of a ring it is small,
        for the oldest steps to go bit by bit."""

    def behind(self, full: Segment, rows: int, policy: str) -> int:
        """Bytes for values in the segment behind one that was full when so many rows were in it."""
        if not self._retention.wants_growth(full.first):
            return self.bytes
        filled = max(self.bytes, 1 << full.used.bit_length() if full.first == 0 else 0)  # the first may have more room
        growth = 1 if 2 * rows >= full.end - full.first else _MUCH if _FEW * rows >= full.end - full.first else _MOST
        return min(growth * filled, self._retention.most_bytes(policy))

    def grow(self, full: Segment, rows: int, policy: str) -> None:
        """A segment was full when so many rows were in it, and the one behind it is made."""
        if not self._retention.wants_growth(full.first):
            return
        # Where the values ran out first, so many rows more would only take room.
        needed = 2 * rows
        now = self.behind(full, rows, policy)
        least = _LEAST_ROWS if now == self.bytes == self._retention.most_bytes(policy) else self._retention.first_rows
        self.rows = min(max(1 << (needed - 1).bit_length(), least), self._retention.most_rows)
        self.bytes = now if now > self.bytes else min(2 * now, self._retention.most_bytes(policy))
