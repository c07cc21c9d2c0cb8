"""The steps of optimizers, each as one box: what it did to every parameter is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.outline.facts import parameters_of
from graphscope.graph.outline.optimizing import optimized
from graphscope.graph.outline.steps import steps
from graphscope.graph.passes.merge import facts
from graphscope.graph.passes.whole import whole
from graphscope.graph.training import training
from graphscope.graph.view import ViewNode

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph


def ends_of_updates(log: Log, rows: np.ndarray) -> np.ndarray:
    """For each of some rows, ascending, where the optimizer's step ends that it is of; 0 for what is of none."""
    if len(rows) == 0:
        return np.zeros(0, np.int64)
    ends, _ = optimized(log, steps(log), int(rows[0]), int(rows[-1]) + 1)
    found: np.ndarray = ends[rows - rows[0]]
    return found


def update_boxes(graph: Graph, rows: np.ndarray, ends: np.ndarray) -> tuple[ViewNode, ...]:
    """A box for each optimizer's step, which says how many parameters it changed.

    That it takes all gradients and changes all weights needs no arrows, which would lead through the whole picture.
    """
    return tuple(_box(graph, rows[ends == end]) for end in np.unique(ends[ends > 0]).tolist())


def _box(graph: Graph, rows: np.ndarray) -> ViewNode:
    nodes = whole(graph, nodes=map(graph.node, rows.tolist())).nodes
    count, _ = parameters_of(graph.log, int(rows[0]), int(rows[-1]))
    return ViewNode(
        f"u{rows[0]}",
        tuple(rows.tolist()),
        "scope",
        _type(graph.log, int(rows[-1])) or "optimizer",
        op=f"{count:,} parameter{'s' if count != 1 else ''}",
        site=nodes[-1].site,
        **{**facts(nodes), "parameter": False, "in_place": False, "requires_grad": False},
    )


def _type(log: Log, row: int) -> str:
    """The class of the optimizer whose step a row is of."""
    known = training(log)
    marks = known.rows("step")
    following = marks[marks >= row][:1]
    if len(following) == 0:
        return ""
    found = known.optimizers.get(known.call(int(following[0])).owner)
    return "" if found is None else found.type
