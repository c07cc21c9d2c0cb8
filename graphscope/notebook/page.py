"""What a notebook shows of a thing: the data of its page, and that as something that lasts without a kernel."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any, Final

from graphscope.errors import ExportError, GraphscopeError
from graphscope.eventlog.wholeness import in_part
from graphscope.exporters.choice import Choice
from graphscope.exporters.export import export
from graphscope.exporters.html import MOST
from graphscope.exporters.options import alternatives
from graphscope.exporters.page import document, page_data
from graphscope.exporters.program_name import program_name
from graphscope.exporters.svg import embedded
from graphscope.exporters.view_selection import selected_view
from graphscope.notebook.cell_names import with_cell_names

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["Page", "Request", "bundle"]

LAUNCHERS: Final = ("ipykernel_launcher.py", "colab_kernel_launcher.py", "memory.gscope")
"""Names that tell nothing of what was recorded."""

MOST_KEPT: Final = 4_000_000
"""A notebook's file does not keep a page of more letters, but its picture."""

_FRAME: Final = (
    '<div style="display:grid;grid-template:100%/100%;height:{height}px;overflow:hidden;'
    'border:1px solid #8885;border-radius:10px">'
    '<img alt="The computation graph" style="grid-area:1/1;max-width:100%" src="data:image/svg+xml;base64,{picture}">'
    '<iframe sandbox="allow-scripts" style="grid-area:1/1;width:100%;height:100%;border:0" srcdoc=\'{page}\'>'
    "</iframe></div>"
)
"""The page shut off from the notebook; the picture is what is left of it where frames are not allowed."""


@dataclass(frozen=True)
class Request:
    """What is to be shown of a thing, as a person asked for it."""

    choice: Choice
    title: str = ""
    values: int = 1_000_000
    """So many bytes of values go along."""

    @classmethod
    def of(cls, options: dict[str, Any]) -> Request:
        """From the options that were given.

        Raises:
            ExportError: There is no such option, or it can't be that.
        """
        chosen = {each.name for each in fields(Choice)}
        known = chosen | {"title", "values"}
        for name in options:
            if name not in known:
                raise ExportError(f"show has no option {name!r}", alternatives(name, known))
        values = options.get("values", 0)
        if not isinstance(values, int) or values < 0:
            raise ExportError(f"values can't be {values!r}", "say how many bytes of values go along: values=1_000_000")
        choice = Choice(**{name: given for name, given in options.items() if name in chosen})
        return cls(choice, **{name: given for name, given in options.items() if name not in chosen})


@dataclass(frozen=True)
class Page:
    """The data of a page, and the view that it was made of."""

    view: GraphView
    data: dict[str, Any]

    @classmethod
    def of(cls, thing: Any, request: Request) -> Page:
        """The page of a log, a graph or a tensor as it is now.

        Raises:
            ExportError: It can't be drawn, nothing of it is there to be drawn, or it is too much.
        """
        view = selected_view(thing, request.choice, is_whole=True, most=MOST)
        return cls(view, with_cell_names(page_data(view, request.title or title_of(view), request.values)))

    @property
    def missing(self) -> str:
        """What is to be said of the log, if it is not all there."""
        return "" if self.view.graph is None else in_part(self.view.graph.log)

    def packed(self) -> bytes:
        """The data as they go to a browser."""
        text = json.dumps(self.data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        return gzip.compress(text.encode("utf-8", "replace"), compresslevel=5, mtime=0)


def title_of(view: GraphView) -> str:
    """The name of the program, or of the log, where it has one that says something."""
    names = [program_name(view), *([view.graph.log.path.name] if view.graph is not None else [])]
    return next((name for name in names if name not in LAUNCHERS), "a recording")


def bundle(thing: Any, page: Page, request: Request, height: int) -> dict[str, str]:
    """What is shown where no kernel runs: the page in a frame, and its picture, each where it can be made."""
    found: dict[str, str] = {}
    try:
        found["image/svg+xml"] = embedded(str(export(thing, format="svg", **_said(request.choice))))
    except GraphscopeError:  # no layout program is there, or it is too much for a picture
        pass
    written = document(page.data)
    if len(written) <= MOST_KEPT:
        picture = b64encode(found.get("image/svg+xml", "").encode()).decode()
        text = escape(written, quote=False).replace("&gt;", ">").replace("'", "&#39;")
        said = f"<p>{escape(page.missing)}</p>" if page.missing else ""
        found["text/html"] = said + _FRAME.format(picture=picture, height=height, page=text)
    return found


def _said(choice: Choice) -> dict[str, Any]:
    return {name: getattr(choice, name) for name in choice.said}
