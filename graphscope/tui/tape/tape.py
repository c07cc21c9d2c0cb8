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
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.messages import CommandRequested
from graphscope.tui.passes import Passes
from graphscope.tui.region_styles import Drawn
from graphscope.tui.scene import Scene
from graphscope.tui.tape import folds
from graphscope.tui.tape.lines import Lines
from graphscope.tui.tape.row import RowPainter
from graphscope.tui.text_widgets import runs

_UNKNOWN: Final[tuple[tuple[object, ...], Strip]] = (), Strip([])
_KEPT: Final = 2048
_NOTHING: Final = (
    "No nodes yet.",
    "A program stops at its first one;",
    "what it prints or asks is shown by t.",
)
_BARREN: Final = ("The program made no node.",)


class Tape(Drawn, ScrollView, can_focus=True):
    """A virtual list of the rows of a log. Moving its cursor moves in time."""

    PART = "tape"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", id="tape.down", show=False),
        Binding("up,k", "move(-1)", "Up", id="tape.up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="tape.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="tape.page-up", show=False),
        Binding("home", "edge(0)", "Beginning", id="tape.home", show=False),
        Binding("end", "edge(-1)", "End", id="tape.end", show=False),
        Binding("enter", "toggle_fold", "Fold", id="tape.fold", show=False),
        Binding("z", "toggle_fold", "Fold", id="tape.fold-here", show=False),
        Binding("l", "toggle_loop", "Fold loop", id="tape.fold-loop", show=False),
        Binding("Z", "toggle_all", "Fold all", id="tape.fold-all", show=False),
    ]

    scene: reactive[Scene | None] = reactive(None, repaint=False)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._painter = RowPainter(glyphs)
        self._passes = Passes([], [], [])
        self._combined: dict[tuple[str, bool, bool], Style] = {}
        self._strips: dict[int, tuple[tuple[object, ...], Strip]] = {}
        """Rows as they were painted last, and what of them may differ at another position."""
        self.lines: Lines | None = None
        self._loops: dict[int, folds.Loop] = {}
        """Loops that are closed, by the row of the line that tells of them."""
        self.cursor: int | None = None
        """The row of a mark that was chosen; None where the cursor is the current node."""
        self._mark: int | None = None
        """The mark to be chosen when one stands at the node before it."""
        self.border_title = "tape"

    # What is shown ---------------------------------------------------------------------------------------------------

    def show(self, lines: Lines, passes: Passes) -> None:
        """Take over more lines."""
        if lines is not self.lines:
            self._loops.clear()
            self.cursor = self._mark = None
        if passes is not self._passes or lines is not self.lines:  # there is more in the log
            self._painter.forget()
            self._strips.clear()
        self.lines, self._passes = lines, passes
        self._resize()

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Follow the current node."""
        if scene is None or self.lines is None:
            return
        self.cursor, self._mark = self._mark, None
        self._reveal(scene.now if self.cursor is None else self.cursor)
        if not len(self.lines):
            self.refresh()
        top = self.scroll_offset.y
        for y in range(self.scrollable_content_region.height):
            row = self.lines.row(top + y)
            if row is not None and self._strips.get(row, _UNKNOWN)[0] != self._moving(scene, row):
                self.refresh_line(top + y)

    def on_resize(self) -> None:
        """Keep the current node in sight."""
        if self.place is not None and self.lines is not None:
            self._resize()
            self._reveal(self.place)

    def _moving(self, scene: Scene, row: int) -> tuple[object, ...]:
        """All that the picture of a row depends on beside the log."""
        assert self.lines is not None
        here = row == (scene.now if self.cursor is None else self.cursor)
        seen = self._painter.moving(scene, self._passes, row)
        return (*seen, here, self.lines.folds.get(row), self._loops.get(row), self.scrollable_content_region.width)

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width = self.scrollable_content_region.width
        scene, lines = self.scene, self.lines
        background = self._look("", False, False)
        if scene is None or lines is None:
            return Strip.blank(width, background)
        row = lines.row(y + self.scroll_offset.y)
        if row is None:
            words = () if len(lines) else _BARREN if scene.barren else _NOTHING
            said = words[y - 1] if 1 <= y <= len(words) else ""
            return Strip([Segment(f"  {said}", background + self.look("shape"))]).adjust_cell_length(width, background)
        moving = self._moving(scene, row)
        known = self._strips.get(row)
        if known is not None and known[0] == moving:
            return known[1]
        strip = self._painted(scene, lines, row, width)
        if len(self._strips) > _KEPT:
            self._strips.clear()
        self._strips[row] = moving, strip
        return strip

    def _painted(self, scene: Scene, lines: Lines, row: int, width: int) -> Strip:
        pieces = self._painter.paint(scene, self._passes, row, width, lines.folds.get(row), self._loops.get(row))
        here = row == (scene.now if self.cursor is None else self.cursor)
        ahead = row > scene.now
        segments = runs((text, self._look(meaning, ahead, here)) for text, meaning in pieces)
        return Strip(segments).adjust_cell_length(width, self._look("", False, here))

    def notify_style_update(self) -> None:
        """Forget looks that another theme, or a change of focus, has made old."""
        super().notify_style_update()
        self._combined.clear()
        self._strips.clear()

    def _look(self, meaning: str, ahead: bool, here: bool) -> Style:
        found = self._combined.get((meaning, ahead, here))
        if found is None:
            found = self.rich_style
            for name, wanted in ((meaning, bool(meaning)), ("future", ahead), ("cursor", here)):
                if wanted:
                    found += self.look(name)
            self._combined[meaning, ahead, here] = found
        return found

    def _resize(self) -> None:
        count = len(self.lines) if self.lines is not None else 0
        self.virtual_size = Size(self.size.width, count)
        self.refresh()

    def _reveal(self, row: int) -> None:
        if self.lines is None:
            return
        self.lines.reach(row)
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
        if self.lines is not None and line and self.scene is not None:
            self.lines.reach(self.scene.log.end - 1)
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
        node = next(nodes.backward(log, log.first, row + 1), None)  # at a mark one stands at the node before it
        self._mark = row if node != row else None
        if node == self.scene.now or node is None:
            self.cursor, self._mark = self._mark, None
            self._reveal(row)
            self.refresh()
        else:
            self.post_message(CommandRequested(f"goto {node}", quiet=True))

    # Folds -----------------------------------------------------------------------------------------------------------

    def action_toggle_fold(self) -> None:
        """Open or close what the cursor is on: a scope, a pass, a loop that is closed; on a node, what it lies in."""
        place = self.place
        if place is None or self.lines is None or self.scene is None:
            return
        row = place if place in self.lines.folds else folds.enclosing(self.scene.log, self._passes, place)
        if row is None:
            self.notify("Nothing here folds: a scope or a backward pass does; l folds a loop", timeout=3)
        elif row in self.lines.folds:
            self._unfold(row)
        else:
            self._fold(row, folds.last_of(self.scene.log, row))

    def action_toggle_loop(self) -> None:
        """Close the loop that the cursor is in, to its first turn; open it where it is closed."""
        place = self.place
        if place is None or self.lines is None or self.scene is None:
            return
        closed = next(
            (row for row, last in self.lines.folds.items() if row <= place <= last and row in self._loops), None
        )
        loop = self._loops.get(place) or folds.loop_at(self.scene.log, self._passes, place)
        if closed is not None:
            self._unfold(closed)
        elif loop is None:
            self.notify(f"No loop here: {folds.TURNS} turns that make the same nodes are one", timeout=3)
        else:
            end = loop.first + loop.turn - 1
            while end > loop.first and not self.lines.shown(end):
                end -= 1  # the line that tells of the other turns is the last that one sees of the first
            self._loops[end] = loop
            self._fold(end, loop.last)

    def action_toggle_all(self) -> None:
        """Open all folds; when none is closed, close the scopes that are near."""
        if self.lines is None or self.scene is None:
            return
        if self.lines.folds:
            for row in list(self.lines.folds):
                self.lines.unfold(row)
        else:
            for row in folds.scopes_of_step(self.scene.log, self._passes, self.scene.now):
                self.lines.fold(row, folds.last_of(self.scene.log, row))
        self._resize()
        self._reveal(self.scene.now)

    def _fold(self, row: int, last: int) -> None:
        assert self.lines is not None
        self.lines.fold(row, last)
        self.cursor = row
        self._resize()
        self._reveal(row)

    def _unfold(self, row: int) -> None:
        assert self.lines is not None
        self.lines.unfold(row)
        self._loops.pop(row, None)
        self._resize()
        self._reveal(row)
