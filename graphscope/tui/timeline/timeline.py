"""The timeline: the run from left to right; click or drag to go there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from textual import events
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from graphscope.graph.outline import Steps
from graphscope.graph.step_numbers import step_numbers
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.inspector.histogram import spark
from graphscope.tui.messages import CommandRequested
from graphscope.tui.region_styles import Drawn
from graphscope.tui.scene import Scene
from graphscope.tui.screen_text import number
from graphscope.tui.text_widgets import runs
from graphscope.tui.timeline.curves import Curves

_LABEL = 6


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
        self._drawn: list[list[tuple[str, str]]] = []
        self._measured = (0, 0, 0)
        self._shares: np.ndarray = np.zeros(0)

    def show(self, steps: Steps, curves: Curves, flagged: np.ndarray, found: Sequence[int]) -> None:
        """Take over steps, curves, and the rows of what is not finite and of findings."""
        self._steps, self._curves, self._flagged, self._found = steps, curves, flagged, found
        self._measure()
        self.refresh()

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Move the mark; the curves stay, unless the log is longer by now."""
        if (*self._span, self._room) == self._measured:
            self.refresh(Region(0, 0, self.size.width, 1))
        else:
            self.refresh()

    def on_resize(self) -> None:
        """Draw for another width."""
        self._measure()

    @property
    def _room(self) -> int:
        return max(self.size.width - _LABEL - 1, 1)

    @property
    def _span(self) -> tuple[int, int]:
        log = self.scene.log if self.scene is not None else None
        return (log.first, max(log.end - log.first, 1)) if log is not None else (0, 1)

    def column(self, row: int) -> int:
        """The cell of a row."""
        first, count = self._span
        return min(max((row - first) * self._room // count, 0), self._room - 1)

    def row(self, column: int) -> int:
        """The row of a cell."""
        first, count = self._span
        return first + min(max(column, 0) * count // self._room, count - 1)

    def _measure(self) -> None:
        """How much of each cell is of backward passes."""
        first, count = self._span
        self._measured = (first, count, self._room)
        edges = first + np.arange(self._room + 1) * count / self._room
        none = np.zeros(0)
        begins = np.asarray(none if self._steps is None else self._steps.begins, np.float64)
        ends = np.asarray(none if self._steps is None else self._steps.ends, np.float64)
        covered = np.interp(
            edges,
            np.concatenate([[first - 1.0], np.column_stack([begins, ends]).reshape(-1), [first + count + 1.0]]),
            np.concatenate([[0.0], np.repeat(np.cumsum(ends - begins), 2), [float((ends - begins).sum())]])
            - np.concatenate([[0.0], np.column_stack([ends - begins, np.zeros(len(begins))]).reshape(-1), [0.0]]),
        )
        self._shares = np.diff(covered) / (count / self._room)
        self._drawn = [self._curve("loss", self._curves.losses), self._curve("norm", self._curves.norms)]

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        style = self.rich_style
        if self.scene is None:
            return Strip.blank(self.size.width, style)
        if (*self._span, self._room) != self._measured:  # the width, or the log, is another by now
            self._measure()
        if y > len(self._drawn):
            return Strip.blank(self.size.width, style)
        line = self._drawn[y - 1] if y else self._passes_line()
        styles = {name: style + self.look(name) for _, name in line}
        segments = runs((text, styles[name]) for text, name in line)
        return Strip(segments).adjust_cell_length(self.size.width, style)

    def _passes_line(self) -> list[tuple[str, str]]:
        assert self.scene is not None
        step = step_numbers(self.scene.log).title(self.scene.now)
        ends = [] if self._steps is None or len(self._steps) < 2 else self._steps.last.tolist()
        cells = [
            (self._glyphs.across, "backward" if share > 0.75 else "forward" if share < 0.25 else "mixed")
            for share in self._shares
        ] or [(" ", "forward")] * self._room
        for row in self._flagged[:: max(len(self._flagged) // 500, 1)].tolist():
            cells[self.column(row)] = (self._glyphs.nonfinite, "flag")
        if len(ends) * 3 < self._room:
            for row in ends:
                cells[self.column(row)] = (self._glyphs.lane, "step")
        for row in self._found:
            cells[self.column(row)] = (self._glyphs.finding, "flag")
        cells[self.column(self.scene.now)] = (self._glyphs.arrow, "now")
        return [(f"{step:<{_LABEL}} "[: _LABEL + 1], "label"), *cells]

    def _curve(self, name: str, values: list[float]) -> list[tuple[str, str]]:
        finite = [value for value in values if np.isfinite(value)]
        if not finite:
            return [(f"{name:<{_LABEL}} ", "label")]
        if len(finite) == 1:
            return [(f"{name:<{_LABEL}} ", "label"), (number(finite[0]), name)]
        said = f" {number(min(finite))}..{number(max(finite))}"
        room = max(self._room - len(said), 1)
        columns = np.array([self.column(row) for row in self._curves.rows]) * room // self._room
        spread = [float("nan")] * room
        for place in range(len(columns)):
            end = columns[place + 1] if place + 1 < len(columns) else room
            for cell in range(columns[place], max(end, columns[place] + 1)):
                spread[min(cell, room - 1)] = values[place]
        first = int(columns[0])
        drawn = " " * first + spark(spread[first:], room - first, self._glyphs.bars)
        return [(f"{name:<{_LABEL}} ", "label"), (drawn, name), (said, "label")]

    # What a person does ----------------------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go there, and follow the mouse while its button is down."""
        self.capture_mouse()
        self._go(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        if self.app.mouse_captured is self:
            self._go(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go."""
        self.release_mouse()

    def _go(self, x: int) -> None:
        if self.scene is not None and len(self.scene.log):
            self.post_message(CommandRequested(f"goto {self.row(x - _LABEL - 1)}", quiet=True))
