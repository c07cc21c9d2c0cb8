"""The steps of optimizers, and the clipping of gradients, each as one box: what it does to every tensor is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.outline.facts import parameters_of
from graphscope.graph.outline.optimizing import optimized
from graphscope.graph.outline.origins import origins
from graphscope.graph.outline.steps import steps
from graphscope.graph.passes.merge import facts
from graphscope.graph.passes.whole import whole
from graphscope.graph.training import CLIPS, Training, training
from graphscope.graph.view import ViewNode

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph


def ends_of_updates(log: Log, rows: np.ndarray) -> np.ndarray:
    """For each of some rows, ascending, where the optimizer's step ends that it is of, or the clipping ahead of it.

    0 for what is of neither.
    """
    if len(rows) == 0:
        return np.zeros(0, np.int64)
    ends, _ = optimized(log, steps(log), int(rows[0]), int(rows[-1]) + 1)
    found: np.ndarray = ends[rows - rows[0]]
    callers = origins(log).callers
    sites = np.minimum(log.pick("site", rows), len(callers) - 1)
    lines = np.where(callers[sites] > 0, callers[sites], sites)
    for mark in training(log).rows(*CLIPS).tolist():
        last = int(np.searchsorted(rows, mark))
        first = last
        while first > 0 and lines[first - 1] == lines[last - 1] > 0:
            first -= 1
        found[first:last] = mark + 1
    return found


def update_boxes(graph: Graph, rows: np.ndarray, ends: np.ndarray) -> tuple[ViewNode, ...]:
    """A box for each optimizer's step, and for each clipping, which says how many tensors it changed.

    That it takes all gradients and changes all weights needs no arrows, which would lead through the whole picture.
    """
    return tuple(_box(graph, rows[ends == end], end - 1) for end in np.unique(ends[ends > 0]).tolist())


def _box(graph: Graph, rows: np.ndarray, mark: int) -> ViewNode:
    nodes = whole(graph, rows=rows).nodes
    count, _ = parameters_of(graph.log, int(rows[0]), int(rows[-1]))
    known = training(graph.log)
    is_clipping = mark in known.rows(*CLIPS)
    noun = "gradient" if is_clipping else "parameter"
    return ViewNode(
        f"u{rows[0]}",
        tuple(rows.tolist()),
        "scope",
        known.call(mark).name if is_clipping else _type(known, int(rows[-1])) or "optimizer",
        op=f"{count:,} {noun}{'s' if count != 1 else ''}",
        site=nodes[-1].site,
        **{**facts(nodes), "parameter": False, "in_place": False, "requires_grad": False},
    )


def _type(known: Training, row: int) -> str:
    """The class of the optimizer whose step a row is of."""
    marks = known.rows("step")
    following = marks[marks >= row][:1]
    if len(following) == 0:
        return ""
    found = known.optimizers.get(known.call(int(following[0])).owner)
    return "" if found is None else found.type
