"""PDF: the picture for print; only a system Graphviz writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.exporters.dot import Direction
from graphscope.exporters.picture import picture
from graphscope.exporters.registry import exporter

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["pdf"]


@exporter("pdf", suffix=".pdf")
def pdf(view: GraphView, *, rankdir: Direction = "TB", overlay: bool = False) -> bytes:
    """A picture to print; it needs a system Graphviz.

    Args:
        rankdir: Where forward runs: TB (down the page), LR, BT or RL.
        overlay: Write on each node what its values and gradients are like.
    """
    return picture(view, "pdf", rankdir=rankdir, overlay=overlay)
