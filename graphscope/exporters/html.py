"""HTML: one page that holds the picture and needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from graphscope.exporters.dot import Direction
from graphscope.exporters.registry import exporter
from graphscope.exporters.svg import svg

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["embedded", "html"]

PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ margin: 1rem; font-family: Helvetica, Arial, sans-serif; background: white; color: #1f2937; }}
figure {{ margin: 0; overflow: auto; }}
figcaption {{ margin-bottom: 1rem; color: #6b7280; }}
</style>
</head>
<body>
<figure>
<figcaption>{title}</figcaption>
{picture}
</figure>
</body>
</html>
"""


@exporter("html", suffix=".html")
def html(view: GraphView, *, rankdir: Direction = "TB", overlay: bool = False, title: str = "") -> str:
    """A page with the picture in it, complete in one file.

    Args:
        rankdir: Where forward runs: TB (down the page), LR, BT or RL.
        overlay: Write on each node what its values and gradients are like.
        title: What stands above the picture; by default the numbers of nodes and edges.
    """
    words = title or f"{len(view.nodes)} nodes, {len(view.edges)} edges"
    return PAGE.format(title=escape(words), picture=embedded(svg(view, rankdir=rankdir, overlay=overlay)))


def embedded(picture: str) -> str:
    """The SVG element without the prologue that only a file of its own may have."""
    return picture[picture.index("<svg") :]
