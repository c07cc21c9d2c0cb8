"""PNG: the picture as pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.exporters.dot import Direction
from graphscope.exporters.picture import picture
from graphscope.exporters.registry import exporter

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["png"]

MOST: Final = 10_000
"""A picture is so many pixels wide or high at the most: a larger one would take minutes and gigabytes."""


@exporter("png", suffix=".png")
def png(view: GraphView, *, rankdir: Direction = "TB", overlay: bool = False, dpi: int = 144) -> bytes:
    """A picture of pixels.

    Args:
        rankdir: Where forward runs: TB (down the page), LR, BT or RL.
        overlay: Write on each node what its values and gradients are like.
        dpi: Pixels per inch; text is 12/72 of an inch high. A picture of more than 10,000 pixels gets fewer.
    """
    most = f"{MOST / dpi:.2f}"
    return picture(view, "png", f"-Gdpi={dpi}", f"-Gsize={most},{most}", rankdir=rankdir, overlay=overlay)
