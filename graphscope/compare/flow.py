"""The values of a stretch of a log and how they flow: what a comparison reads of each of two runs.

A vertex is one output of a node. Those that the stretch takes in, as parameters, come first; then all is in the order
of the log, which is an order in which values were made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.copies import originals
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import INLINE_INPUTS, NODES, ROW_MASK, SLOT_SHIFT, Flag, Kind, Pass
from graphscope.graph import Graph

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node


_SMALL: Final = 1 << 10
"""Values of so many bytes are kept once they are read."""


class Neighbours:
    """Of each vertex the vertices that it is joined to, in one direction."""

    def __init__(self, owners: np.ndarray, others: np.ndarray, count: int) -> None:
        order = np.argsort(owners, kind="stable")
        self._starts = np.searchsorted(owners[order], np.arange(count + 1)).tolist()
        self._others = others[order].tolist()

    def __getitem__(self, vertex: int) -> Sequence[int]:
        found: list[int] = self._others[self._starts[vertex] : self._starts[vertex + 1]]
        return found


class Flow:
    """The values of the rows `start <= row < stop` of a log.

    Args:
        log: The log.
        start: The first row.
        stop: The row behind the last.
    """

    def __init__(self, log: Log, start: int, stop: int) -> None:
        self.log = log
        self.graph = Graph(log)
        self._values: dict[int, np.ndarray | None] = {}
        rows, owners, sources, slots = _edges(log, start, stop)
        rows, sources = rows[originals(log, rows) == rows], originals(log, sources)
        again = _versions(log, self.graph, rows)
        owners, sources = np.concatenate([owners, again[:, 0]]), np.concatenate([sources, again[:, 1]])
        slots = np.concatenate([slots, np.zeros(len(again), np.int64)])
        outside = each_once(sources[sources < start]) if len(sources) else np.zeros(0, np.int64)
        outside = outside[np.isin(log.pick("kind", outside), [int(kind) for kind in NODES])]
        nodes = np.concatenate([outside, rows])
        several = log.pick("several", nodes) != 0
        sizes = np.ones(len(nodes), np.int64)
        for place in np.flatnonzero(several).tolist():
            sizes[place] = max(len(log.outputs(int(nodes[place]))), 1)
        self._first = np.cumsum(sizes) - sizes
        self._nodes = nodes
        self.sources = int(sizes[: len(outside)].sum())
        """So many vertices were made ahead of the stretch."""
        self.rows: np.ndarray = np.repeat(nodes, sizes)
        self.slots: np.ndarray = np.arange(len(self.rows)) - np.repeat(self._first, sizes)
        self.kinds: np.ndarray = log.pick("kind", self.rows)
        self.flags: np.ndarray = log.pick("flags", self.rows).astype(np.int64)
        self.forward: np.ndarray = originals(log, log.pick("forward", self.rows).astype(np.int64))
        self.is_backward: np.ndarray = (log.pick("graph_pass", self.rows) == Pass.BACKWARD) & (self.kinds != Kind.LEAF)
        owners, others = self._joined(owners, sources, slots, sizes)
        self.inputs = Neighbours(owners, others, len(self.rows))
        self.users = Neighbours(others, owners, len(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def _joined(
        self, owners: np.ndarray, sources: np.ndarray, slots: np.ndarray, sizes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The edges between vertices. All outputs of a node have its inputs; a slot of a backward node is no output."""
        place = np.searchsorted(self._nodes, sources)
        place = np.minimum(place, max(len(self._nodes) - 1, 0))
        known = self._nodes[place] == sources if len(self._nodes) else np.zeros(0, bool)
        owners, place, slots = owners[known], place[known], slots[known]
        own = np.searchsorted(self._nodes, owners)
        is_output = ~np.isin(self.kinds[self._first[place]], (int(Kind.GRAD), int(Kind.ACCUMULATE)))
        others = self._first[place] + np.where(is_output, np.minimum(slots, sizes[place] - 1), 0)
        repeats = sizes[own]
        before = np.cumsum(repeats) - repeats
        within = np.arange(int(repeats.sum())) - np.repeat(before, repeats)
        return np.repeat(self._first[own], repeats) + within, np.repeat(others, repeats)

    # Single vertices --------------------------------------------------------------------------------------------------

    def vertex(self, row: int, slot: int = 0) -> int | None:
        """The vertex of an output; None where it is not of this stretch."""
        place = int(np.searchsorted(self._nodes, row))
        if place == len(self._nodes) or self._nodes[place] != row:
            return None
        return int(self._first[place]) + slot

    def node(self, vertex: int) -> Node:
        """The node that made it."""
        return self.graph.node(int(self.rows[vertex]))

    def value(self, vertex: int) -> np.ndarray | None:
        """The value that the program went on with; None where it was not kept."""
        if vertex in self._values:
            return self._values[vertex]
        row, slot = int(self.rows[vertex]), int(self.slots[vertex])
        found = self.log.value(row, slot) if slot else self.log.value(self.graph.value_row(row))
        if found is None or found.nbytes <= _SMALL:
            self._values[vertex] = found
        return found

    def shape(self, vertex: int) -> tuple[int, ...]:
        """Its shape."""
        return self._outputs[vertex][0]

    def dtype(self, vertex: int) -> str:
        """Its dtype by name."""
        return self._outputs[vertex][1]

    @cached_property
    def _outputs(self) -> list[tuple[tuple[int, ...], str]]:
        log = self.log
        return [log.outputs(row)[slot] for row, slot in zip(self.rows.tolist(), self.slots.tolist(), strict=True)]

    @cached_property
    def counts(self) -> np.ndarray:
        """How many elements each vertex has."""
        return np.array([math.prod(shape) for shape, _ in self._outputs], np.int64)

    @cached_property
    def is_floating(self) -> np.ndarray:
        """Which vertices are of numbers that are rounded."""
        return np.array(["float" in dtype or "complex" in dtype for _, dtype in self._outputs], bool)

    @cached_property
    def ops(self) -> list[str]:
        """What made each vertex."""
        names: dict[tuple[int, int, int], str] = {}
        numbers, attrs = self.log.pick("op", self.rows).tolist(), self.log.pick("attrs", self.rows).tolist()
        found = []
        for vertex, key in enumerate(zip(self.kinds.tolist(), numbers, attrs, strict=True)):
            if key not in names:
                names[key] = self.node(vertex).op
            found.append(names[key])
        return found

    @cached_property
    def roots(self) -> list[int]:
        """The vertices that backward passes begin from, in order."""
        found = []
        start = int(self._nodes[0]) if len(self._nodes) else 0
        for mark in self.log.marks(Kind.BACKWARD_BEGIN, start=start).tolist():
            for row, slot in self.log.inputs(mark)[:1]:
                vertex = self.vertex(row, slot)
                if vertex is not None and vertex not in found:
                    found.append(vertex)
        return found

    @cached_property
    def tensors(self) -> np.ndarray:
        """The number of the tensor that each vertex is a version of."""
        found: np.ndarray = self.log.pick("tensor", self.rows).astype(np.int64)
        return found

    @cached_property
    def is_given(self) -> np.ndarray:
        """Which vertices the stretch takes in: leaves, and what was made ahead of it."""
        found: np.ndarray = (self.kinds == Kind.LEAF) | (np.arange(len(self)) < self.sources)
        return found

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Which vertices the program was given, or made ahead of all: leaves, and what gathers a gradient like one."""
        found = self.is_given.copy()
        found[list(self.gathered)] = True
        return found

    @cached_property
    def gathered(self) -> dict[int, list[int]]:
        """By vertex, what backward passes add to its gradient and leave there; of a leaf that they add nothing to,
        what they hand to the program.
        """
        found = self._left(np.flatnonzero(self.kinds == Kind.ACCUMULATE))
        handed = self._left(np.flatnonzero((self.kinds == Kind.GRAD) & np.isin(self.ops, "grad")))
        return {**{owner: vertices for owner, vertices in handed.items() if self.is_given[owner]}, **found}

    def _left(self, vertices: np.ndarray) -> dict[int, list[int]]:
        """Gradients that nothing of the stretch uses, by the vertex that they are of."""
        found: dict[int, list[int]] = {}
        for vertex in vertices.tolist():
            owner = None if self.users[vertex] else self.vertex(int(self.forward[vertex]))
            if owner is not None:
                found.setdefault(owner, []).append(vertex)
        return found

    @cached_property
    def gradients(self) -> dict[int, list[int]]:
        """The backward vertices that belong to each vertex."""
        found: dict[int, list[int]] = {}
        for vertex in np.flatnonzero(self.is_backward).tolist():
            owner = self.vertex(int(self.forward[vertex]))
            if owner is not None:
                found.setdefault(owner, []).append(vertex)
        return found

    @cached_property
    def places(self) -> np.ndarray:
        """Where each vertex stands: its own place, of a leaf that of its first use."""
        found = np.arange(len(self))
        for vertex in np.flatnonzero(self.is_leaf).tolist():
            found[vertex] = min((user for user in self.users[vertex] if user > vertex), default=vertex)
        return found

    @cached_property
    def ends(self) -> list[int]:
        """What the forward pass is run for: what backward passes begin from, else the last that nothing uses."""
        ends = np.flatnonzero((self.kinds == Kind.OP) & self.is_floating & ~self.is_backward).tolist()
        return self.roots or [vertex for vertex in ends if not self.users[vertex]][-1:]

    @cached_property
    def reaching(self) -> np.ndarray:
        """Which vertices one of the ends is computed from."""
        found = np.zeros(len(self), bool)
        border = [*self.ends]
        found[border] = True
        while border:
            for source in self.inputs[border.pop()]:
                if not found[source]:
                    found[source] = True
                    border.append(source)
        return found


def _edges(log: Log, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rows of nodes of a stretch; of each of their inputs the owner, and the row and slot that it comes from."""
    nodes, parts = [np.zeros(0, np.int64)], [(np.zeros(0, np.int64),) * 3]
    for first, rows in log.chunks(start, stop):
        kinds, flags = rows["kind"], rows["flags"]
        own = (kinds >= min(NODES)) & (kinds <= max(NODES)) & ((flags & int(Flag.FAILED)) == 0)
        nodes.append(first + np.flatnonzero(own))
        beside = (flags & int(Flag.EDGES)) != 0
        for place in range(INLINE_INPUTS):
            which = np.flatnonzero(own & ~beside & (rows["input_count"] > place))
            named = rows["inputs"][which, place]
            sources = (named & np.uint64(ROW_MASK)).astype(np.int64)
            parts.append((first + which, sources, (named >> np.uint64(SLOT_SHIFT)).astype(np.int64)))
        for place in np.flatnonzero(own & beside).tolist():
            pairs = np.array(log.inputs(first + place), np.int64).reshape(-1, 2)
            parts.append((np.full(len(pairs), first + place), pairs[:, 0], pairs[:, 1]))
    owners, sources, slots = (np.concatenate([part[field] for part in parts]) for field in range(3))
    # Only what stands ahead: a damaged row may name any.
    sound = sources < owners
    return np.concatenate(nodes), owners[sound], sources[sound], slots[sound]


def _versions(log: Log, graph: Graph, rows: np.ndarray) -> np.ndarray:
    """Leaves that a log tells again because the program had written into them, each with the row that wrote last."""
    leaves = rows[log.pick("kind", rows) == Kind.LEAF]
    tensors = log.pick("tensor", leaves).astype(np.int64)
    found = []
    for row, tensor in zip(leaves[tensors < leaves].tolist(), tensors[tensors < leaves].tolist(), strict=True):
        versions = graph.index.versions(tensor, row)
        if versions:
            found.append((row, versions[-1]))
    return np.array(found, np.int64).reshape(-1, 2)
