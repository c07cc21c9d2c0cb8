"""The value of a node, or of the forward node that a backward one belongs to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text

from graphscope.graph import filled, rule_rows
from graphscope.tui.inspector.missing_values import not_kept
from graphscope.tui.inspector.panel_table import Numbers, View, panel
from graphscope.tui.screen_text import escape

if TYPE_CHECKING:
    from graphscope.graph import Node


@panel("2", numbers_of="forward")
def value(view: View) -> Numbers:
    """The value, as numbers, heatmap or histogram."""
    node = view.scene.subject
    if node is None:
        return Numbers("value", None, "Nothing has run yet.")
    array = node.value
    missing = "" if array is not None else not_kept(node, "value")
    return Numbers("value", array, missing, "value", partial(_made_of, node))


def _made_of(node: Node, place: tuple[int, ...]) -> Text | None:
    row = filled.element(node, place) if node.kind == "op" else None
    if row is None:
        return None
    made = Text(escape(row.names), "forward").append(f"\n= {escape(row.numbers)}", "bold")
    for rule in rule_rows.of_inputs(node, place):
        made.append(f"\n{escape(rule.names)}", "backward").append(f"\n= {escape(rule.numbers)}", "bold")
    return made
