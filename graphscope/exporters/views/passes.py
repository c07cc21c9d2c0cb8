"""The view of a compiler's passes: what each removed, made and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.errors import ExportError
from graphscope.exporters.pass_page import page
from graphscope.exporters.pass_pictures import pictured
from graphscope.exporters.views.figure import Figure
from graphscope.exporters.views.pass_strip import pass_strip
from graphscope.exporters.views.view_table import view
from graphscope.graph.pass_changes import recorded

if TYPE_CHECKING:
    from graphscope.exporters.views.request import Request

__all__ = ["passes"]


@view("passes", takes=())
def passes(asked: Request, *, compiled: int = 1) -> Figure:
    """What each pass of a compiler removed, made and changed, of a log recorded with passes.

    Args:
        compiled: Which of the graphs that were compiled, from 1; a page has all of them.
    """
    log = asked.recording().log
    found = recorded(log)
    if not 1 <= compiled <= len(found):
        raise ExportError(f"there is no compiled graph {compiled}: the log tells of {len(found)}", "choose one of them")
    (shown,) = pictured(log, found[compiled - 1 : compiled])
    title = f"{shown[0].function} ({shown[0].framework})"
    if len(found) > 1:
        title += f", compiled graph {compiled} of {len(found)}"
    return Figure(pass_strip(shown[1], title), title, lambda: page(pictured(log, found), log.path.name))
