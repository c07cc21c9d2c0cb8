"""The program's own terminal: what it prints, colours and carriage returns too; nothing of it steers ours."""

from __future__ import annotations

from collections import deque
from typing import Final

from rich.ansi import AnsiDecoder
from rich.segment import Segment
from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.tui.guard import Guarded
from graphscope.tui.words import stretch

_MOST: Final = 5000
_LONGEST: Final = 4000
"""Of a longer line the rest is not shown."""

_TAB: Final = 8


class Output(Guarded, ScrollView, can_focus=False):
    """Lines that a program has printed; the last one may not be complete."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._decoder = AnsiDecoder()
        self._lines: deque[Text] = deque(maxlen=_MOST)
        self._widest = 0
        self._open = ""
        """What was printed behind the last newline."""

    def printed(self, text: str) -> None:
        """Take over more."""
        *whole, self._open = (self._open + text).split("\n")
        self._lines.extend(lines := [self._line(line) for line in whole[-_MOST:]])
        self._open = _returned(self._open)
        self._widest = max([self._widest, *(line.cell_len for line in lines), self._line(self._open).cell_len])
        stretch(self, Size(self._widest, len(self._lines) + bool(self._open)))
        self.scroll_end(animate=False)
        self.refresh()

    def clear(self) -> None:
        """Forget all: the program begins again."""
        self._lines.clear()
        self._open, self._widest = "", 0
        self.printed("")

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
        place, left = y + self.scroll_offset.y, int(self.scroll_offset.x)
        if place > len(self._lines) or (place == len(self._lines) and not self._open):
            return Strip.blank(width, style)
        line = self._lines[place] if place < len(self._lines) else self._line(self._open)
        parts = [
            Segment(part.text, style + part.style if part.style else style)
            for part in line.render(self.app.console, end="")
        ]
        strip = Strip(parts)
        return strip.adjust_cell_length(max(left + width, strip.cell_length), style).crop(left, left + width)


def _returned(line: str) -> str:
    """What is left of a line in which the cursor went back to its beginning: progress bars do that."""
    ended = line.removesuffix("\r")
    head, back, last = ended.rpartition("\r")
    if not back:
        return line if line != ended else ended
    before = head.rpartition("\r")[2]
    return last + before[len(last) :] if "\x1b" not in ended else last
