"""The backward passes of a log, and the leaves that each should have brought a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import NODES, Flag, Kind, Pass
from graphscope.graph.words import edges

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_MOST_MARKS: Final = 64
"""A pass ends within so many rows behind its last node."""


@dataclass(frozen=True)
class BackwardPass:
    """A pass that has ended."""

    graph: Graph
    since: int
    """Where the pass before this one ended: its own forward pass begins there."""
    begin: int
    end: int
    last: int
    """The last node of it."""

    @cached_property
    def filled(self) -> dict[int, list[int]]:
        """By the leaves whose gradients have grown in it, as tensors: the rows of what was added."""
        log = self.graph.log
        rows = self.begin + np.flatnonzero(log.column("kind", self.begin, self.end) == Kind.ACCUMULATE)
        owners = log.pick("forward", rows).astype(np.int64)
        leaves = leaves_among(log, owners)
        tensors = log.pick("tensor", owners).tolist()
        found: dict[int, list[int]] = {}
        for row, tensor in zip(rows.tolist(), tensors, strict=True):
            if tensor in leaves:
                found.setdefault(tensor, []).append(row)
        return found

    @cached_property
    def left_out(self) -> list[int]:
        """Rows of the leaves that require grad and that ops took in, and whose gradients have not grown."""
        used = leaves_among(self.graph.log, _taken(self.graph.log, self.since, self.begin))
        return [row for tensor, row in sorted(used.items()) if tensor not in self.filled]


def _taken(log: Log, start: int, stop: int) -> np.ndarray:
    """The rows that ops of a stretch take in, where gradients are on."""
    return each_once(
        np.concatenate([np.zeros(0, np.int64), *(sources for _, sources in edges_with_gradients(log, start, stop))])
    )


def edges_with_gradients(
    log: Log, start: int | None = None, stop: int | None = None, *, also_off: bool = False
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The forward ops of a stretch for which gradients were on, and the rows that they take in; one entry an edge.

    Who takes `.data` wants no gradient: targets and averages of weights are kept so. `also_off` takes that as well, and
    ops for which gradients were off.
    """
    aside = (
        [] if also_off else [number for number in range(1, len(log.table("ops")) + 1) if log.op(number).name == "data"]
    )

    def taking(rows: np.ndarray) -> np.ndarray:
        ops = (rows["kind"] == Kind.OP) & (also_off | ((rows["flags"] & int(Flag.NO_GRAD)) == 0))
        return np.asarray(ops & (rows["graph_pass"] == Pass.FORWARD) & ~np.isin(rows["op"], aside))

    for users, sources in edges(log, taking, start, stop):
        others = log.pick("tensor", users) != log.pick("tensor", sources)  # it does not merely write into it
        yield users[others], sources[others]


def leaves_among(log: Log, rows: np.ndarray) -> dict[int, int]:
    """The leaves that require grad among some rows, as tensors with a row of each; or that an optimizer wrote there."""
    firsts = first_rows(log, each_once(rows))
    firsts = firsts[firsts >= 0]
    return dict(zip(log.pick("tensor", firsts).tolist(), firsts.tolist(), strict=True))


def first_rows(log: Log, rows: np.ndarray) -> np.ndarray:
    """For each row, that of the leaf that requires grad which it is, or which was written there; else -1.

    An optimizer wrote it there, or steps did that were not recorded.
    """
    kinds, flags = log.pick("kind", rows), log.pick("flags", rows)
    written = (kinds == Kind.OP) & ((flags & int(Flag.IN_PLACE)) != 0)
    firsts = np.where(written, log.pick("tensor", rows).astype(np.int64), rows)
    leaf = (log.pick("kind", firsts) == Kind.LEAF) & ((log.pick("flags", firsts) & int(Flag.REQUIRES_GRAD)) != 0)
    return np.where(leaf, firsts, -1)


def incomplete_passes(log: Log) -> Iterator[int]:
    """The last node of each backward pass that filled some leaves and left out one that its forward pass had used."""
    ends, size = _ends(log), log.end + 1
    used = [np.zeros(0, np.int64)]
    for rows, sources in edges_with_gradients(log):
        used.append(_keys(log, ends, size, rows, sources))
    added = log.where(lambda rows: rows["kind"] == Kind.ACCUMULATE)
    whole = _keys(log, ends, size, added, log.pick("forward", added).astype(np.int64))
    left_out = np.setdiff1d(np.concatenate(used), whole) // size
    yield from _last_nodes(log, ends, np.intersect1d(left_out, whole // size))


def _keys(log: Log, ends: np.ndarray, size: int, rows: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """One number for the pass that a row belongs to and the leaf beside it; none for what is no leaf."""
    firsts = first_rows(log, leaves)
    known = firsts >= 0
    tensors = log.pick("tensor", firsts[known]).astype(np.int64)
    keys: np.ndarray = each_once(np.searchsorted(ends, rows[known]) * size + tensors)
    return keys


def passes_of(log: Log, rows: np.ndarray) -> Iterator[int]:
    """The last node of each backward pass that some rows lie in."""
    ends = _ends(log)
    return _last_nodes(log, ends, each_once(np.searchsorted(ends, rows)))


def _ends(log: Log) -> np.ndarray:
    return log.marks(Kind.BACKWARD_END)


def _last_nodes(log: Log, ends: np.ndarray, places: np.ndarray) -> Iterator[int]:
    for end in ends[places[places < len(ends)]].tolist():
        last = _node_before(log, end)
        if last is not None:
            yield last


def pass_that_ends_with(graph: Graph, last: int) -> BackwardPass | None:
    """The backward pass whose last node is a row; None if none is."""
    ends = graph.index.marks(Kind.BACKWARD_END)
    place = int(np.searchsorted(ends, last))
    if place == len(ends) or _node_before(graph.log, int(ends[place])) != last:
        return None
    return _pass(graph, place, last)


def newest_pass(graph: Graph) -> BackwardPass | None:
    """The newest backward pass that has ended by the graph's `now`."""
    ends = graph.index.marks(Kind.BACKWARD_END)
    place = int(np.searchsorted(ends, graph.now + 1, side="right")) - 1  # it stands behind its last node
    last = None if place < 0 else _node_before(graph.log, int(ends[place]))
    return None if last is None else _pass(graph, place, last)


def _pass(graph: Graph, place: int, last: int) -> BackwardPass | None:
    ends, begins = graph.index.marks(Kind.BACKWARD_END), graph.index.marks(Kind.BACKWARD_BEGIN)
    end, since = int(ends[place]), int(ends[place - 1]) if place else graph.log.first
    first = int(np.searchsorted(begins, end)) - 1
    return BackwardPass(graph, since, int(begins[first]), end, last) if first >= 0 else None


def _node_before(log: Log, end: int) -> int | None:
    kinds = log.column("kind", end - _MOST_MARKS, end)
    nodes = np.flatnonzero(np.isin(kinds, NODES))
    return end - len(kinds) + int(nodes[-1]) if len(nodes) else None
