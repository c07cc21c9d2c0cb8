"""The tape: one line a node in the order in which it ran, beneath the headers of what it is part of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
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
from graphscope.graph.outline import SectionKind, Steps
from graphscope.graph.outline.kinds import ROW, SLOT_BITS, key_of
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.messages import CommandRequested, MarkChosen, ModuleChosen
from graphscope.tui.region_styles import Drawn
from graphscope.tui.scene import Scene
from graphscope.tui.screen_text import escape
from graphscope.tui.tape import loops
from graphscope.tui.tape.line_painter import LinePainter
from graphscope.tui.tape.lines import Lines
from graphscope.tui.text_widgets import Entitled, runs, stretch

_UNKNOWN: Final[tuple[tuple[object, ...], Strip]] = (), Strip([])
_KEPT: Final = 2048
_NOTHING: Final = (
    "No nodes yet.",
    "A program stops at its first one;",
    "what it prints or asks is shown by t.",
)
_BARREN: Final = ("The program made no node.",)


class Tape(Drawn, Entitled, ScrollView, can_focus=True):
    """A virtual list of the lines of a log. Moving its cursor moves in time."""

    PART = "tape"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", id="tape.down", show=False, tooltip="The line below, and with it time"),
        Binding("up,k", "move(-1)", "Up", id="tape.up", show=False, tooltip="The line above"),
        Binding("pagedown", "page(1)", "Page down", id="tape.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="tape.page-up", show=False),
        Binding("home", "edge(0)", "Beginning", id="tape.home", show=False, tooltip="The first line"),
        Binding("end", "edge(-1)", "End", id="tape.end", show=False, tooltip="The last line"),
        Binding(
            "enter",
            "enter",
            "Fold",
            id="tape.fold",
            show=False,
            tooltip="Open or close what the line is part of; at a mark, say what was found",
        ),
        Binding(
            "z",
            "toggle_fold",
            "Fold",
            id="tape.fold-here",
            show=False,
            tooltip="Open or close what the line is part of",
        ),
        Binding(
            "l",
            "toggle_loop",
            "Fold loop",
            id="tape.fold-loop",
            show=False,
            tooltip="Close a loop to its first turn, open it",
        ),
        Binding(
            "Z", "toggle_all", "Fold all", id="tape.fold-all", show=False, tooltip="Open all of the step, close it"
        ),
        Binding(
            "J",
            "toggle_libraries",
            "Libraries",
            id="tape.libraries",
            show=False,
            tooltip="Show what libraries made, fold it",
        ),
    ]

    scene: reactive[Scene | None] = reactive(None, repaint=False)
    cursor: reactive[int | None] = reactive(None, repaint=False)
    """The key of a header or mark that was chosen; None where the cursor is the current node."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._painter = LinePainter(glyphs)
        self._combined: dict[tuple[str, bool, bool], Style] = {}
        self._strips: dict[int, tuple[tuple[object, ...], Strip]] = {}
        """Lines by their keys as they were painted last, and what of them may differ at another position."""
        self.lines: Lines | None = None
        self._seen = 0
        """The changes of the lines that were drawn."""
        self._chosen: int | None = None
        """The header or mark to be chosen when one stands at its node."""
        self.entitle("tape")

    # What is shown ---------------------------------------------------------------------------------------------------

    def show(self, lines: Lines, steps: Steps, found: Sequence[int]) -> None:
        """Take over more lines, the steps of the log, and the rows of what is wrong."""
        if lines is not self.lines:
            self.cursor = self._chosen = None
            lines.fits(self.scrollable_content_region.height)
        if self._painter.take(lines, steps, found):  # there is more in the log
            self._strips.clear()
        self.lines = lines
        self._resize()

    def mark(self, found: Sequence[int]) -> None:
        """Mark the rows of what is wrong."""
        if self.lines is not None and self._painter.take(self.lines, self._painter.steps, found):
            self._strips.clear()
            self.refresh()

    def watch_cursor(self, old: int | None, key: int | None) -> None:
        """Tell of the module whose header was chosen."""
        section = self.lines.told(key).section if key is not None and self.lines is not None else None
        if section is None or section["kind"] != SectionKind.SCOPE:
            self.post_message(ModuleChosen("tape", None))
            return
        from graphscope.graph.modules import Call  # no header is chosen in the first picture

        self.post_message(ModuleChosen("tape", Call(int(section["scope"]), int(section["subject"]))))

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Follow the current node."""
        if scene is None or self.lines is None:
            return
        self._tell_line()
        self.cursor, self._chosen = self._chosen, None
        if self.cursor is None:
            self.lines.stand(scene.now)
        self._reveal()
        if not len(self.lines):
            self.refresh()
        top = self.scroll_offset.y
        for y in range(self.scrollable_content_region.height):
            key = self.lines.key(top + y)
            if key is not None and self._strips.get(key, _UNKNOWN)[0] != self._moving(scene, key):
                self.refresh_line(top + y)

    def on_resize(self) -> None:
        """Keep the current node in sight."""
        if self.lines is not None:
            self._tell_line()
            self.lines.fits(self.scrollable_content_region.height)
            if self.place is not None:
                self._resize()
                self._reveal()

    def _tell_line(self) -> None:
        """Where there is no room for the source, its line stands beneath the tape."""
        node = self.scene.node if self.scene is not None and self.screen.has_class("-slim") else None
        site = None if node is None else node.site
        said = "" if node is None or site is None else f"{PurePath(site.file).name}:{site.line}  {node.source_line}"
        self.entitle("tape", escape(said))

    def _moving(self, scene: Scene, key: int) -> tuple[object, ...]:
        """All that the picture of a line depends on beside the log."""
        width = self.scrollable_content_region.width
        return (*self._painter.moving(scene, key), self._is_here(key), width)

    def _is_here(self, key: int) -> bool:
        """Whether the cursor is on a line: of a node that is folded away, on the header that holds it."""
        assert self.lines is not None
        place = self.place
        return place is not None and self.lines.key(self.lines.line_of(place)) == key

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width = self.scrollable_content_region.width
        scene, lines = self.scene, self.lines
        background = self._look("", False, False)
        if scene is None or lines is None:
            return Strip.blank(width, background)
        key = lines.key(y + self.scroll_offset.y)
        if key is None:
            words = () if len(lines) else _BARREN if scene.barren else _NOTHING
            said = words[y - 1] if 1 <= y <= len(words) else ""
            return Strip([Segment(f"  {said}", background + self.look("shape"))]).adjust_cell_length(width, background)
        moving = self._moving(scene, key)
        known = self._strips.get(key)
        if known is not None and known[0] == moving:
            return known[1]
        strip = self._painted(scene, key, y + self.scroll_offset.y, width)
        if len(self._strips) > _KEPT:
            self._strips.clear()
        self._strips[key] = moving, strip
        return strip

    def _painted(self, scene: Scene, key: int, line: int, width: int) -> Strip:
        here, ahead = self._is_here(key), key >> SLOT_BITS > scene.now
        pieces = self._painter.paint(scene, key, line, width)
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
        if self.lines is not None and self._seen != self.lines.changes:
            self._seen = self.lines.changes
            self._painter.forget()
            self._strips.clear()
        stretch(self, Size(self.scrollable_content_region.width, count))
        self.refresh()

    def _reveal(self) -> None:
        """Let the line of the cursor be seen."""
        place = self.place
        if self.lines is None or place is None:
            return
        self.lines.reach(place >> SLOT_BITS)
        if self.virtual_size.height != len(self.lines) or self._seen != self.lines.changes:
            self._resize()
        line, height = self.lines.line_of(place), self.scrollable_content_region.height or 1
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
        """What names the line under the cursor; of a node that is folded away, what would name its line."""
        if self.cursor is not None:
            return self.cursor
        return key_of(self.scene.now, ROW) if self.scene is not None else None

    def action_move(self, by: int) -> None:
        """Move the cursor, and with it time, by lines."""
        place = self.place
        if self.lines is None or place is None:
            return
        self._choose(max(0, min(self.lines.line_of(place) + by, len(self.lines) - 1)))

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
        inside = event.get_content_offset(self)
        if self.lines is None or self.scene is None or inside is None:
            return
        line = inside.y + self.scroll_offset.y
        key = self.lines.key(line)
        if key is not None and self._is_here(key):
            self.action_enter()
        elif line < len(self.lines):
            self._choose(line)

    def _choose(self, line: int) -> None:
        """Put the cursor on a line: at a header one stands at its first node, at a mark at the node before it."""
        key = self.lines.key(line) if self.lines is not None else None
        if key is None or self.lines is None or self.scene is None:
            return
        log, row = self.scene.log, key >> SLOT_BITS
        node = next(nodes.backward(log, log.first, row + 1), None)
        if key != key_of(row, ROW):
            node = next(nodes.forward(log, row, self.lines.span(key)[1] + 1), node)
        self._chosen = key if key != key_of(node if node is not None else -1, ROW) else None
        if node == self.scene.now or node is None:
            self.cursor, self._chosen = self._chosen, None
            self._reveal()
            self.refresh()
        else:
            self.post_message(CommandRequested(f"goto {node}", quiet=True))

    # Folds -----------------------------------------------------------------------------------------------------------

    def action_enter(self) -> None:
        """Show what a mark of a finding stands for; where there is none, open or close what the cursor is on."""
        place = self.place
        if self.scene is not None and place == key_of(self.scene.now, ROW) and self.scene.now in self._painter.found:
            self.post_message(MarkChosen(self.scene.now))
        else:
            self.action_toggle_fold()

    def action_toggle_fold(self) -> None:
        """Open or close what the cursor is on: a section, a loop that is closed; on a node, what it lies in."""
        place = self.place
        if place is None or self.lines is None or self.scene is None or not len(self.lines):
            return
        key = self.lines.key(self.lines.line_of(place))
        if key is None:
            return
        holding, loop = self.lines.holding(key), self.lines.loop_told_at(key)
        if loop is not None:
            self.lines.open_loop(loop)
            self.draw_again()
        elif not holding:
            self.notify("Nothing here folds: a step, a module or a backward pass does; l folds a loop", timeout=3)
        else:
            self._fold(holding[-1], not self.lines.is_closed(holding[-1]))

    def _fold(self, key: int, closed: bool) -> None:
        assert self.lines is not None
        self.lines.fold(key, closed)
        self.cursor = key
        self.draw_again()

    def action_toggle_loop(self) -> None:
        """Close the loop that the cursor is in, to its first turn; open it where it is closed."""
        place = self.place
        if place is None or self.lines is None or self.scene is None or not len(self.lines):
            return
        key = self.lines.key(self.lines.line_of(place))
        if key is None:
            return
        closed = self.lines.loop_told_at(key)
        if closed is not None:
            self.lines.open_loop(closed)
        elif not self.toggle_loop_at(key):
            self.notify(f"No loop here: {loops.TURNS} turns that make the same nodes are one", timeout=3)
            return
        self.draw_again()

    def toggle_loop_at(self, key: int) -> bool:
        """Close the loop that a line lies in, or open it; whether there is one."""
        assert self.lines is not None
        assert self.scene is not None
        section, log, steps = self.lines.told(key).section, self.scene.log, self._painter.steps
        is_step = section is not None and section["kind"] == SectionKind.STEP
        loop = loops.equal_steps(log, steps, int(section["subject"])) if is_step else None
        place = key
        if loop is None and (loop := loops.loop_at(log, steps, key >> SLOT_BITS)) is not None:
            place = key_of(loop.first, ROW)
        if loop is None:
            return False
        if place in self.lines.loops:
            self.lines.open_loop(place)
        else:
            self.lines.close_loop(place, loop)
            self.cursor = self.lines.key(self.lines.line(loop.second - 1))
        return True

    def draw_again(self) -> None:
        """Draw lines of which others are folded by now."""
        self._resize()
        self._reveal()

    def action_toggle_all(self) -> None:
        """Open all that lies around here; where all is open, close the outermost sections that are near."""
        if self.lines is None or self.scene is None:
            return
        self.lines.toggle_all(self.scene.now)
        self.cursor = None
        self.draw_again()

    def action_toggle_libraries(self) -> None:
        """Show what libraries made as if the program's own lines had made it, or fold it beneath these."""
        if self.lines is None:
            return
        shown = self.lines.toggle_libraries()
        self.notify("Rows of libraries are shown" if shown else "Rows of libraries are folded", timeout=3)
        self.draw_again()
