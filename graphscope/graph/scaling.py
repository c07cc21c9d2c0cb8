"""Losses that are scaled up for half precision: which backward passes begin with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node

_LOOK: Final = "_amp_foreach_non_finite_check_and_unscale_"
"""The op by which a GradScaler looks for overflow in gradients."""

SCALE_UPDATE: Final = "_amp_update_scale_"
"""The op by which a GradScaler changes its scale."""

SCALED_BY: Final = "mul"
"""The op by which it scales a loss."""


def is_scaled(node: Node) -> bool:
    """Whether a node is a loss that was multiplied by the scale of a GradScaler, or part of the backward pass of one.

    Such a pass may overflow: the scaler looks for it, leaves the step out and takes a smaller scale.
    """
    graph = node.graph
    if node.kind == "leaf":  # a gradient that no recorded pass brought
        users = graph.index.using(node.row, graph.log.end)
        return any(graph.log.op(graph.index.event(user).op).name == _LOOK for user in users)
    if node.graph_pass == "forward":
        return _is_scaled_loss(graph, node.row)
    begin = _pass_of(graph, node.row)
    if begin is None:
        return False
    root = next((row for row, _ in graph.log.inputs(begin)), -1)
    return graph.log.holds(root) and root < begin and _is_scaled_loss(graph, root)


def _is_scaled_loss(graph: Graph, row: int) -> bool:
    event = graph.index.event(row)
    if event.kind != Kind.OP or graph.log.op(event.op).name != SCALED_BY or len(event.inputs) != 2:
        return False
    sources = [source for source, _ in event.inputs if source < row and graph.log.holds(source)]
    finite = all(graph.log.nonfinite(graph.value_row(source)) is not True for source in sources)
    return finite and any(_is_scale(graph, source, event.site) for source in sources)


def _is_scale(graph: Graph, row: int, site: int) -> bool:
    """Whether a tensor is the scale of a GradScaler: it changes it, or has just made it on the line that scales."""
    event = graph.index.event(row)
    if event.shape != () or event.dtype != "float32":
        return False
    versions = graph.index.versions(event.tensor, graph.log.end)
    if any(graph.log.op(graph.index.event(each).op).name == SCALE_UPDATE for each in versions):
        return True
    return event.kind == Kind.LEAF and event.site == site and graph.log.attrs(event.attrs).get("function") == "full"


def _pass_of(graph: Graph, row: int) -> int | None:
    """Where the backward pass began that a row is in."""
    begun, ended = (_last_before(graph.index.marks(kind), row) for kind in (Kind.BACKWARD_BEGIN, Kind.BACKWARD_END))
    return begun if begun > ended else None


def _last_before(rows: np.ndarray, row: int) -> int:
    place = int(np.searchsorted(rows, row)) - 1
    return int(rows[place]) if place >= 0 else -1
