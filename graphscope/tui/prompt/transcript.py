"""What was said at the prompt: answers, one beneath the other, wrapped to whatever width there is."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.tui.guard import Guarded
from graphscope.tui.text_widgets import hanging, stretch
from graphscope.tui.theme_styles import themed

_MOST: Final = 5000
"""Of more rows, the oldest answers are forgotten."""


class Transcript(Guarded, ScrollView, can_focus=False):
    """The answers of a session."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._answers: deque[Text] = deque()
        self._wrapped: deque[list[Strip]] = deque()
        """The rows of each answer; of none, as long as nobody knows how wide they may be."""
        self._rows: list[Strip] = []

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self.on_resize())

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @property
    def newest(self) -> int:
        """The row where the newest answer begins."""
        return len(self._rows) - len(self._wrapped[-1]) if self._wrapped else 0

    def say(self, texts: Sequence[Text]) -> None:
        """Add an answer."""
        self._answers.append(Text("\n").join(texts))
        if self._width > 0:
            self._wrapped.append(self._wrap(self._answers[-1]))
            self._show()

    def on_resize(self) -> None:
        """Wrap to another width."""
        if self._width > 0:
            self._wrapped = deque(map(self._wrap, self._answers))
            self._show()

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _wrap(self, answer: Text) -> list[Strip]:
        console, width = self.app.console, self._width
        lines = themed(answer, self.app.theme_variables).split("\n", allow_blank=True)
        rows = [row for line in lines for row in ([line] if line.cell_len <= width else hanging(line, console, width))]
        return [Strip(list(row.render(console, end=""))) for row in rows]

    def _show(self) -> None:
        while len(self._wrapped) > 1 and sum(map(len, self._wrapped)) > _MOST:
            self._answers.popleft()
            self._wrapped.popleft()
        self._rows = [row for rows in self._wrapped for row in rows]
        stretch(self, Size(self._width, len(self._rows)))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row of the window."""
        width, style = self.size.width, self.rich_style
        place = y + self.scroll_offset.y
        if place >= len(self._rows):
            return Strip.blank(width, style)
        return self._rows[place].apply_style(style).adjust_cell_length(width, style)
