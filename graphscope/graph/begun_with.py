"""The gradient that the program gave a backward pass to begin with, where it is a value of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.given_gradients import given_gradients
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.graph.node import Node


def begun_with(node: Node) -> Node | None:
    """The value that was given as a gradient: `g` of `y.backward(g)`.

    Args:
        node: The first of the backward pass, `y`'s own rule or what is added to its gradient.

    Returns:
        None of a node that another one feeds, of a pass that began with ones, and where the log does not tell.
    """
    if node.kind not in ("grad", "accumulate") or node.inputs or node.forward is None:
        return None
    graph = node.graph
    begins = graph.index.marks(Kind.BACKWARD_BEGIN)
    place = int(np.searchsorted(begins, node.row))
    if not place:
        return None
    begin = int(begins[place - 1])
    roots = [row for row, _ in graph.log.inputs(begin)]
    given = given_gradients(graph.log, begin)
    if node.forward.row not in roots or len(given) != len(roots):
        return None
    row = given[roots.index(node.forward.row)]
    return graph.node(row) if graph.log.first <= row < begin else None
