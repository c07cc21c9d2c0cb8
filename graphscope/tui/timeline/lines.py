"""The lines of the timeline below its passes: a curve each over the same cells, and right of it what it ranges over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph.quantities import bytes_text
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.inspector.histogram import spark
from graphscope.tui.screen_text import number
from graphscope.tui.timeline.scale import scaled
from graphscope.tui.timeline.window import Window

if TYPE_CHECKING:
    from graphscope.graph.memory import Memory, Peak

Piece = tuple[str, str]
"""Text, and how it looks."""


@dataclass(frozen=True)
class Course:
    """Numbers at rows, from the least to the greatest; what is not finite is an exclamation mark."""

    title: str
    """What stands left of it, which is the name of its look."""
    points: Sequence[tuple[int, float]]

    @property
    def said(self) -> str:
        """From which number to which the bars reach."""
        finite = [value for _, value in self.points if np.isfinite(value)]
        if len(self.points) < _CURVE or not finite:
            return ""
        _, is_logarithmic = scaled([value for _, value in self.points])
        ends = dict.fromkeys(number(value) for value in (min(finite), max(finite)))
        return f"{'..'.join(ends)}{' log' * is_logarithmic}"

    def drawn(self, window: Window, glyphs: Glyphs) -> list[Piece]:
        """A bar from each point up to the next; of a single one, the number."""
        if len(self.points) < _CURVE:
            return [(number(value)[: window.cells], self.title) for _, value in self.points]
        heights, _ = scaled([value for _, value in self.points])
        cells = [window.cell(row) for row, _ in self.points]
        spread = [float("nan")] * window.cells
        for cell, end, height in zip(cells, [*cells[1:], window.cells], heights, strict=True):
            spread[cell : max(end, cell + 1)] = [float(height)] * max(end - cell, 1)
        return [(" " * cells[0] + spark(spread[cells[0] :], window.cells - cells[0], glyphs.bars), self.title)]

    def row(self, window: Window, cell: int) -> int:
        """Where a click on a cell goes."""
        return window.row(cell)


@dataclass(frozen=True)
class Held:
    """The most bytes that were alive in each cell, from none to the peak of the run, which is marked."""

    memory: Memory
    peak: Peak
    title: str = "memory"

    @property
    def said(self) -> str:
        """How high the peak is."""
        return f"peak {bytes_text(self.peak.bytes)}"

    def drawn(self, window: Window, glyphs: Glyphs) -> list[Piece]:
        """A bar in each cell."""
        edges = window.start + np.arange(window.cells + 1) * window.size / window.cells
        shares = self.memory.most(edges) / self.peak.bytes
        heights = np.ceil(shares * len(glyphs.bars)).astype(int).tolist()
        pieces = [(f" {glyphs.bars}"[height], self.title) for height in heights]
        if self.peak.row in window:
            pieces[window.cell(self.peak.row)] = (glyphs.up, "peak")
        return pieces

    def row(self, window: Window, cell: int) -> int:
        """Where a click on a cell goes: on the marked one, to the peak."""
        row = self.peak.row
        return row if row in window and window.cell(row) == cell else window.row(cell)


Line = Course | Held
"""One of the lines."""

_CURVE: Final = 2
"""So many points make a curve."""
