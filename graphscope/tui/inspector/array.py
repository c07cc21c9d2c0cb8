"""An array as a table of numbers or as a heatmap; only the cells that are visible are read."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color, Gradient
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.tui.glyphs import Glyphs

_CELL = 11
_MARGIN = 6


class ArrayView(ScrollView, can_focus=True):
    """A plane of numbers."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "array--index", "array--number", "array--negative", "array--odd", "array--zero", "array--low", "array--middle",
        "array--high",
    }  # fmt: skip

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._array: np.ndarray | None = None
        self._heat = False
        self._scale = 1.0

    def show(self, array: np.ndarray | None, *, heat: bool) -> None:
        """Take over a plane."""
        self._array, self._heat = array, heat
        rows, columns = array.shape if array is not None else (0, 0)
        wide = 2 if heat else _CELL
        self.virtual_size = Size(_MARGIN + columns * wide, rows + (0 if heat else 1))
        if array is not None and heat and array.dtype.kind in "fiub":
            finite = np.abs(array[np.isfinite(array)].astype(np.float64))
            self._scale = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width = self.size.width
        array, style = self._array, self.rich_style
        row = y + self.scroll_offset.y - (0 if self._heat else 1)
        if array is None or row >= array.shape[0]:
            return Strip.blank(width, style)
        wide = 2 if self._heat else _CELL
        left = int(self.scroll_offset.x)
        first = left // wide
        last = min(first + (width - _MARGIN) // wide + 2, array.shape[1])
        index = style + self._look("index")
        head = Segment(f"{row:>{_MARGIN - 1}} " if row >= 0 else " " * _MARGIN, index)
        if row < 0:
            cells = [Segment(f"{column:>{_CELL}}", index) for column in range(first, last)]
        elif self._heat:
            cells = [self._warm(array[row, column], style) for column in range(first, last)]
        else:
            cells = [self._told(array[row, column], style) for column in range(first, last)]
        shift = left - first * wide
        body = Strip(cells).crop(shift, shift + width - _MARGIN)
        return Strip([head, *body]).adjust_cell_length(width, style)

    def _told(self, value: np.generic, style: Style) -> Segment:
        text = _text(value)
        if value.dtype.kind in "fc" and not np.isfinite(value):
            name = "odd"
        elif value == 0:
            name = "zero"
        else:
            name = "negative" if value.dtype.kind in "fi" and float(value) < 0 else "number"
        return Segment(f"{text:>{_CELL}}", style + self._look(name))

    def _warm(self, value: np.generic, style: Style) -> Segment:
        number = float(value) if value.dtype.kind in "fiub" else 0.0
        if not np.isfinite(number):
            return Segment(self._glyphs.nonfinite * 2, style + self._look("odd"))
        share = number / self._scale
        if self.app.no_color or self._glyphs.shades.isascii():
            shades = self._glyphs.shades
            return Segment(shades[min(int(abs(share) * len(shades)), len(shades) - 1)] * 2, style)
        low, middle, high = (self._colour(name) for name in ("low", "middle", "high"))
        colour = Gradient((0.0, low), (0.5, middle), (1.0, high)).get_color((share + 1) / 2)
        return Segment("  ", Style(bgcolor=RichColor.from_rgb(colour.r, colour.g, colour.b)))

    def _look(self, name: str) -> Style:
        return self.get_component_rich_style(f"array--{name}", partial=True)

    def _colour(self, name: str) -> Color:
        return self.get_component_styles(f"array--{name}").color


def _text(value: np.generic) -> str:
    if value.dtype.kind == "f":
        return f"{float(value):.4g}"
    return str(value)[: _CELL - 1]
