"""Which vertices of each side agree with what belongs to them on the other, as far as rounding goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.alignment import NONE, Alignment
from graphscope.compare.anchors import LOOSE
from graphscope.compare.errors import allowed
from graphscope.compare.rounding import Allowed, Deviation, agree, deviation, roundoff, statistics_agree
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run

ALONE: Final = 0
"""Nothing of the other side belongs to it."""
AGREES: Final = 1
DIFFERS: Final = 2
_EQUAL: Final = Deviation(1, 1.0, 0.0, 0.0)


class Judgement:
    """Of each vertex of both sides whether it agrees, and how far off it is.

    The vertices of both sides are judged in the order of the log, so that how far the inputs are apart is known.
    """

    def __init__(self, alignment: Alignment) -> None:
        self.alignment = alignment
        self.states: tuple[np.ndarray, np.ndarray] = (
            np.full(len(alignment.a.flow), ALONE, np.uint8),
            np.full(len(alignment.b.flow), ALONE, np.uint8),
        )
        self._found: tuple[list[Deviation | None], list[Deviation | None]] = (
            [None] * len(alignment.a.flow),
            [None] * len(alignment.b.flow),
        )
        self._judge_all()

    def _judge_all(self) -> None:
        a, b = self.alignment.a, self.alignment.b
        done = 0
        for vertex in range(len(a.flow)):
            mate = a.counterpart(vertex)
            while done <= mate:  # what b computed until then
                self._estimate(1, b, done)
                done += 1
            if mate == NONE:
                self._estimate(0, a, vertex)
            else:
                self._judge(vertex, mate, a.mates[vertex] != NONE)
        for vertex in range(done, len(b.flow)):
            self._estimate(1, b, vertex)
        for vertex in np.flatnonzero((b.mates == NONE) & (b.echoes != NONE)).tolist():
            self._judge(int(b.echoes[vertex]), vertex, False, which=1)

    def _estimate(self, which: int, side: Run, vertex: int) -> None:
        """What rounding may have made of a vertex that nothing is known of yet."""
        if self._found[which][vertex] is None and side.flow.kinds[vertex] == Kind.OP and vertex >= side.flow.sources:
            inputs = self._inputs(which, side, vertex)
            arrived = max((each.relative for each in inputs if each is not None), default=0.0)
            if arrived and np.isfinite(arrived):
                self._found[which][vertex] = Deviation(1, 1.0, 2 * arrived, arrived)

    def _inputs(self, which: int, side: Run, vertex: int) -> Sequence[Deviation | None]:
        return [self._found[which][source] for source in side.flow.inputs[vertex]]

    def _judge(self, one: int, other: int, mutual: bool, which: int = 0) -> None:
        found = self._fine(one, other)
        state = AGREES if found is not None else DIFFERS
        if mutual or state == AGREES:
            for side, vertex in ((0, one), (1, other)):
                if mutual or side == which:
                    self.states[side][vertex] = state
                    self._found[side][vertex] = found or self._found[side][vertex]

    def _fine(self, one: int, other: int) -> Deviation | None:
        """How far apart two vertices are that are the same up to rounding; None where they are not the same."""
        a, b = self.alignment.a, self.alignment.b
        values = a.flow.value(one), b.flow.value(other)
        if values[0] is None or values[1] is None:
            return self._fine_as_statistics(one, other)
        ordered = self.alignment.values(one, other, LOOSE)
        if ordered is None or values[0].shape == values[1].shape:
            ordered = (values[0], values[1]) if values[0].size == values[1].size else None
        if ordered is None:
            return None
        found = deviation(*ordered) if ordered[0].dtype.kind in "fciub" else None
        if found is None:
            return None
        if found.largest == 0:
            return found
        return found if any(agree(*ordered, each) for each in self._allowed(one, other)) else None

    def _fine_as_statistics(self, one: int, other: int) -> Deviation | None:
        a, b = self.alignment.a, self.alignment.b
        if a.flow.counts[one] != b.flow.counts[other]:
            return None
        if not (a.prints.known[one] and b.prints.known[other]):
            return _EQUAL
        statistics = a.prints.summary(one), b.prints.summary(other)
        agreeing = any(statistics_agree(*statistics, each) is not False for each in self._allowed(one, other))
        return _EQUAL if agreeing else None

    def _allowed(self, one: int, other: int) -> list[Allowed]:
        """What rounding may do on the way of either side."""
        a, b = self.alignment.a, self.alignment.b
        dtypes = a.flow.dtype(one), b.flow.dtype(other)
        found = []
        for which, side, vertex in ((0, a, one), (1, b, other)):
            if side.flow.kinds[vertex] == Kind.LEAF or vertex < side.flow.sources:
                unit = roundoff(*dtypes)
                scale = float(side.prints.scales[vertex])
                found.append(Allowed(4 * unit * scale, 4 * unit, 4 * unit))
            else:
                inputs = self._inputs(which, side, vertex)
                found.append(allowed(side.flow.node(vertex), inputs, *dtypes))
        return found
