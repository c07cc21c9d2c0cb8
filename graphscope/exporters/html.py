"""HTML: one page that holds both passes and plays them, and needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.exporters.dot_syntax import printable
from graphscope.exporters.page import document, page_data
from graphscope.exporters.program_name import program_name
from graphscope.exporters.registry import exporter

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["html"]

MOST: Final = 150_000
"""A page of more nodes would take minutes to be made."""


@exporter("html", suffix=".html", is_whole=True, most=MOST)
def html(view: GraphView, *, title: str = "", values: int = 2_000_000) -> str:
    """A page to open and to send: modules open and close, both passes play, each node tells all that is known of it.

    Args:
        title: What stands above the picture; by default the name of the program.
        values: So many bytes of values go along: small ones whole, of large ones a picture and a histogram.
    """
    return document(page_data(view, printable(title) or program_name(view), values))
