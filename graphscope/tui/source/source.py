"""The person's file: the current line, how many nodes each line made, and breakpoints, which a click toggles."""

from __future__ import annotations

from pathlib import PurePath
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events, work
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.debugger import nodes
from graphscope.diagnose import Finding
from graphscope.graph import Node
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.messages import CommandRequested
from graphscope.tui.region_styles import Drawn
from graphscope.tui.scene import Scene
from graphscope.tui.screen_text import escape
from graphscope.tui.source.counts import Counts
from graphscope.tui.text_widgets import Entitled

_MARGIN = 11
_COUNTS = 5
"""Cells of the margin that tell counts; they are left out where there is little room."""
_COUNTS_FROM = 40
_TELLING = 16
"""So many characters of an expression tell which one it is: the line is not moved for the rest."""


_KEPT = 16
"""So many files that were coloured of late are kept: nodes that follow each other lead to and fro between a few."""


class File(NamedTuple):
    """A file as it is shown."""

    text: str | None
    """What it holds; None where that was not recorded."""
    lines: list[Text]
    is_coloured: bool
    longest: int
    """The cells of its longest line."""


class Highlighted(Message):
    """The lines of a file have their colours."""

    def __init__(self, key: tuple[str, str], file: File) -> None:
        super().__init__()
        self.key = key
        self.file = file


class Source(Drawn, Entitled, ScrollView, can_focus=True):
    """The file of the current node. In backward, the line is that of the forward node that the gradient is of."""

    PART = "source"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", id="source.down", show=False),
        Binding("up,k", "move(-1)", "Up", id="source.up", show=False),
        Binding("enter", "seek", "Go to the first node of this line", id="source.seek", show=False),
        Binding(
            "space",
            "breakpoint",
            "Breakpoint",
            id="source.breakpoint",
            show=False,
            tooltip="Set a breakpoint at the line, clear it",
        ),
    ]

    scene: reactive[Scene | None] = reactive(None, repaint=False)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._counts: Counts | None = None
        self._file = ""
        self._text: list[Text] = []
        self._files: dict[tuple[str, str], File] = {}
        """The files that were coloured last, by name and theme."""
        self._rendered: dict[int, list[Segment]] = {}
        self._place: tuple[str, int] | None = None
        """The current line."""
        self.line: int | None = None
        """The line under the cursor, where the person has moved it away from the current one."""
        self._meant = (0, 0)
        """The characters of the current line that made the node."""
        self._finding: Finding | None = None
        self.entitle("source")

    @property
    def _current(self) -> int | None:
        return None if self._place is None else self._place[1]

    def show(self, counts: Counts) -> None:
        """Take over counts."""
        self._counts = counts
        self.refresh()

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Follow the current node to its line."""
        node = scene.node if scene is not None else None
        before = {self.line, self._current}
        self.line = None
        raised = scene.raised if scene is not None else None
        where = self._place = self._where(scene)
        top = self.scroll_offset.y
        if scene is not None and where is not None and where[0] != self._file:
            self._open(scene, where[0])
        self._meant = self._expression(node)
        if self._current is not None:
            self._reveal(self._current)
        backward = node is not None and node.kind in ("grad", "accumulate")
        file = PurePath(self._file).name if where is not None else "no line is known here"
        said = "where it failed" if raised is not None else "where the forward node ran" if backward else ""
        self.entitle(escape(f"source  {file}"), said)
        if old is None or scene is None or old.breakpoints != scene.breakpoints or top != self.scroll_offset.y:
            self.refresh()
        for line in {*before, self._current}:
            if line is not None:
                self.refresh_line(line - 1)

    def point(self, finding: Finding) -> None:
        """Show the line that a finding names whenever one stands where it leads."""
        self._finding = finding

    def _pointed(self, scene: Scene) -> Finding | None:
        """The finding that one looks at, if the log holds the line that it names."""
        found = self._finding
        if found is None or not found.line or nodes.nearest(scene.log, found.place_in_log) != scene.now:
            return None
        return found if scene.log.source(found.file) is not None else None

    def _where(self, scene: Scene | None) -> tuple[str, int] | None:
        """The file and line that are current: of an exception, of a finding, of the node."""
        if scene is None:
            return None
        where = scene.raised or self._pointed(scene) or (scene.node.site if scene.node is not None else None)
        return None if where is None else (where.file, where.line)

    def _expression(self, node: Node | None) -> tuple[int, int]:
        """What of the current line is meant: from one character to before another."""
        scene, line = self.scene, self._current
        if scene is None or line is None or not 0 < line <= len(self._text) or scene.raised is not None:
            return (0, 0)
        if (finding := self._pointed(scene)) is not None and finding.columns[1]:
            return finding.columns
        site = node.site if node is not None else None
        if site is None or (site.file, site.line) != self._place or not site.end_column:
            return (0, 0)
        text = self._text[line - 1].plain.encode()
        end = site.end_column if site.end_line == line else len(text)
        return (len(text[: site.column].decode(errors="ignore")), len(text[:end].decode(errors="ignore")))

    def on_resize(self) -> None:
        """Keep the line in sight."""
        if self._current is not None:
            self._reveal(self.line or self._current)

    def _open(self, scene: Scene, file: str) -> None:
        self._file = file
        self._rendered = {}
        text = scene.log.source(file)
        known = self._files.get((file, self.app.theme))
        if known is None or known.text != text:
            lines = [Text(escape(line)) for line in (text or "").splitlines()]
            known = File(text, lines, False, max((line.cell_len for line in lines), default=0))
        self._text = known.lines
        self.virtual_size = Size(known.longest + _MARGIN, len(self._text))
        self._colour(known)

    @property
    def _margin(self) -> int:
        return _MARGIN if self.scrollable_content_region.width >= _COUNTS_FROM else _MARGIN - _COUNTS

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._open_again())

    def _open_again(self) -> None:
        """Show the file in the colours of another theme."""
        if self.scene is not None and self._file:
            self._open(self.scene, self._file)

    def _colour(self, file: File) -> None:
        if file.lines and not file.is_coloured and self.app.theme_variables.get("syntax") != "plain":
            self.call_after_refresh(self._highlight, (self._file, self.app.theme), file)
        self.refresh()

    @work(thread=True, exclusive=True, group="highlight")
    def _highlight(self, key: tuple[str, str], file: File) -> None:
        """Colour a file: that takes a while, and the first look at it needs none."""
        from rich.syntax import Syntax

        text = "\n".join(line.plain for line in file.lines)
        theme = "ansi_dark" if self.app.current_theme.dark else "ansi_light"
        lines = list(Syntax(text, "python", theme=theme).highlight(text).split("\n", allow_blank=True))[
            : text.count("\n") + 1
        ]
        self.post_message(Highlighted(key, file._replace(lines=lines, is_coloured=True)))

    def on_highlighted(self, message: Highlighted) -> None:
        """Show the colours."""
        message.stop()
        self._files[message.key] = message.file
        while len(self._files) > _KEPT:
            del self._files[next(iter(self._files))]
        if message.key == (self._file, self.app.theme):
            self._text, self._rendered = message.file.lines, {}
            self.refresh()

    def _reveal(self, line: int) -> None:
        height = self.scrollable_content_region.height or 1
        if not self.scroll_offset.y + 1 <= line - 1 < self.scroll_offset.y + height - 2:
            top = max(line - 1 - height // 2, 0)
            self.scroll_to_region(Region(0, top, 1, height), animate=False, force=True, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width = self.scrollable_content_region.width
        style = self.rich_style
        place = y + self.scroll_offset.y
        if not self._text and y == 0 and self._file:
            said = f" The source of {self._file} was not recorded"
            return Strip([Segment(escape(said), style + self.look("empty"))]).adjust_cell_length(width, style)
        if place >= len(self._text):
            return Strip.blank(width, style)
        number = place + 1
        current = self._current == number
        cursor = self.line == number
        over = self.look("current") if current or cursor else Style.null()
        count = (self._counts.of(self._file) if self._counts is not None else {}).get(number, 0)
        margin = [
            Segment(self._glyphs.breakpoint if self._broken(number) else " ", style + self.look("breakpoint") + over),
            Segment(self._glyphs.current if current else " ", style + self.look("current-mark") + over),
            Segment(f"{_short(count):>4} " if self._margin == _MARGIN else "", style + self.look("count") + over),
            Segment(f"{number:>3} ", style + self.look("number") + over),
        ]
        parts = self._meant_parts(place) if current and self._meant[1] else self._parts(place)
        text = Strip([Segment(part.text, style + (part.style or Style.null()) + over) for part in parts])
        room = max(width - sum(len(part.text) for part in margin), 1)
        skipped = int(self.scroll_offset.x) + (self._skipped(room) if current else 0)
        text = text.adjust_cell_length(max(room + skipped, text.cell_length), style + over).crop(
            skipped, skipped + room
        )
        if skipped:
            text = Strip([Segment(self._glyphs.ellipsis, style + self.look("number") + over), *text.crop(1, room)])
        return Strip([*margin, *text])

    def _skipped(self, room: int) -> int:
        """How much of the current line is left out ahead, so that what is meant of it can be seen."""
        start, end = self._meant
        if min(start + _TELLING, end) <= room:
            return 0
        return start - 1 if end - start >= room else end - room + 1

    def _meant_parts(self, place: int) -> list[Segment]:
        """A line with what is meant of it underlined."""
        line = self._text[place].copy()
        line.stylize("underline", *self._meant)
        return [part for part in line.render(self.app.console) if part.text != "\n"]

    def _parts(self, place: int) -> list[Segment]:
        found = self._rendered.get(place)
        if found is None:
            found = [part for part in self._text[place].render(self.app.console) if part.text != "\n"]
            self._rendered[place] = found
        return found

    def _broken(self, line: int) -> bool:
        return self._mark_at(line) is not None

    def _mark_at(self, line: int) -> int | None:
        if self.scene is None:
            return None
        for found in self.scene.breakpoints:
            selector = found.selector
            if found.enabled and selector is not None and any(at.is_at(self._file, line) for at in selector.lines):
                return found.number
        return None

    # What a person does ----------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Move the cursor over lines; time stays."""
        start = self.line or self._current or 1
        self.line = max(1, min(start + by, len(self._text)))
        self._reveal(self.line)
        self.refresh()

    def action_breakpoint(self) -> None:
        """Set a breakpoint at the line under the cursor, or take it away."""
        line = self.line or self._current
        if line is None or not self._file:
            return
        number = self._mark_at(line)
        name = PurePath(self._file.replace("\\", "/")).name
        self.post_message(CommandRequested(f"clear {number}" if number is not None else f"break {name}:{line}"))

    def action_seek(self) -> None:
        """Go to the next node that the line under the cursor made."""
        line = self.line or self._current
        if line is not None and self._file:
            self.post_message(CommandRequested(f"find line:{PurePath(self._file).name}:{line}", quiet=True))

    def on_click(self, event: events.Click) -> None:
        """Choose a line; in the margin, toggle its breakpoint."""
        inside = event.get_content_offset(self)
        if inside is not None and (line := inside.y + self.scroll_offset.y + 1) <= len(self._text):
            self.line = line
            if inside.x < self._margin:
                self.action_breakpoint()
            self.refresh()


def _short(count: int) -> str:
    """A count in four characters."""
    if count == 0:
        return ""
    if count < 10_000:
        return str(count)
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"
