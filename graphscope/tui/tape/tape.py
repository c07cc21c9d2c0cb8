"""The tape: one line a node in the order in which it ran; only what is visible is read."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.debugger import nodes
from graphscope.eventlog.schema import Kind
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.messages import Asked
from graphscope.tui.passes import Passes
from graphscope.tui.scene import Scene
from graphscope.tui.tape.lines import Lines
from graphscope.tui.tape.row import RowPainter

_FOLDABLE: Final = (Kind.SCOPE_ENTER, Kind.BACKWARD_BEGIN, Kind.STEP)


class Tape(ScrollView, can_focus=True):
    """A virtual list of the rows of a log. Moving its cursor moves in time."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"tape--{name}"
        for name in (
            "op", "leaf", "grad", "forward", "backward", "rising", "rising-here", "number", "current-mark",
            "breakpoint", "label", "name", "shape", "inputs", "bar", "bar-grad", "flag", "future", "scope",
            "pass-mark", "step-mark", "other-mark", "cursor", "matched",
        )
    }  # fmt: skip

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", id="tape.down", show=False),
        Binding("up,k", "move(-1)", "Up", id="tape.up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="tape.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="tape.page-up", show=False),
        Binding("home", "edge(0)", "Beginning", id="tape.home", show=False),
        Binding("end", "edge(-1)", "End", id="tape.end", show=False),
        Binding("enter", "toggle_fold", "Fold", id="tape.fold", show=False),
        Binding("z", "toggle_fold", "Fold", id="tape.fold-here", show=False),
        Binding("Z", "toggle_all", "Fold all", id="tape.fold-all", show=False),
    ]

    scene: reactive[Scene | None] = reactive(None)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._painter = RowPainter(glyphs)
        self._passes = Passes([], [], [])
        self._looks: dict[tuple[str, bool, bool], Style] = {}
        self.lines: Lines | None = None
        self.cursor: int | None = None
        """The row of a mark that was chosen; None where the cursor is the current node."""
        self._mark: int | None = None
        """The mark to be chosen when one stands at the node before it."""
        self.border_title = "tape"

    # What is shown ---------------------------------------------------------------------------------------------------

    def show(self, lines: Lines, passes: Passes) -> None:
        """Take over more lines."""
        self.lines, self._passes = lines, passes
        self._painter.forget()
        self._resize()

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Follow the current node."""
        if scene is None or self.lines is None:
            return
        self.cursor, self._mark = self._mark, None
        self._reveal(scene.now if self.cursor is None else self.cursor)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width = self.size.width
        scene, lines = self.scene, self.lines
        background = self.rich_style
        if scene is None or lines is None:
            return Strip.blank(width, background)
        row = lines.row(y + self.scroll_offset.y)
        if row is None:
            return Strip.blank(width, background)
        pieces = self._painter.paint(scene, self._passes, row, width, lines.folds.get(row))
        here = row == (scene.now if self.cursor is None else self.cursor)
        ahead = row > scene.now
        segments = [Segment(text, self._look(meaning, ahead, here)) for text, meaning in pieces]
        return Strip(segments).adjust_cell_length(width, self._look("", False, here))

    def notify_style_update(self) -> None:
        """Forget looks that another theme, or a change of focus, has made old."""
        super().notify_style_update()
        self._looks.clear()

    def _look(self, meaning: str, ahead: bool, here: bool) -> Style:
        found = self._looks.get((meaning, ahead, here))
        if found is None:
            found = self.rich_style
            for name, wanted in ((meaning, bool(meaning)), ("future", ahead), ("cursor", here)):
                if wanted:
                    found += self.get_component_rich_style(f"tape--{name}", partial=True)
            self._looks[meaning, ahead, here] = found
        return found

    def _resize(self) -> None:
        count = len(self.lines) if self.lines is not None else 0
        self.virtual_size = Size(self.size.width, count)
        self.refresh()

    def _reveal(self, row: int) -> None:
        if self.lines is None:
            return
        if self.virtual_size.height != len(self.lines):
            self._resize()
        line, height = self.lines.line(row), self.scrollable_content_region.height or 1
        top = self.scroll_offset.y
        margin = min(3, height // 4)
        if top + margin <= line < top + height - margin:
            return
        self.scroll_to_region(
            Region(0, max(line - height // 2, 0), 1, height), animate=False, force=True, immediate=True
        )

    # What a person does ----------------------------------------------------------------------------------------------

    @property
    def place(self) -> int | None:
        """The row under the cursor."""
        if self.cursor is not None:
            return self.cursor
        return self.scene.now if self.scene is not None else None

    def action_move(self, by: int) -> None:
        """Move the cursor, and with it time, by lines."""
        place = self.place
        if self.lines is None or place is None:
            return
        self._choose(max(0, min(self.lines.line(place) + by, len(self.lines) - 1)))

    def action_page(self, by: int) -> None:
        """Move by a window."""
        self.action_move(by * max(self.scrollable_content_region.height - 2, 1))

    def action_edge(self, line: int) -> None:
        """Go to the first or the last line."""
        if self.lines is not None and len(self.lines):
            self._choose(line % len(self.lines))

    def on_click(self, event: events.Click) -> None:
        """Go to the line under the mouse; a second click on it folds."""
        if self.lines is None or self.scene is None:
            return
        line = event.y + self.scroll_offset.y
        if self.lines.row(line) == self.place:
            self.action_toggle_fold()
        elif line < len(self.lines):
            self._choose(line)

    def _choose(self, line: int) -> None:
        row = self.lines.row(line) if self.lines is not None else None
        if row is None or self.scene is None:
            return
        log = self.scene.log
        near = next(nodes.backward(log, log.first, row + 1), None)  # at a mark one stands at the node before it
        self._mark = row if near != row else None
        if near == self.scene.now or near is None:
            self.cursor, self._mark = self._mark, None
            self._reveal(row)
            self.refresh()
        else:
            self.post_message(Asked(f"goto {near}", quiet=True))

    # Folds -----------------------------------------------------------------------------------------------------------

    def action_toggle_fold(self) -> None:
        """Open or close what the cursor is on: a scope, a pass, a step; on a node, what it lies in."""
        place = self.place
        if place is None or self.lines is None or self.scene is None:
            return
        row = self._foldable(place)
        if row is None:
            self.notify("Nothing here folds: a scope, a backward pass or a step does", timeout=3)
            return
        if row in self.lines.folds:
            self.lines.unfold(row)
        else:
            self.lines.fold(row, self._last_of(row))
            self.cursor = row
        self._resize()
        self._reveal(row)

    def action_toggle_all(self) -> None:
        """Open all folds; when none is closed, close the scopes that are near."""
        if self.lines is None or self.scene is None:
            return
        if self.lines.folds:
            for row in list(self.lines.folds):
                self.lines.unfold(row)
        else:
            first, last = self._passes.span_of(self._passes.step_of(self.scene.now), self.scene.log)
            kinds = self.scene.log.column("kind", first, last + 1)
            behind = -1
            for offset in (kinds == Kind.SCOPE_ENTER).nonzero()[0].tolist():
                if first + offset > behind:
                    behind = self._last_of(first + offset)
                    self.lines.fold(first + offset, behind)
        self._resize()
        self._reveal(self.scene.now)

    def _foldable(self, row: int) -> int | None:
        """The row of the innermost fold that holds a row."""
        assert self.scene is not None
        log = self.scene.log
        if log.event(row).kind in _FOLDABLE[:2]:
            return row
        first, _ = self._passes.span_of(self._passes.step_of(row), log)
        kinds = log.column("kind", first, row + 1)
        depth = 0
        for offset in range(len(kinds) - 1, -1, -1):
            kind = kinds[offset]
            if kind in (Kind.SCOPE_EXIT, Kind.BACKWARD_END):
                depth += 1
            elif kind in _FOLDABLE[:2]:
                if depth == 0:
                    return first + offset
                depth -= 1
        return None

    def _last_of(self, row: int) -> int:
        """The last row of the fold that begins at a row."""
        assert self.scene is not None
        log = self.scene.log
        begins, ends = (
            (Kind.SCOPE_ENTER, Kind.SCOPE_EXIT)
            if log.event(row).kind == Kind.SCOPE_ENTER
            else (Kind.BACKWARD_BEGIN, Kind.BACKWARD_END)
        )
        depth = 0
        for low in range(row, log.end, 4096):
            for offset, kind in enumerate(log.column("kind", low, low + 4096).tolist()):
                depth += (kind == begins) - (kind == ends)
                if depth == 0:
                    return low + offset
        return log.end - 1
