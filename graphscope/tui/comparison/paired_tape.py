"""Two tapes side by side: what belongs together stands on one line, and they scroll together."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.compare import Difference
from graphscope.compare.difference import PARTED, SAME
from graphscope.compare.side_by_side import side_by_side
from graphscope.graph import Graph
from graphscope.graph.outline import steps
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.region_styles import Drawn
from graphscope.tui.scene import Scene
from graphscope.tui.tape.lanes import LaneSheet
from graphscope.tui.tape.row import RowPainter, Setting, events_of
from graphscope.tui.text_widgets import runs

_MIDDLE: Final = 3
"""Cells between the two, for the mark."""


class Chosen(Message):
    """The cursor stands on another line."""


class PairedTape(Drawn, ScrollView, can_focus=True):
    """A virtual list of the lines of two runs.

    Args:
        found: The two runs.
        glyphs: Characters.
    """

    PART = "tape"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("home", "edge(0)", "Beginning", show=False),
        Binding("end", "edge(-1)", "End", show=False),
        Binding("n", "differing(1)", "next difference"),
        Binding("p", "differing(-1)", "previous"),
        Binding("f", "first", "where they part"),
    ]

    def __init__(self, found: Difference, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._found = found
        self._glyphs = glyphs
        self.lines = side_by_side(found)
        self._differing = np.flatnonzero(self.lines["state"] != SAME)
        self._sides = [_Side(Graph(log), glyphs) for log in (found.a, found.b)]
        self.cursor = 0
        self._marks = {
            SAME: (f" {glyphs.same} ", "shape"),
            PARTED: (f" {glyphs.differs} ", "flag"),
            0: ("   ", "shape"),
        }

    def on_mount(self) -> None:
        """Begin where they part."""
        self.action_first()

    def counts(self) -> dict[str, int]:
        """How many lines are not the same, by what they are."""
        alone = self.lines["state"] == 0
        return {
            "differ": int(np.count_nonzero(self.lines["state"] == PARTED)),
            "only in a": int(np.count_nonzero(alone & (self.lines["b"] < 0))),
            "only in b": int(np.count_nonzero(alone & (self.lines["a"] < 0))),
        }

    def halves(self, width: int) -> tuple[int, int]:
        """The cells of each side where the tape is so many cells wide in all, the mark with the left one."""
        inside = width - self.gutter.width - self.scrollbar_size_vertical
        left = (inside - _MIDDLE) // 2
        return left + _MIDDLE, inside - _MIDDLE - left

    # What a person does ----------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Move the cursor by lines."""
        self._choose(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Move by a window."""
        self._choose(self.cursor + by * max(self.scrollable_content_region.height - 2, 1))

    def action_edge(self, line: int) -> None:
        """Go to the first or the last line."""
        self._choose(line % max(len(self.lines), 1))

    def action_differing(self, by: int) -> None:
        """Go to the next line that differs, or the one before."""
        place = int(np.searchsorted(self._differing, self.cursor, side="right" if by > 0 else "left"))
        place += 0 if by > 0 else -1
        if 0 <= place < len(self._differing):
            self._choose(int(self._differing[place]))
        else:
            self.notify("No line below differs" if by > 0 else "No line above differs", timeout=3)

    def action_first(self) -> None:
        """Go where they part first."""
        first = self._found.first
        line = 0
        if first is not None:
            wanted = [("a", first.a), ("b", first.b)]
            places = [np.flatnonzero(self.lines[name] == side.row) for name, side in wanted if side is not None]
            line = next((int(found[0]) for found in places if len(found)), 0)
        self._choose(line)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the line under the mouse."""
        inside = event.get_content_offset(self)
        if inside is not None:
            self._choose(inside.y + self.scroll_offset.y)

    def _choose(self, line: int) -> None:
        before, self.cursor = self.cursor, max(0, min(line, len(self.lines) - 1))
        self._reveal()
        for changed in (before, self.cursor):
            self.refresh_line(changed)
        self.post_message(Chosen())

    # What is shown ---------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self.virtual_size = Size(self.size.width, len(self.lines))
        self._reveal()
        self.refresh()

    def _reveal(self) -> None:
        height, top = self.scrollable_content_region.height or 1, self.scroll_offset.y
        margin = min(3, height // 4)
        if not top + margin <= self.cursor < top + height - margin:
            region = Region(0, max(self.cursor - height // 2, 0), 1, height)
            self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        place, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if place >= len(self.lines):
            return Strip.blank(width, self.rich_style)
        line, here = self.lines[place], place == self.cursor
        mark, meaning = self._marks[int(line["state"])]
        left, right = self.halves(self.size.width)
        pieces = [
            *self._sides[0].paint(int(line["a"]), left - _MIDDLE),
            (mark, meaning),
            *self._sides[1].paint(int(line["b"]), right),
        ]
        return Strip(runs((text, self._style(name, here)) for text, name in pieces)).adjust_cell_length(
            width, self._style("", here)
        )

    def _style(self, meaning: str, here: bool) -> Style:
        style = self.rich_style
        for name in (meaning, "cursor" if here else ""):
            if name:
                style += self.look(name)
        return style


class _Side:
    """One of the two logs, and who paints its lines."""

    def __init__(self, graph: Graph, glyphs: Glyphs) -> None:
        # One stands behind its end: all has happened, and no line is the current one.
        self._scene = Scene(graph.at(graph.log.end), graph)
        self._steps = steps(graph.log)
        self._painter = RowPainter(glyphs)
        first, end = graph.log.first, graph.log.end
        self._lanes = LaneSheet(
            lambda low, high: [list(range(max(low, first), min(high, end)))], events_of(self._scene)
        )

    def paint(self, row: int, width: int) -> list[tuple[str, str]]:
        """The line of a row; nothing where there is none."""
        if row < 0:
            return [(" " * width, "")]
        setting = Setting(self._lanes.of(row, row), self._lanes.widest)
        return self._painter.paint(self._scene, self._steps, row, width, setting)
