"""The timeline: the run from left to right, or a window of it; click or drag to go there, turn the wheel to zoom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from textual import events
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from graphscope.graph.outline import Steps
from graphscope.graph.step_numbers import StepNumber, step_numbers
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.messages import CommandRequested, MarkChosen, Zoomed
from graphscope.tui.region_styles import Drawn
from graphscope.tui.scene import Scene
from graphscope.tui.text_widgets import runs
from graphscope.tui.timeline.curves import Curves
from graphscope.tui.timeline.lines import Line, Piece
from graphscope.tui.timeline.window import Window

_LABEL: Final = 6
_MOST_MARKS: Final = 500
_MOST_HALVINGS: Final = 62


class Timeline(Drawn, Widget):
    """Where one stands, forward and backward passes, the loss and the gradient."""

    PART = "timeline"

    scene: reactive[Scene | None] = reactive(None, repaint=False)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._steps: Steps | None = None
        self._curves = Curves([], [], [])
        self._flagged = np.zeros(0, np.int64)
        self._found: Sequence[int] = ()
        self._lines: list[Line] = []
        self._margin = 0
        self._drawn: list[list[Piece]] = []
        self._window = Window()
        self._measured = Window()
        self._shares: np.ndarray = np.zeros(0)

    def show(self, steps: Steps, curves: Curves, flagged: np.ndarray, found: Sequence[int]) -> None:
        """Take over steps, curves, and the rows of what is not finite and of findings."""
        self._steps, self._curves, self._flagged, self._found = steps, curves, flagged, found
        self.set_class(curves.held is not None, "-memory")
        self._choose()
        self._settle()
        self._measure()
        self.refresh()

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Move the mark; the curves stay, unless another part of the run is shown by now."""
        if self._settle():
            self.refresh(Region(0, 0, self.size.width, 1))
        else:
            self.refresh()

    def on_resize(self) -> None:
        """Draw for another size."""
        self._choose()
        self._settle()
        self._measure()
        self.refresh()

    @property
    def window(self) -> Window:
        """What part of the run is shown."""
        return self._window

    @property
    def zoomed(self) -> tuple[int, int]:
        """How often that part is the half of what is shown without, and the row that it lies around."""
        return self._window.halvings, self._window.middle

    def show_part(self, halvings: int, middle: int) -> None:
        """Show such a part."""
        self._window = replace(self._window, halvings=max(0, min(halvings, _MOST_HALVINGS)), middle=middle)
        self.post_message(Zoomed())
        self.refresh()

    def zoom(self, by: int, row: int | None = None) -> None:
        """Show a part of half the length, or of twice, around a row, or around where one stands."""
        if self.scene is not None:
            self._window = self._window.zoomed(by, self.scene.now if row is None else row)
            if self._window != self._measured:
                self.post_message(Zoomed())
                self._measure()
                self.refresh()

    def _settle(self) -> bool:
        """Let the window hold where one stands, in the run as long as it is by now; whether it is what it was."""
        if self.scene is not None:
            log = self.scene.log
            cells = max(self.size.width - _LABEL - 1 - self._margin, 1)
            self._window = replace(
                self._window, first=log.first, count=max(log.end - log.first, 1), cells=cells
            ).around(max(self.scene.now, log.first))
            window, measured = self._window, self._measured
            if window.is_whole != measured.is_whole or (not window.is_whole and window.start != measured.start):
                self.post_message(Zoomed())
        return self._window == self._measured

    def _choose(self) -> None:
        """Choose the lines that there is room for; what is said at their ends has room right of all of them."""
        self._lines = self._curves.lines(max(self.size.height - 1, 0))
        self._margin = max((len(line.said) + 1 for line in self._lines if line.said), default=0)

    def _whole(self, line: Line) -> list[Piece]:
        """A line between its name and what is said of it."""
        return [
            (f"{line.title:<{_LABEL}} ", "label"),
            *line.drawn(self._window, self._glyphs),
            (f" {line.said}", "label"),
        ]

    def _measure(self) -> None:
        """How much of each cell is of backward passes."""
        self._measured = window = self._window
        first, count = window.start, window.size
        edges = first + np.arange(window.cells + 1) * count / window.cells
        none = np.zeros(0, np.int64)
        begins, ends = (none, none) if self._steps is None else (self._steps.begins, self._steps.ends)
        begun = np.searchsorted(begins, edges, side="right")
        covered = np.append(0, np.cumsum(ends - begins))[begun] - np.maximum(np.append(-1, ends)[begun] - edges, 0)
        self._shares = np.diff(covered) / (count / window.cells)
        self._drawn = [self._whole(line) for line in self._lines]

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        style = self.rich_style
        if self.scene is None:
            return Strip.blank(self.size.width, style)
        if not self._settle():  # the width, or the log, is another by now
            self._measure()
        if y > len(self._drawn):
            return Strip.blank(self.size.width, style)
        line = self._drawn[y - 1] if y else self._passes_line()
        styles = {name: style + self.look(name) for _, name in line}
        segments = runs((text, styles[name]) for text, name in line)
        return Strip(segments).adjust_cell_length(self.size.width, style)

    def _passes_line(self) -> list[Piece]:
        assert self.scene is not None
        window = self._window
        cells = [
            (self._glyphs.across, "backward" if share > 0.75 else "forward" if share < 0.25 else "mixed")
            for share in self._shares
        ] or [(" ", "forward")] * window.cells
        for row in self._flagged[:: max(len(self._flagged) // _MOST_MARKS, 1)].tolist():
            if row in window:
                cells[window.cell(row)] = (self._glyphs.nonfinite, "flag")
        self._mark_steps(cells)
        for row in self._found:
            if row in window:
                cells[window.cell(row)] = (self._glyphs.finding, "flag")
        cells[window.cell(self.scene.now)] = (self._glyphs.arrow, "now")
        ends = f" #{window.start}..#{window.start + window.size - 1}"
        return [(f"{self._title():<{_LABEL + 1}}", "label"), *cells, (ends * (len(ends) <= self._margin), "label")]

    def _mark_steps(self, cells: list[Piece]) -> None:
        """Where steps end, and what the next is called where there is room for it."""
        if self._steps is None or len(self._steps) < 2 or self.scene is None:
            return
        window = self._window
        low, high = np.searchsorted(self._steps.last, (window.start, window.start + window.size))
        if (high - low) * 3 >= window.cells:
            return
        ends = [window.cell(row) for row in self._steps.last[low:high].tolist()]
        numbers = step_numbers(self.scene.log)
        for place, cell, following in zip(range(low, high), ends, [*ends, window.cells][1:], strict=True):
            cells[cell] = (self._glyphs.lane, "step")
            if place + 1 < len(numbers):
                title = _fitting(numbers.number(place + 1), following - cell - 2)
                cells[cell + 1 : cell + 1 + len(title)] = [(sign, "step") for sign in title]

    def _title(self) -> str:
        """The step where one stands, or as much of that as there is room for."""
        found = None if self.scene is None else step_numbers(self.scene.log).of(self.scene.now)
        return "" if found is None else _fitting(found, _LABEL + 1)

    # What a person does ----------------------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go there, and follow the mouse while its button is down; at the mark of a finding, show what it says."""
        cell = event.x - _LABEL - 1
        marked = [row for row in self._found if row in self._window and self._window.cell(row) == cell]
        if event.y == 0 and marked:
            self.post_message(MarkChosen(marked[-1]))
            return
        self.capture_mouse()
        self._go(event.x, event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        if self.app.mouse_captured is self:
            self._go(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go."""
        self.release_mouse()

    def _go(self, x: int, y: int = 0) -> None:
        if self.scene is not None and len(self.scene.log):
            window, cell = self._window, x - _LABEL - 1
            row = self._lines[y - 1].row(window, cell) if 0 < y <= len(self._lines) else window.row(cell)
            self.post_message(CommandRequested(f"goto {row}", quiet=True))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Zoom in where the mouse is."""
        event.stop()
        self.zoom(1, self._window.row(event.x - _LABEL - 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Zoom out."""
        event.stop()
        self.zoom(-1, self._window.row(event.x - _LABEL - 1))


def _fitting(found: StepNumber, room: int) -> str:
    """What a step is called, or its innermost number alone, in so many cells; empty where that has no room."""
    name, number = found.parts[-1]
    return next((each for each in (f"{found}", f"{name} {number}", f"{number}") if len(each) <= room), "")
