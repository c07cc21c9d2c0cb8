"""The value of a node, or of the forward node that a backward one belongs to."""

from __future__ import annotations

from graphscope.tui.inspector.missing_values import not_kept
from graphscope.tui.inspector.panel_table import Numbers, View, panel


@panel("2", numbers_of="forward")
def value(view: View) -> Numbers:
    """The value, as numbers, heatmap or histogram."""
    node = view.scene.subject
    if node is None:
        return Numbers("value", None, "Nothing has run yet.")
    array = node.value
    return Numbers("value", array, "" if array is not None else not_kept(node, "value"), "value")
