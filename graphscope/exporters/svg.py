"""SVG: the picture for browsers, documents and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.exporters.dot import Direction
from graphscope.exporters.picture import picture
from graphscope.exporters.registry import exporter
from graphscope.exporters.text_widths import fitted

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["embedded", "svg"]


@exporter("svg", suffix=".svg")
def svg(view: GraphView, *, rankdir: Direction = "TB", overlay: bool = False) -> str:
    """A picture that stays sharp; a pointer over a node shows where in the program it was made.

    Args:
        rankdir: Where forward runs: TB (down the page), LR, BT or RL.
        overlay: Write on each node what its values and gradients are like.
    """
    return fitted(picture(view, "svg", rankdir=rankdir, overlay=overlay).decode())


def embedded(picture: str) -> str:
    """The SVG element without the prologue that only a file of its own may have."""
    return picture[picture.index("<svg") :]
