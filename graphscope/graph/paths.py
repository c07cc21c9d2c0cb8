"""All paths between two nodes that lie close together in the log, found in its columns: edges lead to younger rows, so
one sweep finds what can be reached. No sweep is longer than `REACH` rows, however long the log is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import INLINE_INPUTS, NODES, ROW_MASK, Flag

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

REACH: Final = 1 << 13
"""So many rows are looked at, which takes some milliseconds."""

UPDATE: Final = Flag.IN_PLACE | Flag.NO_GRAD
"""What an optimizer writes has both flags. No gradient flows through it: paths begin and end there, as at a leaf."""

_BLOCK: Final = 1 << 10


class Inputs:
    """The inputs of rows, read a block at a time; of marks, leaves and what an optimizer wrote there are none."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._blocks: dict[int, list[Sequence[int]]] = {}

    def __getitem__(self, row: int) -> Sequence[int]:
        """The rows of the inputs; a number below 0 is none."""
        block, place = divmod(row, _BLOCK)
        return self._block(block)[place]

    def between(self, start: int, stop: int) -> Iterator[tuple[int, Sequence[int]]]:
        """Each row of `start <= row < stop`, and its inputs."""
        while start < stop:
            block, place = divmod(start, _BLOCK)
            lists = self._block(block)[place : place + stop - start]
            yield from enumerate(lists, start)
            start += len(lists)

    def _block(self, block: int) -> list[Sequence[int]]:
        found = self._blocks.get(block)
        if found is None:
            found = self._blocks[block] = self._read(block * _BLOCK)
        return found

    def _read(self, start: int) -> list[Sequence[int]]:
        found: list[Sequence[int]] = [()] * _BLOCK
        for first, rows in self._log.chunks(start, start + _BLOCK):
            kinds, flags = rows["kind"], rows["flags"]
            nodes = (kinds >= min(NODES)) & (kinds <= max(NODES)) & (flags & UPDATE != UPDATE)
            beside = flags & Flag.EDGES != 0
            named = (rows["inputs"] & np.uint64(ROW_MASK)).astype(np.int64)
            there = np.arange(INLINE_INPUTS) < rows["input_count"][:, None]
            older = named < np.arange(first, first + len(rows))[:, None]  # a damaged row may name any
            named[~(there & older & (nodes & ~beside)[:, None])] = -1
            lists = named.tolist()
            for offset in np.flatnonzero(nodes & beside).tolist():
                row = first + offset
                lists[offset] = [source for source, _ in self._log.inputs(row) if source < row]
            found[first - start : first - start + len(rows)] = lists
        return found


@dataclass(frozen=True)
class Paths:
    """All paths from a row to a younger one. An edge lies on one if both of its ends do."""

    start: int
    end: int
    length: int
    """Edges of a shortest."""
    rows: AbstractSet[int]
    """The rows on them."""

    def behind(self, start: int) -> Paths:
        """The same with one more edge ahead, from another start."""
        return Paths(start, self.end, self.length + 1, {start, *self.rows})

    def ahead_of(self, end: int) -> Paths:
        """The same with one more edge, to another end."""
        return Paths(self.start, end, self.length + 1, {end, *self.rows})


class Descendants:
    """What depends on a row, as far as one has looked."""

    def __init__(self, inputs: Inputs, start: int) -> None:
        self._inputs = inputs
        self._end = start + 1
        self.rows = [start]
        """In order."""
        self.known = {start}

    def look(self, stop: int) -> None:
        """Look at all rows before `stop`."""
        rows, known = self.rows, self.known
        for row, sources in self._inputs.between(self._end, stop):
            for source in sources:
                if source in known:
                    known.add(row)
                    rows.append(row)
                    break
        self._end = max(self._end, stop)

    def paths(self, end: int) -> Paths | None:
        """All paths to a row that has been looked at; None if there is none."""
        start = self.rows[0]
        far = _back(self._inputs, end, self.rows[: bisect_right(self.rows, end)], self.known)
        return Paths(start, end, far[start], far.keys()) if start in far else None

    def far(self) -> dict[int, int]:
        """The fewest edges to each row."""
        far = {self.rows[0]: 0}
        for row in self.rows[1:]:
            far[row] = min(far[source] for source in self._inputs[row] if source in far) + 1
        return far


def backward(inputs: Inputs, end: int, floor: int) -> dict[int, int]:
    """The rows that one depends on, each with the fewest edges; what is older than `floor` is met, not passed."""
    return _back(inputs, end, range(floor, end + 1), None)


def _back(inputs: Inputs, end: int, rows: Sequence[int], among: AbstractSet[int] | None) -> dict[int, int]:
    far = {end: 0}
    for row in reversed(rows):
        steps = far.get(row)
        if steps is None:
            continue
        for source in inputs[row]:
            if source >= 0 and (among is None or source in among) and far.get(source, steps + 2) > steps + 1:
                far[source] = steps + 1
    return far


def between(inputs: Inputs, start: int, end: int, floor: int) -> Paths | None:
    """All paths from one row to another, found from its end down to `floor`; None if there is none."""
    far = backward(inputs, end, floor)
    if start not in far:
        return None
    reached = {start}
    for row in sorted(row for row in far if row > start and row >= floor):
        if not reached.isdisjoint(inputs[row]):
            reached.add(row)
    return Paths(start, end, far[start], reached)
