"""The stretches of a run of which a page shows one at a time: its training steps, and what lies around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.exporters.page.node_columns import rows_of
from graphscope.graph.outline.facts import of_step
from graphscope.graph.outline.steps import Steps, steps
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph
    from graphscope.graph.view import GraphView

__all__ = ["Section", "places", "sections"]


@dataclass(frozen=True, slots=True)
class Section:
    """Rows `first <= row <= last`."""

    title: str
    first: int
    last: int
    is_step: bool = False
    loss: float | None = None
    norm: float | None = None
    """The 2-norm of all gradients of leaves."""
    rate: float | None = None
    """The learning rate."""
    root: int = -1
    """The row that its last backward pass began from; -1 where it has none."""


def sections(view: GraphView) -> list[Section]:
    """The sections that nodes of a view lie in, in the order of the log; one where the log tells of no steps."""
    rows = rows_of(view)
    end = int(rows.max(initial=0))
    if view.graph is None:
        return [Section("graph", 0, end)]
    told = steps(view.graph.log)
    if not len(told):
        return [Section("run", 0, end, root=_root(view.graph, told.begins))]
    start, behind = int(told.first[0]), int(told.last[-1]) + 1
    begins = np.append(start, told.last + 1)  # what lies between two steps belongs to the next
    inside = rows[(rows >= start) & (rows < behind)]
    drawn = each_once(np.searchsorted(told.last, inside)).tolist()
    found = [_step(view.graph, told, place, int(begins[place]), int(told.last[place])) for place in drawn]
    around = [Section("before the first step", 0, start - 1), Section("after the last step", behind, end)]
    found += [each for each in around if ((rows >= each.first) & (rows <= each.last)).any()]
    return sorted(found, key=lambda each: each.first)


def places(found: list[Section], rows: np.ndarray) -> np.ndarray:
    """The section of each row."""
    return np.minimum(np.searchsorted([each.last for each in found], rows), max(len(found) - 1, 0))


def _step(graph: Graph, told: Steps, place: int, first: int, last: int) -> Section:
    passes = told.passes_of(place)
    begins = told.begins[passes.start : passes.stop]
    called = step_numbers(graph.log).number(place)
    loss, norm, rate = of_step(graph, first, min(last, graph.log.end - 1), begins, called.count)
    return Section(str(called), first, last, True, loss, norm, rate, _root(graph, begins))


def _root(graph: Graph, begins: np.ndarray) -> int:
    inputs = graph.log.inputs(int(begins[-1])) if len(begins) else ()
    return inputs[0][0] if inputs else -1
