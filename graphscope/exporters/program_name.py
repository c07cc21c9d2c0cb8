"""What a view is called: after the program that was recorded."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from graphscope.exporters.dot_syntax import printable

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["program_name"]


def program_name(view: GraphView) -> str:
    """The file of the program that was recorded; of what is no recording, how large its graph is."""
    arguments = [] if view.graph is None else view.graph.log.metadata.get("argv")
    name = PurePath(str(arguments[0])).name if isinstance(arguments, list) and arguments else ""
    return printable(name) or f"{len(view.nodes):,} nodes, {len(view.edges):,} edges"
