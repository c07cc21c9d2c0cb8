"""The program's own terminal: what it prints, colours and carriage returns too; nothing of it steers the screen's."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from rich.ansi import AnsiDecoder
from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.tui.guard import Guarded
from graphscope.tui.text_widgets import stretch

_MOST: Final = 5000
_LONGEST: Final = 4000
"""Of a longer line the rest is not shown."""

_TAB: Final = 8


class Output(Guarded, ScrollView, can_focus=False):
    """Lines that a program has printed, as a terminal wraps them; the last one may not be complete.

    The end stays in sight, unless a person has scrolled away from it.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._decoder = AnsiDecoder()
        self._lines: deque[Text] = deque(maxlen=_MOST)
        self._rows: deque[Text] = deque(maxlen=_MOST)
        self._open = ""
        """What was printed behind the last newline."""
        self._open_rows: list[Text] = []
        self._follows = True

    def printed(self, text: str) -> None:
        """Take over more."""
        *whole, self._open = (self._open + text).split("\n")
        lines = [self._line(line) for line in whole[-_MOST:]]
        self._open = _returned(self._open)
        self._lines.extend(lines)
        self._fill(lines)

    def on_resize(self) -> None:
        """Wrap to another width."""
        self._rows.clear()
        self._fill(self._lines)

    def clear(self) -> None:
        """Forget all: the program begins again."""
        self._lines.clear()
        self._rows.clear()
        self._open = ""
        self._fill(())

    def _fill(self, lines: Iterable[Text]) -> None:
        new = [row for line in lines for row in self._wrapped(line)]
        dropped = max(len(self._rows) + len(new) - _MOST, 0)
        self._rows.extend(new)
        self._open_rows = self._wrapped(self._line(self._open)) if self._open else []
        stretch(self, Size(self.scrollable_content_region.width, len(self._rows) + len(self._open_rows)))
        place = self.max_scroll_y if self._follows else self.scroll_y - dropped
        self.scroll_to(y=place, animate=False, immediate=True)
        self.refresh()

    def _wrapped(self, line: Text) -> list[Text]:
        width = self.scrollable_content_region.width
        if width <= 0 or line.cell_len <= width:
            return [line]
        places, used = [], 0
        for place, letter in enumerate(line.plain):
            used += cell_len(letter)
            if used > width:
                places.append(place)
                used = cell_len(letter)
        return list(line.divide(places))

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Whoever scrolls away from the end stays there, and whoever comes back to it follows it again."""
        super().watch_scroll_y(old, new)
        if self.size.height:
            self._follows = new >= self.max_scroll_y

    @property
    def asks(self) -> bool:
        """Whether the last line has no end: the program may be waiting for an answer."""
        return bool(self._open.strip())

    @property
    def text(self) -> str:
        """All of it, without its colours."""
        return "\n".join([*(line.plain for line in self._lines), *([self._line(self._open).plain] * bool(self._open))])

    def _line(self, line: str) -> Text:
        text = _returned(line)[:_LONGEST].expandtabs(_TAB)
        decoded = self._decoder.decode_line(text) if "\x1b" in text or self._decoder.style else Text(text)
        if not decoded.plain.isprintable():  # as long as before, so that colours stay in their places
            decoded.plain = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in decoded.plain)
        return decoded

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width, style = self.size.width, self.rich_style
        place = y + self.scroll_offset.y
        rows = self._rows if place < len(self._rows) else self._open_rows
        place -= 0 if rows is self._rows else len(self._rows)
        if place >= len(rows):
            return Strip.blank(width, style)
        parts = [
            Segment(part.text, style + part.style if part.style else style)
            for part in rows[place].render(self.app.console, end="")
        ]
        return Strip(parts).adjust_cell_length(width, style)


def _returned(line: str) -> str:
    """What is left of a line in which the cursor went back to its beginning: progress bars do that."""
    ended = line.removesuffix("\r")
    head, back, last = ended.rpartition("\r")
    if not back:
        return line if line != ended else ended
    before = head.rpartition("\r")[2]
    return last + before[len(last) :] if "\x1b" not in ended else last
