"""Widgets of text that change with every key: they are drawn anew without the screen being laid out again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Final

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from graphscope.tui.guard import Guarded

_FURTHER: Final = 2


def stretch(view: ScrollView, size: Size) -> None:
    """Tell a view how large it is inside. The screen is laid out again only where a scrollbar comes or goes.

    A view that keeps its vertical bar (`overflow-y: scroll`) shows an empty one where all fits.
    """
    room = view.scrollable_content_region.size
    kept = view.styles.overflow_y == "scroll"
    tall = size.height > room.height + view.scrollbar_size_horizontal * view.show_horizontal_scrollbar
    wide = size.width > room.width + view.scrollbar_size_vertical * (view.show_vertical_scrollbar and not kept)
    if (not kept and tall != view.show_vertical_scrollbar) or wide != view.show_horizontal_scrollbar:
        view.virtual_size = size
        return
    view.set_reactive(Widget.virtual_size, size)
    if view.show_vertical_scrollbar:
        view.vertical_scrollbar.window_virtual_size = max(size.height, room.height)
    if view.show_horizontal_scrollbar:
        view.horizontal_scrollbar.window_virtual_size = size.width
    if view.scroll_x > view.max_scroll_x or view.scroll_y > view.max_scroll_y:
        x, y = min(view.scroll_x, view.max_scroll_x), min(view.scroll_y, view.max_scroll_y)
        view.scroll_to(x, y, animate=False, immediate=True)


class Entitled(Widget):
    """A widget with words on its border; it is drawn again as a whole where these have changed, and only then."""

    _titles = "", ""

    def entitle(self, title: str, subtitle: str = "") -> None:
        """Write on the border."""
        if (title, subtitle) != self._titles:
            self._titles = title, subtitle
            self.border_title, self.border_subtitle = title.replace("[", "\\["), subtitle.replace("[", "\\[")


def hanging(line: Text, console: Console, width: int) -> list[Text]:
    """A line in as many as it needs; those behind the first stand further in."""
    first, *rest = line.wrap(console, width, overflow="fold") or [Text()]
    if not rest:
        return [first]
    begun = len(line.plain) - len(line.plain.lstrip())
    column = line.plain.find("  ", begun) + 1  # of a table of two columns, the second
    margin = min((len(line.plain) - len(line.plain[column:].lstrip())) if column else begun + _FURTHER, width // 4)
    behind = len(first.plain) + len(line.plain[len(first.plain) :]) - len(line.plain[len(first.plain) :].lstrip())
    others = line[behind:].wrap(console, width - margin, overflow="fold")
    for other in others:
        other.pad_left(margin)
    return [first, *others]


def runs(pieces: Iterable[tuple[str, Style]]) -> list[Segment]:
    """Segments of a line; neighbours that look the same are one, which is less for everybody to handle."""
    found: list[Segment] = []
    for style, same in groupby(pieces, key=itemgetter(1)):
        found.append(Segment("".join(text for text, _ in same), style))
    return found


class Title(Guarded, Widget):
    """A few lines that are as long as they are: what does not fit is cut. Styles may say what a click does."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = Text()

    def show(self, text: Text) -> None:
        """Draw another text."""
        if text != self._text:
            self._text = text
            self.refresh()

    @property
    def text(self) -> Text:
        """What is drawn."""
        return self._text

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        width, style = self.size.width, self.rich_style
        lines = self.text.split("\n", allow_blank=True)
        if y >= len(lines):
            return Strip.blank(width, style)
        line = lines[y]
        line.truncate(width, overflow="ellipsis")
        return Strip(list(line.render(self.app.console, end=""))).apply_style(style).adjust_cell_length(width, style)


class WrappedText(Guarded, ScrollView, can_focus=True):
    """Text of many lines, wrapped to the width."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = Text()
        self._lines: list[Strip] = []
        self._is_due = False
        """It was hidden when it was given its text: whoever shows it may tell it of no other size."""

    @property
    def plain(self) -> str:
        """What is shown, without its styles."""
        return self._text.plain

    def show(self, text: Text) -> None:
        """Draw another text, from its beginning."""
        if text.plain.partition("\n")[0] != self._text.plain.partition("\n")[0]:
            self.scroll_to(y=0, animate=False)
        self._text = text
        self._wrap()

    def on_resize(self) -> None:
        """Wrap to another width."""
        self._wrap()

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        self._is_due = width <= 0
        if self._is_due:
            self.refresh()
            return
        console = self.app.console
        wrapped = [part for line in self._text.split("\n", allow_blank=True) for part in hanging(line, console, width)]
        before = self._lines
        self._lines = [Strip(list(line.render(console, end=""))) for line in wrapped]
        stretch(self, Size(width, len(self._lines)))
        for y, (old, new) in enumerate(zip_longest(before, self._lines)):
            if old != new:
                self.refresh_line(y)

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        if self._is_due:
            self._wrap()
        width, style = self.size.width, self.rich_style
        place = y + self.scroll_offset.y
        if place >= len(self._lines):
            return Strip.blank(width, style)
        return self._lines[place].apply_style(style).adjust_cell_length(width, style)
