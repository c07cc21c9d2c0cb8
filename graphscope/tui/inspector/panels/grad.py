"""The gradient of a node, as far as it has arrived."""

from __future__ import annotations

from graphscope.graph.node import OF_BACKWARD
from graphscope.tui import neighbours
from graphscope.tui.inspector.missing_values import not_kept
from graphscope.tui.inspector.panel_table import Numbers, View, panel


@panel("3", numbers_of="backward")
def grad(view: View) -> Numbers:
    """The gradient, as numbers, heatmap or histogram."""
    node = view.node
    array = None if node is None else neighbours.gradient(node)
    if array is None and node is not None and node.event.kind in OF_BACKWARD:
        return Numbers("gradient", None, not_kept(node, "gradient"))
    return Numbers("gradient", array, "No gradient up to now.", "grad")
