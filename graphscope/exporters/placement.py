"""Where things lie in a picture: which backward node goes beside which forward node, and which arrows run backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView, ViewEdge

__all__ = ["beside", "both_passes", "upward"]


def both_passes(view: GraphView) -> bool:
    """Whether forward and backward are in one picture."""
    passes = {node.graph_pass for node in view.nodes}
    return "both" in passes or {"forward", "backward"} <= passes


def beside(view: GraphView) -> dict[str, str]:
    """The forward node next to which each backward node is drawn.

    Left out are the ops that a person saw inside a rule, and contributions on the way to a cotangent: they lie
    between the nodes that are placed so.
    """
    nodes = view.by_id()
    summed = {edge.source for edge in view.edges if edge.kind == "gradient"}
    placed = {}
    for node in view.nodes:
        if node.kind == "grad" or (node.kind == "accumulate" and node.id not in summed):
            forward = nodes.get(node.forward or "")
            if forward is not None and forward.graph_pass == "forward":
                placed[node.id] = forward.id
    return placed


def upward(edge: ViewEdge, *, both: bool) -> bool:
    """Whether an arrow runs against the ranks: a gradient in a picture whose ranks are those of the forward pass."""
    return both and edge.kind == "gradient"
