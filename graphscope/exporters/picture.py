"""A view as a picture: drawn as it looks best, or in the first other way that Graphviz takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.exporters.dot import source
from graphscope.exporters.graphviz_program import LayoutError, drawn

if TYPE_CHECKING:
    from graphscope.exporters.dot import Direction
    from graphscope.graph.view import GraphView

__all__ = ["WAYS", "Way", "picture"]


class Way(NamedTuple):
    """How a picture is laid out."""

    flags: tuple[str, ...] = ()
    is_level: bool = True
    """Backward nodes lie at the heights of their forward nodes."""
    is_framed: bool = True
    """Modules have frames."""


WAYS: Final = (
    Way(),
    Way(("-Gnewrank=true",)),
    Way(is_level=False),
    Way(("-Gnewrank=true",), is_level=False),
    Way(is_level=False, is_framed=False),
    Way(("-Gsplines=line",), is_level=False, is_framed=False),
)
"""Graphviz gives the nodes of each frame their heights before it looks at the next, which looks best, and fails with
some frames that lead into each other ("lost edge"). Heights for all nodes at once, or fewer wishes, help it then.
"""


def picture(view: GraphView, file_format: str, *flags: str, rankdir: Direction, overlay: bool) -> bytes:
    """The picture of a view.

    Args:
        view: What is drawn.
        file_format: What `-T` of the layout program takes.
        flags: Further flags of it.
        rankdir: Where forward runs.
        overlay: Write on each node what its values and gradients are like.

    Raises:
        ExportError: There is no layout program, or none of the ways was taken.
    """
    bare = replace(view, clusters=(), nodes=tuple(replace(node, cluster=None) for node in view.nodes))
    refused: LayoutError | None = None
    for way in WAYS:
        shown = view if way.is_framed else bare
        try:
            text = source(shown, rankdir, overlay=overlay, is_level=way.is_level)
            return drawn(text, file_format, *flags, *way.flags)
        except LayoutError as error:
            refused = refused or error
    assert refused is not None
    raise refused
