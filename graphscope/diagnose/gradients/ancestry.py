"""What a node was computed from, as gradients go: found in bulk, as a step may have hundreds of thousands of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.index import edges_of
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_STRETCH: Final = 1 << 10
"""So many rows ahead of a node are looked at together, and of what lies farther back twice as many each time."""

_KEPT: Final = 8
"""Of so many nodes it is kept: one asks for all leaves of a loss in turn."""

_UPDATE: Final = int(Flag.IN_PLACE | Flag.NO_GRAD)


class Ancestry(NamedTuple):
    """The rows behind a node, and what leads from one to another."""

    rows: np.ndarray
    """The node and all that it was computed from, ascending: not beyond leaves, whoever wrote them since."""
    leaves: np.ndarray
    """Those that stand for leaves."""
    users: np.ndarray
    sources: np.ndarray
    """The edges that lead to these rows, also to leaves that were written, in the order of the users."""

    def holds(self, row: int) -> bool:
        """Whether a row is among them."""
        place = int(np.searchsorted(self.rows, row))
        return place < len(self.rows) and int(self.rows[place]) == row


def ancestry(log: Log, root: int) -> Ancestry:
    """What a node was computed from."""
    kept = _kept(log)
    if root not in kept:
        while len(kept) >= _KEPT:
            kept.pop(next(iter(kept)))
        kept[root] = _ancestry(log, root)
    return kept[root]


@once_a_length
def _kept(_: Log) -> dict[int, Ancestry]:
    return {}


def _ancestry(log: Log, root: int) -> Ancestry:
    none = np.zeros(0, np.int64)
    if not log.first <= root < log.end:
        return Ancestry(np.array([root]), none, none, none)
    found = []
    waiting, size = np.array([root]), _STRETCH
    while len(waiting):
        stop = int(waiting[-1]) + 1
        low = max(log.first, stop - size)
        near = int(np.searchsorted(waiting, low))
        part, older = _within(log, low, stop, waiting[near:])
        found.append(part)
        waiting = np.union1d(waiting[:near], older)
        size *= 2
    return Ancestry(*map(np.concatenate, zip(*found[::-1], strict=True)))


def _within(log: Log, low: int, stop: int, rows: np.ndarray) -> tuple[Ancestry, np.ndarray]:
    """What lies in a stretch behind some rows of it, and the older rows that it was made of."""
    users, sources = _edges(log, low, stop)
    leads = ~are_leaves(log, users)
    marked, older = bytearray(stop - low), set()
    for row in rows.tolist():
        marked[row - low] = 1
    for user, source in zip(users[leads][::-1].tolist(), sources[leads][::-1].tolist(), strict=True):
        if marked[user - low]:
            if source < low:
                older.add(source)
            else:
                marked[source - low] = 1
    is_behind = np.frombuffer(marked, bool)
    found = low + np.flatnonzero(is_behind)
    mine = is_behind[users - low]
    part = Ancestry(found, found[are_leaves(log, found)], users[mine], sources[mine])
    return part, np.array(sorted(older), np.int64)


def _edges(log: Log, low: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """The edges that lead to the nodes of a stretch, in the order of these."""
    users, sources = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for first, rows in log.chunks(low, stop):
        for offsets, named in edges_of(log, first, rows):
            earlier = (named < (offsets + first).astype(np.uint64)) & (named >= np.uint64(log.first))
            users.append(offsets[earlier] + first)
            sources.append(named[earlier].astype(np.int64))
    found = np.concatenate(users)
    order = np.argsort(found, kind="stable")
    return found[order], np.concatenate(sources)[order]


def are_leaves(log: Log, rows: np.ndarray) -> np.ndarray:
    """Which rows are leaves, or were written by an optimizer in the place of one."""
    kinds, tensors = log.pick("kind", rows), log.pick("tensor", rows).astype(np.int64)
    written = ((log.pick("flags", rows) & _UPDATE) == _UPDATE) & (tensors >= log.first) & (tensors < rows)
    found: np.ndarray = kinds == Kind.LEAF
    found[written] |= log.pick("kind", tensors[written]) == Kind.LEAF
    return found
