"""Which vertices of two flows belong together: what the steps of the alignment write down, and later ones build on."""

from __future__ import annotations

from typing import Final

import numpy as np

from graphscope.compare.fingerprints import Fingerprints
from graphscope.compare.flow import Flow
from graphscope.compare.layouts import in_one_order, may_hold_the_same

NONE: Final = -1
"""In place of a vertex: there is none."""


class Run:
    """One of the two runs, and what of the other belongs to it."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.prints = Fingerprints(flow)
        self.mates: np.ndarray = np.full(len(flow), NONE, np.int64)
        """Of each vertex the one of the other side that belongs to it, and to which it belongs."""
        self.echoes: np.ndarray = np.full(len(flow), NONE, np.int64)
        """Of a vertex without one, a vertex of the other side that holds the same numbers and belongs to another."""
        self.by_value: np.ndarray = np.zeros(len(flow), bool)
        """Of which vertices the mate was found by its numbers, be they in another order."""

    @property
    def ends_are_unseen(self) -> bool:
        """Whether it ends in what no log can tell, as what is computed for all samples at once."""
        return bool(self.flow.ends) and not self.prints.known[self.flow.ends].any()

    def counterpart(self, vertex: int) -> int:
        """Its mate or else its echo."""
        mate = int(self.mates[vertex])
        return mate if mate != NONE else int(self.echoes[vertex])


class Alignment:
    """Two flows and the vertices that belong together."""

    def __init__(self, a: Flow, b: Flow) -> None:
        self.a = Run(a)
        self.b = Run(b)

    def pair(self, a: int, b: int, *, by_value: bool = False) -> None:
        """Let two vertices belong together, and no longer to what they belonged to."""
        for (run, other), vertex, mate in zip(self.sides, (a, b), (b, a), strict=True):
            before = int(run.mates[vertex])
            if before not in (NONE, mate):
                other.mates[before] = NONE
                other.echoes[before] = vertex
            run.by_value[vertex] = by_value or (before == mate and run.by_value[vertex])
            run.mates[vertex] = mate

    @property
    def sides(self) -> tuple[tuple[Run, Run], tuple[Run, Run]]:
        """Each side with the other."""
        return (self.a, self.b), (self.b, self.a)

    def values(self, a: int, b: int, tolerance: float) -> tuple[np.ndarray, np.ndarray] | None:
        """The numbers of two vertices in one order; None where they don't agree that well in any, or are not there."""
        one, other = self.a.flow.value(a), self.b.flow.value(b)
        if one is None or other is None:
            return None
        return in_one_order(one, other, tolerance)

    def hold_the_same(self, a: int, b: int, tolerance: float) -> bool:
        """Whether two vertices hold the same numbers in some order; by their statistics where that is all there is."""
        one, other = self.a.flow.value(a), self.b.flow.value(b)
        return one is None or other is None or may_hold_the_same(one, other, tolerance)
