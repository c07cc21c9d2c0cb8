"""An array as a table of numbers or as a heatmap, with a cursor; only the cells that are visible are read."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.color import Color, Gradient
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.tui.glyphs import Glyphs
from graphscope.tui.region_styles import Drawn
from graphscope.tui.text_widgets import stretch

_CELL = 11
_MARGIN = 6
_LOW, _HIGH = Color.parse("#2b6cff"), Color.parse("#ff5a36")


class Chosen(Message):
    """A person wants another number in a cell."""

    def __init__(self, row: int, column: int) -> None:
        super().__init__()
        self.row = row
        self.column = column


class Moved(Message):
    """The cursor is on another cell, or the table has won or lost the focus."""


class ArrayView(Drawn, ScrollView, can_focus=True):
    """A plane of numbers; the cursor is seen where the plane has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1, 0)", "Up", id="array.up", show=False),
        Binding("down,j", "move(1, 0)", "Down", id="array.down", show=False),
        Binding("left,h", "move(0, -1)", "Left", id="array.left", show=False),
        Binding("right,l", "move(0, 1)", "Right", id="array.right", show=False),
        Binding("pageup", "page(-1)", "Page up", id="array.page-up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="array.page-down", show=False),
        Binding("home", "move(-2147483648, 0)", "First row", id="array.home", show=False),
        Binding("end", "move(2147483648, 0)", "Last row", id="array.end", show=False),
        Binding(
            "enter", "choose", "edit cell", id="array.edit", tooltip="Change the number that the program waits with"
        ),
    ]

    PART = "array"

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._array: np.ndarray | None = None
        self._heat = False
        self._scale = 1.0
        self.cursor = (0, 0)

    # The cursor ------------------------------------------------------------------------------------------------------

    @property
    def _wide(self) -> int:
        return 2 if self._heat else _CELL

    @property
    def _top(self) -> int:
        """Lines above the numbers."""
        return 0 if self._heat else 1

    def action_move(self, down: int, right: int) -> None:
        """Move the cursor by cells."""
        if self._array is None or not self._array.size:
            return
        rows, columns = self._array.shape
        row = max(0, min(self.cursor[0] + down, rows - 1))
        column = max(0, min(self.cursor[1] + right, columns - 1))
        self.cursor = (row, column)
        self.scroll_to_region(
            Region(column * self._wide, row, _MARGIN + self._wide, self._top + 1), animate=False, force=True
        )
        self.refresh()
        self.post_message(Moved())

    def action_page(self, by: int) -> None:
        """Move the cursor by a window."""
        self.action_move(by * max(self.size.height - 2, 1), 0)

    @property
    def number(self) -> np.generic | None:
        """What is under the cursor, while the cursor is seen."""
        return self._array[self.cursor] if self.has_focus and self._array is not None and self._array.size else None

    def action_choose(self) -> None:
        """Ask for another number in the cell."""
        if self._array is not None and self._array.size:
            self.post_message(Chosen(*self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a cell; a second click asks for another number there."""
        row = event.y + self.scroll_offset.y - self._top
        column = (event.x - _MARGIN + int(self.scroll_offset.x)) // self._wide
        if self._array is None or not (0 <= row < self._array.shape[0] and 0 <= column < self._array.shape[1]):
            return
        if self.cursor == (row, column) and self.has_focus and event.chain > 1:
            self.action_choose()
        self.cursor = (row, column)
        self.refresh()
        self.post_message(Moved())

    def on_focus(self) -> None:
        """Show how the element under the cursor came to be."""
        self.post_message(Moved())

    def on_blur(self) -> None:
        """Show it no more."""
        self.post_message(Moved())

    # What is shown ---------------------------------------------------------------------------------------------------

    def show(self, array: np.ndarray | None, *, heat: bool) -> None:
        """Take over a plane."""
        self._array, self._heat = array, heat
        rows, columns = array.shape if array is not None else (0, 0)
        self.cursor = (min(self.cursor[0], max(rows - 1, 0)), min(self.cursor[1], max(columns - 1, 0)))
        stretch(self, Size(_MARGIN + columns * self._wide, rows + self._top))
        if array is not None and heat and array.dtype.kind in "fiub":
            finite = np.abs(array[np.isfinite(array)].astype(np.float64))
            self._scale = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width = self.size.width
        array, style = self._array, self.rich_style
        row = y + self.scroll_offset.y - self._top
        if array is None or row >= array.shape[0]:
            return Strip.blank(width, style)
        wide = self._wide
        left = int(self.scroll_offset.x)
        first = left // wide
        last = min(first + (width - _MARGIN) // wide + 2, array.shape[1])
        index = style + self.look("index")
        head = Segment(f"{row:>{_MARGIN - 1}} " if row >= 0 else " " * _MARGIN, index)
        if row < 0:
            cells = [Segment(f"{column:>{_CELL}}", index) for column in range(first, last)]
        elif self._heat:
            cells = [self._warm(array[row, column], style) for column in range(first, last)]
        else:
            cells = [self._cell(array[row, column], style) for column in range(first, last)]
        if row == self.cursor[0] and self.has_focus and first <= self.cursor[1] < last:
            place = self.cursor[1] - first
            cells[place] = Segment(cells[place].text, (cells[place].style or style) + self.look("cursor"))
        shift = left - first * wide
        body = Strip(cells).crop(shift, shift + width - _MARGIN)
        return Strip([head, *body]).adjust_cell_length(width, style)

    def _cell(self, value: np.generic, style: Style) -> Segment:
        text = _text(value)
        if value.dtype.kind in "fc" and not np.isfinite(value):
            name = "odd"
        elif value == 0:
            name = "zero"
        else:
            name = "negative" if value.dtype.kind in "fi" and float(value) < 0 else "number"
        return Segment(f"{text:>{_CELL}}", style + self.look(name))

    def _warm(self, value: np.generic, style: Style) -> Segment:
        number = float(value) if value.dtype.kind in "fiub" else 0.0
        if not np.isfinite(number):
            return Segment(self._glyphs.nonfinite * 2, style + self.look("odd"))
        share = number / self._scale
        if self.app.no_color or self._glyphs.shades.isascii():
            shades = self._glyphs.shades
            return Segment(shades[min(int(abs(share) * len(shades)), len(shades) - 1)] * 2, style)
        middle = Color.parse(self.app.theme_variables["panel"])
        colour = Gradient((0.0, _LOW), (0.5, middle), (1.0, _HIGH)).get_color((share + 1) / 2)
        return Segment("  ", Style(bgcolor=RichColor.from_rgb(colour.r, colour.g, colour.b)))


def _text(value: np.generic) -> str:
    if value.dtype.kind == "f":
        return f"{float(value):.4g}"
    return str(value)[: _CELL - 1]
