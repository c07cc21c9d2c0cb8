"""The gradient of a node, as far as it has arrived."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text

from graphscope.graph import rule_rows
from graphscope.graph.node import OF_BACKWARD
from graphscope.tui import neighbours
from graphscope.tui.inspector.missing_values import not_kept
from graphscope.tui.inspector.panel_table import Numbers, View, panel
from graphscope.tui.screen_text import escape

if TYPE_CHECKING:
    from graphscope.graph import Node


@panel("3", numbers_of="backward")
def grad(view: View) -> Numbers:
    """The gradient, as numbers, heatmap or histogram."""
    node = view.node
    array = None if node is None else neighbours.gradient(node)
    if array is None and node is not None and node.event.kind in OF_BACKWARD:
        return Numbers("gradient", None, not_kept(node, "gradient"))
    made_of = None if node is None else partial(_made_of, node)
    return Numbers("gradient", array, "No gradient up to now; o goes to where it arrives.", "grad", made_of)


def _made_of(node: Node, place: tuple[int, ...]) -> Text | None:
    found = rule_rows.of_gradient(node, place)
    lines = [Text(escape(row.names), "backward").append(f"\n= {escape(row.numbers)}", "bold") for row in found]
    return Text("\n").join(lines) if lines else None
