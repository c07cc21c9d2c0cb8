"""Who draws for the map: what was wished for last, one drawing at a time, while keys are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from textual.app import SuspendNotSupported
from textual.color import Color

from graphscope.errors import ExportError
from graphscope.tui.map.terminal_graphics import NONE, Terminal, ask

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.timer import Timer
    from textual.widget import Widget

    from graphscope.tui.map.drawing import Drawing, Wish

_STANDS: Final = 0.3
"""Seconds that a drawing stands when one has gone on, while the next is made; then boxes do."""

_INSTALL: Final = "Drawings need Pillow: pip install pillow"
_NO_IMAGES: Final = (
    "This terminal shows no images (kitty from 0.28, Ghostty, foot, WezTerm and others do); e draws to a file"
)


class DrawingWorker:
    """Makes the drawing of the map, once a person wants it."""

    def __init__(self, widget: Widget, done: Callable[[], None]) -> None:
        self._widget = widget
        self._done = done
        self._terminal: Terminal | None = None
        """None until it was asked."""
        self._wish: Wish | None = None
        self._busy = False
        self._standing: Timer | None = None
        self._made: Wish | None = None
        self.at_work = False
        """A person wants drawings."""
        self.drawing: Drawing | None = None
        """What is to be shown; None where boxes are."""

    @property
    def offer(self) -> str:
        """What the key for it does now, in a word; nothing where it is known that it can't."""
        return "boxes" if self.at_work else "" if self._terminal == NONE else "drawing"

    def switch(self) -> None:
        """Begin to draw, or leave it; where nothing can be drawn, say what to do."""
        if self.at_work:
            self.stop()
            return
        if find_spec("PIL") is None:
            self._widget.notify(_INSTALL, title="no drawing")
            return
        if self._terminal is None:
            self._terminal = self._query()
        if self._terminal.protocol:
            self.at_work = True
        else:
            self._widget.notify(_NO_IMAGES, title="no drawing")

    def stop(self) -> None:
        """Draw no more."""
        self.at_work = False
        self._wish = None
        self._show(None)

    def show_at(self, x: int, y: int) -> None:
        """Show the drawing at a cell of the terminal."""
        if self.drawing is not None:
            self._tell(self.drawing.shown.at(x, y))

    def leave(self) -> None:
        """Let the terminal forget what it shows."""
        if self.drawing is not None:
            self._tell(self.drawing.shown.behind)

    def _query(self) -> Terminal:
        try:
            with self._widget.app.suspend():  # the answers would count as keys
                return ask()
        except SuspendNotSupported:  # a browser
            return NONE

    # Drawings --------------------------------------------------------------------------------------------------------

    def wish(self, wished: Callable[[Size, Color, Color], Wish]) -> None:
        """Draw something, unless it is drawn; what was wished for before is not drawn any more.

        Args:
            wished: What to draw into so much room, in the colours of paper and ink.
        """
        room = self._widget.content_region.size
        if not self.at_work or not room:
            return
        wish = wished(room, *self._colours)
        if wish == self._made:
            self._wish = None
            return
        self._wish = wish
        if self.drawing is not None and self._standing is None:
            self._standing = self._widget.set_timer(_STANDS, self._give_way)
        if not self._busy:
            self._busy = True
            self._widget.run_worker(self._work())

    @property
    def _colours(self) -> tuple[Color, Color]:
        """Those of the theme for its background and for text."""
        app = self._widget.app
        found = [Color.parse(app.theme_variables[name]) for name in ("background", "foreground")]
        if any(colour.ansi is not None for colour in found):  # whatever the terminal has, which nobody knows
            found = [Color.parse("black"), Color.parse("white")]
            found = found if app.current_theme.dark else found[::-1]
        return found[0], found[1]

    async def _work(self) -> None:
        try:
            while self._wish is not None:
                wish = self._wish
                drawing = await asyncio.to_thread(self._draw, wish)
                if wish == self._wish:
                    self._wish, self._made = None, wish
                    self._show(drawing)
                else:
                    self._tell(drawing.shown.behind)
        except ExportError as error:
            self.stop()
            self._widget.notify(f"{error.message}; {error.hint}", title="no drawing", severity="warning")
        finally:
            self._busy = False

    def _draw(self, wish: Wish) -> Drawing:
        """On a thread of its own."""
        from graphscope.tui.map.drawing import draw

        assert self._terminal is not None
        drawing = draw(wish, self._terminal)
        self._tell(drawing.shown.ahead)
        return drawing

    def _tell(self, code: str) -> None:
        """Tell the terminal something in between what the screen tells it."""
        driver = self._widget.app._driver  # it alone keeps codes of the screen and ours apart
        if code and driver is not None:
            driver.write(code)

    def _give_way(self) -> None:
        self._standing = None
        if self._wish is not None:
            self._show(None)

    def _show(self, drawing: Drawing | None) -> None:
        if self._standing is not None:
            self._standing.stop()
            self._standing = None
        before, self.drawing = self.drawing, drawing
        if drawing is None:
            self._made = None
        self._done()
        if before is not None:
            self._widget.call_after_refresh(self._tell, before.shown.behind)
