"""A picture that is drawn already, and how a drawing becomes the content of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphscope.errors import ExportError
from graphscope.exporters.options import checked
from graphscope.exporters.registry import by_name
from graphscope.exporters.views.figure_page import figure_page
from graphscope.exporters.views.view_table import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphscope.exporters.registry import Exporter
    from graphscope.exporters.views.view_table import View
    from graphscope.graph.view import GraphView

__all__ = ["Figure", "content"]


@dataclass(frozen=True)
class Figure:
    """A whole picture."""

    svg: str
    title: str
    page: Callable[[], str] | None = None
    """Makes the page, where that shows more than the picture."""


FORMATS: Final[dict[str, Callable[[Figure], str]]] = {
    "svg": lambda figure: figure.svg,
    "html": lambda figure: figure.page() if figure.page else figure_page(figure.svg, figure.title),
}
"""The exporters that a figure is written by, and how."""


def content(drawn: GraphView | Figure, entry: View, made_by: Exporter, options: dict[str, Any]) -> str | bytes:
    """What a file holds that an exporter writes of a drawing.

    Args:
        drawn: The drawing.
        entry: The view that drew it.
        made_by: The exporter.
        options: Those of the exporter that were given.

    Raises:
        ExportError: This exporter does not write such a drawing, or has no such option.
    """
    if not isinstance(drawn, Figure) and (entry.name == DEFAULT or not made_by.is_whole):
        return made_by.render(drawn, **checked(options, made_by.options, f"exporter {made_by.name}"))
    if made_by.name not in FORMATS:
        kinds = ", ".join(f".{each}" for each in FORMATS) + ("" if isinstance(drawn, Figure) else ", .png, .pdf, .dot")
        raise ExportError(
            f"the view {entry.name} is a picture, and is not written as {made_by.suffix}", f"write {kinds}"
        )
    if isinstance(drawn, Figure):
        checked(options, (), f"the view {entry.name}")
        return FORMATS[made_by.name](drawn)
    by_boxes = by_name("svg")
    picture = by_boxes.render(drawn, **checked(options, by_boxes.options, f"exporter {by_boxes.name}"))
    return FORMATS[made_by.name](Figure(str(picture), " ".join(drawn.heading[:1]) or entry.name))
