"""The interactive page as a widget: what is chosen in it comes back to Python, and a recording that goes on shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import anywidget
import traitlets

from graphscope.eventlog.reader import Log
from graphscope.exporters.page import asset
from graphscope.graph.graph import Graph
from graphscope.notebook.following import Following, is_going_on
from graphscope.notebook.page import Page, Request, bundle

if TYPE_CHECKING:
    from graphscope.graph.node import Node
    from graphscope.graph.view import ViewNode

__all__ = ["View"]

NOTHING_YET: Final = "Nothing has been recorded yet."


class View(anywidget.AnyWidget):  # type: ignore[misc]  # of a package that has no types
    """A page in a notebook's cell.

    Args:
        thing: What is shown: a log, a graph or a tensor.
        request: What of it.
        height: How high it is at first, in pixels.

    Raises:
        GraphscopeError: It can't be shown. A recording that goes on always can: what there is to see comes later.
    """

    _esm = f"{asset('page.js')}\nexport default graphscopePage.widget({json.dumps(asset('page.css'))});\n"

    height = traitlets.Int(560).tag(sync=True)
    recording = traitlets.Bytes(b"").tag(sync=True)
    """The data of the page, compressed; empty as long as there is none."""
    told = traitlets.Unicode("").tag(sync=True)
    """What is to be said of it in a sentence."""
    rows = traitlets.List(traitlets.Int()).tag(sync=True)
    """What a person has chosen, as the page numbers it: by rows; of a tensor's graph by places."""

    def __init__(self, thing: Any, request: Request, height: int) -> None:
        self.thing, self._request = thing, request
        self._page: Page | None = None
        self._following: Following | None = None
        goes_on = isinstance(thing, Log) and is_going_on(thing)
        if not goes_on:
            self._page = Page.of(thing, request)
        super().__init__(
            height=height,
            recording=self._page.packed() if self._page else b"",
            told=self._page.missing if self._page else NOTHING_YET,
        )
        if goes_on:
            self._following = Following(thing, self._look)

    @property
    def selected(self) -> tuple[Node | ViewNode, ...]:
        """What is chosen in the page: a node, or all nodes of a module; empty where nothing is."""
        if self._page is None:
            return ()
        if self._page.view.graph is None:
            return tuple(self._page.view.nodes[place] for place in self.rows)
        graph = self.thing if isinstance(self.thing, Graph) else Graph(self._page.view.graph.log)
        return tuple(graph.node(row) for row in self.rows)

    def update(self) -> None:
        """Show the thing as it is now."""
        if self._following is not None and not is_going_on(self.thing):
            self._following.end()
        self._look(self.thing)

    def close(self) -> None:
        """Take the widget away, and follow its recording no more."""
        if self._following is not None:
            self._following.end()
        super().close()

    def _look(self, thing: Any) -> None:
        try:
            self._page = Page.of(thing, self._request)
            self.recording, self.told = self._page.packed(), self._page.missing
        except Exception as error:  # noqa: BLE001 - it may be a thread of ours, which the program knows nothing of
            is_empty = isinstance(thing, Log) and thing.end == thing.first
            self.told = NOTHING_YET if is_empty else f"It could not be brought up to date: {error}"

    def _repr_mimebundle_(self, **given: Any) -> Any:
        shown = super()._repr_mimebundle_(**given)
        if shown is None or self._page is None:
            return shown
        data, about = shown
        return {**bundle(self.thing, self._page, self._request, self.height), **data}, about
