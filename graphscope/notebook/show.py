"""A graph shown in a notebook: `show(log)`, and the picture that a cell shows of its own accord."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphscope.errors import ExportError, GraphscopeError
from graphscope.eventlog.notices import say
from graphscope.eventlog.wholeness import in_part
from graphscope.exporters.export import export
from graphscope.exporters.svg import embedded
from graphscope.exporters.view_selection import graph_of
from graphscope.exporters.views.view_table import DEFAULT
from graphscope.notebook import surroundings
from graphscope.notebook.page import Page, Request, bundle
from graphscope.notebook.still import Picture, Still

if TYPE_CHECKING:
    from graphscope.notebook.widget import View

__all__ = ["repr_svg", "show"]

LEAST: Final = 200
"""Pixels: a page that is less high shows nothing."""


def show(
    thing: Any, *, format: str = "html", view: str = DEFAULT, height: int = 560, **options: Any
) -> View | Still | Picture:
    """The interactive page of a log, a graph or a tensor, in a notebook's cell.

    With the extra `notebook` it is a widget: `selected` is what a person has chosen in it, and a recording that goes on
    is followed. Without it, and where nobody sits at the notebook (`nbconvert --execute`), it is the same page in a
    frame of its own.

    Args:
        thing: What to show: a log or its path, a graph or a tensor.
        format: "html" for the page, "svg" for a picture that stands still.
        view: What is drawn; another one than ops is a picture: `tensors`, `neurons`, `chain`, `memory`, `passes`.
        height: Of the page, in pixels.
        options: What of it, as `graphscope.export` has it: `select="op:mm"`, `step=3`, `title="..."`, `values=0`; with
            "svg" also how it is drawn: `fold="repeats"`, `overlay=True`.

    Raises:
        GraphscopeError: It can't be shown.
    """
    if format == "svg" or (format == "html" and view != DEFAULT):
        graph = graph_of(thing)
        if graph is not None and (said := in_part(graph.log)):
            say(f"{graph.log.path.name}: {said}")  # a picture has no room for it
        return Picture(embedded(str(export(thing, format="svg", view=view, **options))))
    if format != "html":
        raise ExportError(f"a notebook can't show {format!r}", 'it shows "html" and "svg"; export() writes all others')
    if not isinstance(height, int) or height < LEAST:
        raise ExportError(f"a page can't be {height!r} pixels high", f"give {LEAST} or more")
    request = Request.of(options)
    if surroundings.has_widgets():
        from graphscope.notebook.widget import View  # it needs a package that is not always there

        return View(thing, request, height)
    return Still(thing, bundle(thing, Page.of(thing, request), request, height))


def repr_svg(thing: Any) -> str | None:
    """What `_repr_svg_` of a thing returns: its picture, or None (then a notebook prints it) when there is none."""
    try:
        return embedded(str(export(thing, format="svg")))
    except GraphscopeError:
        return None
