"""The view of tensors: the other way round."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphscope.exporters.views.view_table import view
from graphscope.graph.passes.dual import dual

if TYPE_CHECKING:
    from graphscope.exporters.views.request import Request
    from graphscope.graph.view import GraphView

__all__ = ["tensors"]


@view("tensors")
def tensors(asked: Request) -> GraphView:
    """Tensors as boxes and ops as arrows, both passes; rules lead from gradient to gradient."""
    drawn = dual(asked.boxes())
    return replace(drawn, heading=drawn.heading or ("Tensors, and the ops between them",))
