"""The view of ops: boxes joined by tensors, as most people draw a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.exporters.views.view_table import view

if TYPE_CHECKING:
    from graphscope.exporters.views.request import Request
    from graphscope.graph.view import GraphView

__all__ = ["ops"]


@view("ops")
def ops(asked: Request) -> GraphView:
    """Ops as boxes and tensors as arrows, both passes; the default."""
    return asked.boxes_for_exporter()
