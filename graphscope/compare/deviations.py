"""How far off the vertices of two runs are: as they were measured, else as their inputs let expect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.alignment import NONE, Run
from graphscope.compare.errors import MARGIN, allowed, expected, saved
from graphscope.compare.rounding import PRECISION, Allowed, Deviation, roundoff
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.graph import Node

_CANCELLING: Final = frozenset({"add", "sub", "rsub"})
"""Ops that may leave little of what they are given."""
_MANY: Final = 40_000
"""Of more vertices it is told by sizes alone how far off those without a counterpart are likely to be."""


class Deviations:
    """How far off each vertex of both runs is; they are to be asked for in the order of the log."""

    def __init__(self, a: Run, b: Run) -> None:
        self._runs = a, b
        self._is_long = len(a.flow) + len(b.flow) > _MANY
        self.found: list[list[Deviation | None]] = [[None] * len(run.flow) for run in self._runs]
        self.dtypes = [[run.flow.dtype(vertex) for vertex in range(len(run.flow))] for run in self._runs]
        """The coarsest dtype on the way to each vertex that is the program's choice for both runs."""
        made = [
            {run.flow.dtype(each) for each in np.flatnonzero(run.flow.kinds == Kind.OP).tolist()} for run in self._runs
        ]
        self._used = made[0] & made[1]
        """The dtypes in which both runs compute."""

    def arrive(self, which: int, vertex: int) -> None:
        """Note what the inputs of a vertex let expect of it, ahead of all that is known of itself."""
        run, flow = self._runs[which], self._runs[which].flow
        if flow.is_given[vertex]:
            return
        dtypes, found = self.dtypes[which], self.found[which]
        known = [dtypes[source] for source in flow.inputs[vertex] if dtypes[source] in PRECISION]
        known += [dtypes[vertex]] if known and dtypes[vertex] in self._used else []
        if known and dtypes[vertex] in PRECISION:
            dtypes[vertex] = min(known, key=PRECISION.__getitem__)
        if run.counterpart(vertex) == NONE and dtypes[vertex] in PRECISION:
            likely = self._by_sizes(which, vertex) if self._is_long else self._by_rule(which, vertex)
            found[vertex] = likely if likely.size and likely.largest else None
        elif found[vertex] is None:
            arrived = max((each.relative for each in self._inputs(which, vertex) if each is not None), default=0.0)
            if arrived and np.isfinite(arrived):
                found[vertex] = Deviation(1, 1.0, 2 * arrived, arrived)

    def allowed(self, which: int, vertex: int, *dtypes: str) -> Allowed:
        """How far off a vertex may be that comes of these inputs, by the rule of its op."""
        node, slot, forward = self._node(which, vertex)
        return allowed(node, self._inputs(which, vertex), *dtypes, slot=slot, forward=forward)

    def _by_rule(self, which: int, vertex: int) -> Deviation:
        """How far off a vertex without a counterpart is likely to be, by the rule of its op."""
        node, slot, forward = self._node(which, vertex)
        dtype = self.dtypes[which][vertex]
        return expected(node, self._inputs(which, vertex), dtype, slot=slot, forward=forward)

    def _by_sizes(self, which: int, vertex: int) -> Deviation:
        """The same by sizes alone, where there are so many vertices that none can be looked at for long."""
        run = self._runs[which]
        sizes, size = run.prints.sizes, float(run.prints.sizes[vertex])
        inputs = zip(run.flow.inputs[vertex], self._inputs(which, vertex), strict=True)
        known = [(each.relative, float(sizes[source])) for source, each in inputs if each is not None]
        arrived = sum(relative for relative, _ in known)
        if run.flow.ops[vertex].rstrip("_") in _CANCELLING and size:
            arrived = sum(relative * of for relative, of in known) / size
        likely = (min(arrived, 1.0) + 4 * roundoff(self.dtypes[which][vertex])) * size
        return Deviation(1, size, MARGIN * likely, likely)

    def _inputs(self, which: int, vertex: int) -> Sequence[Deviation | None]:
        return [self.found[which][source] for source in self._runs[which].flow.inputs[vertex]]

    def _node(self, which: int, vertex: int) -> tuple[Node, int, Sequence[Deviation | None]]:
        """The node that made a vertex, the slot, and how the values of forward differ that its rule used."""
        flow = self._runs[which].flow
        node = flow.node(vertex)
        known = (flow.vertex(*each) for each in saved(node))
        return node, int(flow.slots[vertex]), [self.found[which][each] for each in known if each is not None]
