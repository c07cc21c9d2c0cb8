"""The box of a folded module that ran in both passes: arrows of forward at one half, those of backward at the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.exporters.box_styles import BOXES
from graphscope.exporters.dot_syntax import html_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphscope.exporters.dot_syntax import Attributes
    from graphscope.graph.view import EdgeKind, ViewNode

__all__ = ["PORTS", "halves", "has_halves"]

PORTS: Final[dict[EdgeKind, str]] = {"data": "forward", "gradient": "backward", "link": "forward"}
"""The half that an arrow leads to."""

_HALF: Final = '<TD PORT="{port}" BGCOLOR="{fillcolor}" COLOR="{color}">{text}</TD>'


def has_halves(node: ViewNode) -> bool:
    """Whether a box holds nodes of both passes."""
    return node.kind == "scope" and node.graph_pass == "both"


def halves(lines: Sequence[str], look: Attributes, rankdir: str) -> dict[str, str]:
    """The attributes of such a box.

    Args:
        lines: What is written on it, as markup.
        look: How it would look as a whole: its outline says what is special about it.
        rankdir: Where forward runs: the halves lie side by side across.
    """
    forward, backward = BOXES["scope"], BOXES["grad"]
    cells = [
        _HALF.format(port=PORTS["data"], fillcolor=look["fillcolor"], color=forward["color"], text="<BR/>".join(lines)),
        _HALF.format(port=PORTS["gradient"], fillcolor=backward["fillcolor"], color=backward["color"], text="<B>∂</B>"),
    ]
    rows = "".join(cells) if rankdir in ("TB", "BT") else "</TR><TR>".join(cells)
    marked = {"BORDER": look["penwidth"], "COLOR": look["color"]} if "penwidth" in look else {"BORDER": "0"}
    around = " ".join(f'{name}="{value}"' for name, value in marked.items())
    table = f'<TABLE {around} CELLBORDER="1" CELLSPACING="0" CELLPADDING="5"><TR>{rows}</TR></TABLE>'
    return {"label": html_label(table), "shape": "plain", "margin": "0"}
