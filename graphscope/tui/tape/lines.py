"""Which rows of the log the tape shows, as numbered lines: kept block by block, and what is folded left out."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

BLOCK: Final = 1 << 16
"""Rows a block; a shown row is 16 bits in it."""

HIDDEN: Final = (Kind.UNWRITTEN, Kind.SCOPE_EXIT, Kind.BACKWARD_END)
"""What has no line of its own: where something ends can be seen without one."""

_SHOWN: Final = np.ones(256, bool)
_SHOWN[[int(kind) for kind in HIDDEN]] = False
"""By the number of a kind."""


class Lines:
    """The lines of a log: line numbers count from 0, rows are those of the log. `extend` looks at more of it."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._first_block = log.first // BLOCK
        self._blocks: list[np.ndarray] = []
        self._starts: list[int] = []
        self._count = 0
        self._end = self._first_block * BLOCK
        self.folds: dict[int, int] = {}
        """Rows of closed folds, each with the last row that it hides."""

    def __len__(self) -> int:
        return self._count

    @property
    def end(self) -> int:
        """The row behind the last that was looked at."""
        return min(self._end, self._log.end)

    @property
    def complete(self) -> bool:
        """Whether all rows were looked at."""
        return self._end >= self._log.end

    def extend(self, blocks: int = 1) -> None:
        """Look at so many blocks more; the last one again if it has grown."""
        for _ in range(blocks):
            begun = bool(self._blocks) and self._end % BLOCK != 0
            number = self._first_block + len(self._blocks) - begun
            if begun:
                self._count = self._starts.pop()
                self._blocks.pop()
            elif self.complete:
                return
            offsets = self._offsets(number)
            self._starts.append(self._count)
            self._blocks.append(offsets)
            self._count += len(offsets)
            self._end = min((number + 1) * BLOCK, self._log.end)

    def reach(self, row: int) -> None:
        """Look at more until a row is among what was looked at, if it is there."""
        while self._end <= row and not self.complete:
            self.extend()

    def row(self, line: int) -> int | None:
        """The row of a line; None behind the last."""
        if not 0 <= line < self._count:
            return None
        block = bisect_right(self._starts, line) - 1
        return (self._first_block + block) * BLOCK + int(self._blocks[block][line - self._starts[block]])

    def line(self, row: int) -> int:
        """The line of a row; of one that is not shown, the last line ahead of it."""
        block = min(row // BLOCK - self._first_block, len(self._blocks) - 1)
        if block < 0:
            return 0
        offset = row - (self._first_block + block) * BLOCK
        place = int(np.searchsorted(self._blocks[block], offset, side="right"))
        return max(self._starts[block] + place - 1, 0)

    def shown(self, row: int) -> bool:
        """Whether a row has a line."""
        return self.row(self.line(row)) == row

    def fold(self, row: int, last: int) -> None:
        """Hide the rows behind `row` up to `last`."""
        self.folds[row] = last
        self._again(row, last)

    def unfold(self, row: int) -> None:
        """Show what was folded at a row."""
        last = self.folds.pop(row, None)
        if last is not None:
            self._again(row, last)

    def _again(self, first: int, last: int) -> None:
        low = first // BLOCK - self._first_block
        for block in range(low, min(last // BLOCK - self._first_block, len(self._blocks) - 1) + 1):
            self._blocks[block] = self._offsets(self._first_block + block)
        self._starts = [0, *np.cumsum([len(block) for block in self._blocks]).tolist()]
        self._count = self._starts.pop()

    def _offsets(self, number: int) -> np.ndarray:
        start = number * BLOCK
        low = max(start, self._log.first)
        kinds = self._log.column("kind", low, min(start + BLOCK, self._log.end))
        shown = _SHOWN[kinds]
        for row, last in self.folds.items():
            if row < start + BLOCK and last >= low:
                shown[max(row + 1 - low, 0) : max(last + 1 - low, 0)] = False
        return (np.flatnonzero(shown) + (low - start)).astype(np.uint16)
