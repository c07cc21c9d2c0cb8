"""The backward passes of a log, and the leaves that each should have brought a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.gradient_paths import leaf_of
from graphscope.eventlog.schema import NODES, Flag, Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_NEAR: Final = 64
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
    def filled(self) -> dict[int, int]:
        """The leaves whose gradients have grown in it, as tensors with a row of each."""
        log = self.graph.log
        owners = log.column("forward", self.begin, self.end)[self._kinds == Kind.ACCUMULATE]
        return self._leaves(np.unique(owners).tolist(), self.end)

    @cached_property
    def left_out(self) -> list[int]:
        """Rows of the leaves that require grad and that ops took in, and whose gradients have not grown."""
        log = self.graph.log
        kinds, flags = log.column("kind", self.since, self.begin), log.column("flags", self.since, self.begin)
        rows = self.since + np.flatnonzero((kinds == Kind.OP) & ((flags & int(Flag.NO_GRAD)) == 0))
        sources = {source for row in rows.tolist() for source, _ in log.inputs(row)}
        used = self._leaves(sorted(sources), self.begin)
        return [row for tensor, row in sorted(used.items()) if tensor not in self.filled]

    @cached_property
    def _kinds(self) -> np.ndarray:
        return self.graph.log.column("kind", self.begin, self.end)

    def _leaves(self, rows: list[int], stop: int) -> dict[int, int]:
        index, first = self.graph.index, self.graph.log.first
        found = (leaf_of(self.graph, index.event(row)) for row in rows if first <= row < stop)
        return {leaf.tensor: leaf.row for leaf in found if leaf is not None and leaf.flags & Flag.REQUIRES_GRAD}


def last_nodes(log: Log) -> Iterator[int]:
    """The last node of each backward pass."""
    for mark in log.rare().tolist():
        if log.event(mark).kind == Kind.BACKWARD_END:
            kinds = log.column("kind", max(mark - _NEAR, log.first), mark)
            nodes = np.flatnonzero(np.isin(kinds, NODES))
            if len(nodes):
                yield mark - len(kinds) + int(nodes[-1])


def pass_that_ends_with(graph: Graph, last: int) -> BackwardPass | None:
    """The backward pass whose last node is a row; None if none is."""
    log = graph.log
    kinds = log.column("kind", last + 1, min(last + 1 + _NEAR, log.end))
    found = np.flatnonzero((kinds == Kind.BACKWARD_END) | np.isin(kinds, NODES))
    if len(found) == 0 or kinds[found[0]] != Kind.BACKWARD_END:
        return None
    end = last + 1 + int(found[0])
    since, begin = log.first, None
    marks = log.rare()
    for mark in marks[marks < end][::-1].tolist():
        kind = log.event(mark).kind
        if kind == Kind.BACKWARD_BEGIN and begin is None:
            begin = mark
        elif kind == Kind.BACKWARD_END:
            since = mark
            break
    return None if begin is None else BackwardPass(graph, since, begin, end, last)


def newest_pass(graph: Graph) -> BackwardPass | None:
    """The newest backward pass that has ended by the graph's `now`."""
    marks = graph.log.rare()
    for mark in marks[marks <= graph.now + 1][::-1].tolist():  # the end of a pass stands behind its last node
        if graph.log.event(mark).kind == Kind.BACKWARD_END:
            kinds = graph.log.column("kind", max(mark - _NEAR, graph.log.first), mark)
            nodes = np.flatnonzero(np.isin(kinds, NODES))
            return pass_that_ends_with(graph, mark - len(kinds) + int(nodes[-1])) if len(nodes) else None
    return None
