"""The loss and the size of the gradient in each backward pass, and the memory that was held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph.outline import facts
from graphscope.graph.reading import once_a_length
from graphscope.tui.timeline.lines import Course, Held, Line

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph
    from graphscope.graph.memory import Memory
    from graphscope.graph.outline import Steps

POINTS: Final = 120
"""So many passes are looked at; of more, a sample."""


@dataclass(frozen=True)
class Curves:
    """Points of curves: rows and what was there, None where that was not kept."""

    rows: list[int]
    losses: list[float | None]
    norms: list[float | None]
    """The norm of all gradients of leaves that the pass made."""
    memory: Memory | None = None
    """None where that was not recorded."""

    @property
    def held(self) -> Held | None:
        """The line of what was held."""
        peak = None if self.memory is None else self.memory.peak
        return None if self.memory is None or peak is None else Held(self.memory, peak)

    def lines(self, room: int) -> list[Line]:
        """So many of the lines, those that tell most; what was held is one of them wherever it is known."""
        ends: list[Line] = [] if self.held is None else [self.held]
        courses = [Course("loss", self._points(self.losses)), Course("norm", self._points(self.norms))]
        return [*courses[: max(room - len(ends), 0)], *ends][:room]

    def _points(self, values: list[float | None]) -> list[tuple[int, float]]:
        return [(row, value) for row, value in zip(self.rows, values, strict=True) if value is not None]


def curves_of(graph: Graph, steps: Steps, first: int, stop: int) -> Curves:
    """The curves of the rows `first <= row < stop`, and one point beyond at the left; with what a person has edited."""
    from graphscope.graph.memory import memory  # curves are looked for when the first picture is drawn

    low, high = np.searchsorted(steps.begins, (first, stop))
    places = np.arange(max(int(low) - 1, 0), high)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), POINTS)).astype(int))]
    made = Curves([], [], [], memory(graph.log))
    known = _known(graph.log)
    for place in chosen.tolist():
        begin, end = int(steps.begins[place]), int(steps.ends[place])
        if (begin, end) not in known:
            known[begin, end] = facts.loss_of(graph, begin), facts.gradient_norm(graph, begin, end)
        loss, norm = known[begin, end]
        made.rows.append(begin)
        made.losses.append(loss)
        made.norms.append(norm)
    return made


@once_a_length
def _known(log: Log) -> dict[tuple[int, int], tuple[float | None, float | None]]:
    """Loss and norm of passes by where they begin and end, of those that were measured: one zooms in and out again."""
    return {}
