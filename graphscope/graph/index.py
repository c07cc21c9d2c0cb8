"""What the rows of a log say about each other, turned round: users, backward rows, versions; built block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import INLINE_INPUTS, NODES, ROW_MASK, Flag, Kind, Pass

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log

BLOCK: Final = 1 << 16
"""Rows a block: sorted on their own, so a growing log never sorts more than its newest block again."""

_AT_HAND: Final = 1 << 15
_SHIFT: Final = 16
_OFFSET: Final = BLOCK - 1
_LARGEST_ROW: Final = 1 << 46

Pairs = tuple[np.ndarray, np.ndarray]
"""Offsets of rows in a stretch of the log, and the rows that they name; one entry a pair."""


class Index:
    """The relations of one log. They grow with the log and serve every position in time, cut off at `stop`."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._users = _Relation(log, _inputs)
        self._backward = _Relation(log, _forward)
        self._tensors = _Relation(log, _tensor)
        self._nodes = _Relation(log, _node)
        self._edits: dict[int, list[int]] = {}
        self._edits_end = -1
        self._events: dict[int, Event] = {}

    def event(self, row: int) -> Event:
        """A row, decoded; rows do not change (but for `duration`), so those asked for of late are at hand.

        Raises:
            LogError: There is no such row.
        """
        found = self._events.get(row)
        if found is None:
            found = self._log.event(row)
            if len(self._events) >= _AT_HAND:
                self._events.clear()
            self._events[row] = found
        return found

    def users(self, row: int, stop: int) -> list[tuple[int, int, int]]:
        """Row, slot and argument of each node before `stop` that takes this one as an input, in order."""
        return [
            (user, slot, argument)
            for user in dict.fromkeys(self._users.find(row, stop))
            for argument, (source, slot) in enumerate(self.event(user).inputs)
            if source == row
        ]

    def using(self, row: int, stop: int, start: int = 0) -> list[int]:
        """Rows of `start <= row < stop` that take this one as an input; they are found, not looked at."""
        return list(dict.fromkeys(self._users.find(row, stop, start)))

    def backward(self, row: int, stop: int, start: int = 0) -> list[int]:
        """Rows before `stop` that belong to this one: its GRAD and ACCUMULATE rows, or the ops of a GRAD row's rule."""
        return list(self._backward.find(row, stop, start))

    def versions(self, tensor: int, stop: int) -> list[int]:
        """Rows before `stop` that made, changed or wrote again the tensor of this number."""
        return list(self._tensors.find(tensor, stop))

    def edits(self, row: int, stop: int) -> list[int]:
        """EDIT rows before `stop` that replaced the value of this node."""
        if self._edits_end != self._log.end:
            self._edits = _edits(self._log)
            self._edits_end = self._log.end
        return [edit for edit in self._edits.get(row, ()) if edit < stop]

    def nodes(self, stop: int) -> np.ndarray:
        """Rows before `stop` that are nodes, ascending."""
        parts = [block * BLOCK + (keys & _OFFSET) for block, keys in self._nodes.blocks(0, stop)]
        rows = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        low, high = np.searchsorted(rows, (self._log.first, stop))
        return rows[low:high]


class _Relation:
    """Pairs (named row, row that names it), sorted inside each block: one integer a pair, the named row above."""

    def __init__(self, log: Log, extract: Callable[[Log, int, np.ndarray], list[Pairs]]) -> None:
        self._log = log
        self._extract = extract
        self._built: dict[int, tuple[int, np.ndarray]] = {}

    def find(self, key: int, stop: int, start: int = 0) -> Iterator[int]:
        """The rows of `start <= row < stop` that name `key`, in order."""
        if not 0 <= key < _LARGEST_ROW:
            return
        bounds = np.array([key << _SHIFT, (key + 1) << _SHIFT])
        start = max(start, self._log.first)
        for block, keys in self.blocks(max(key, start), stop):
            low, high = np.searchsorted(keys, bounds)
            for offset in (keys[low:high] & _OFFSET).tolist():
                if start <= block * BLOCK + offset < stop:
                    yield block * BLOCK + offset

    def blocks(self, start: int, stop: int) -> Iterator[tuple[int, np.ndarray]]:
        """Number and sorted keys of each block that holds rows of `start <= row < stop`."""
        start, stop = max(start, self._log.first), min(stop, self._log.end)
        if start >= stop:
            return
        for block in range(start // BLOCK, (stop - 1) // BLOCK + 1):
            committed = self._committed(block)
            built = self._built.get(block)
            if built is None or built[0] != committed:
                built = self._built[block] = (committed, self._build(block))
            yield block, built[1]

    def _committed(self, block: int) -> int:
        """How many rows of a block are written: one with holes may change yet, a full one needs no look."""
        built = self._built.get(block)
        if built is not None and (built[0] == BLOCK or self._log.metadata.get("finished") is not None):
            return built[0]
        chunks = self._log.chunks(block * BLOCK, (block + 1) * BLOCK)
        return sum(int(np.count_nonzero(rows["kind"])) for _, rows in chunks)

    def _build(self, block: int) -> np.ndarray:
        parts = [np.zeros(0, np.int64)]
        for first, rows in self._log.chunks(block * BLOCK, (block + 1) * BLOCK):
            for offsets, named in self._extract(self._log, first, rows):
                # A damaged row may name any row: only what lies at or before the row that names it can be meant.
                possible = named <= (offsets + first).astype(np.uint64)
                offsets = offsets[possible] + (first - block * BLOCK)
                parts.append(named[possible].astype(np.int64) << _SHIFT | offsets)
        keys = np.concatenate(parts)
        keys.sort()
        return keys


def _is_node(rows: np.ndarray) -> np.ndarray:
    kinds = rows["kind"]
    return (kinds >= min(NODES)) & (kinds <= max(NODES))


def _node(_: Log, __: int, rows: np.ndarray) -> list[Pairs]:
    offsets = np.flatnonzero(_is_node(rows))
    return [(offsets, np.zeros(len(offsets), np.uint64))]


def _inputs(log: Log, first: int, rows: np.ndarray) -> list[Pairs]:
    nodes = _is_node(rows)
    beside = (rows["flags"] & int(Flag.EDGES)) != 0
    counts = rows["input_count"]
    found = []
    for argument in range(INLINE_INPUTS):
        offsets = np.flatnonzero(nodes & ~beside & (counts > argument))
        found.append((offsets, rows["inputs"][offsets, argument] & np.uint64(ROW_MASK)))
    offsets = np.flatnonzero(nodes & beside)
    if len(offsets):
        found.append(_beside(log.edges(first + int(offsets[0])), rows["inputs"][offsets], offsets))
    return found


def _beside(edges: np.ndarray, spans: np.ndarray, offsets: np.ndarray) -> Pairs:
    """The inputs that lie in `edges.npy`: `spans` says from where on and how many, for the rows at `offsets`."""
    starts, counts = spans[:, 0], spans[:, 1]
    size = np.uint64(len(edges))
    whole = (starts <= size) & (counts <= size) & (starts + counts <= size)
    starts, counts = starts[whole].astype(np.int64), counts[whole].astype(np.int64)
    before = np.cumsum(counts) - counts
    which = np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
    return np.repeat(offsets[whole], counts), edges["node"][which]


def _forward(_: Log, __: int, rows: np.ndarray) -> list[Pairs]:
    kinds = rows["kind"]
    of_backward = (kinds == Kind.GRAD) | (kinds == Kind.ACCUMULATE)
    # An op that no rule ran says 0, which is a row too; but row 0 has no rule, since nothing came before it.
    of_rule = _is_node(rows) & ~of_backward & (rows["graph_pass"] == Pass.BACKWARD) & (rows["forward"] > 0)
    offsets = np.flatnonzero(of_backward | of_rule)
    return [(offsets, rows["forward"][offsets])]


def _tensor(_: Log, __: int, rows: np.ndarray) -> list[Pairs]:
    kinds = rows["kind"]
    offsets = np.flatnonzero((kinds == Kind.LEAF) | (kinds == Kind.OP))
    return [(offsets, rows["tensor"][offsets])]


def _edits(log: Log) -> dict[int, list[int]]:
    rare = log.rare()
    found: dict[int, list[int]] = {}
    for first, rows in log.chunks():
        marks = rare[np.searchsorted(rare, first) : np.searchsorted(rare, first + len(rows))]
        for edit in marks[rows["kind"][marks - first] == Kind.EDIT].tolist():
            for node, _ in log.inputs(edit)[:1]:
                found.setdefault(node, []).append(edit)
    return found
