"""The map: the neighbourhood of the current node, in boxes or drawn; arrows and clicks walk it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from graphscope.graph.paths import Paths
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.map.boxes import Box, Picture, Sketch, sketch
from graphscope.tui.map.covered_line import CoveredLine
from graphscope.tui.map.drawing_worker import DrawingWorker
from graphscope.tui.map.layers import Layers, neighbourhood
from graphscope.tui.map.module_view import ModuleView
from graphscope.tui.map.path_targets import Found, Target, offer, paths_for, said
from graphscope.tui.messages import CommandRequested, ModuleChosen
from graphscope.tui.region_styles import Drawn
from graphscope.tui.scene import Scene
from graphscope.tui.screen_text import escape

if TYPE_CHECKING:
    from textual.color import Color

    from graphscope.graph.modules import Call
    from graphscope.tui.map.drawing import Wish

_WIDEST: Final = 6


class Map(Drawn, ScrollView, can_focus=True):
    """Boxes around the current node, or the drawing of them."""

    PART = "map"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "walk(0, -1)", "Up", id="map.up", show=False),
        Binding("down", "walk(0, 1)", "Down", id="map.down", show=False),
        Binding("left", "walk(-1, 0)", "Left", id="map.left", show=False),
        Binding("right", "walk(1, 0)", "Right", id="map.right", show=False),
        Binding("enter", "enter", "Go into", id="map.enter", show=False, tooltip="Go into the module where one stands"),
        Binding("backspace", "leave", "Go out", id="map.leave", show=False, tooltip="Go out to what lies around"),
    ]

    scene: reactive[Scene | None] = reactive(None, repaint=False)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._layers = Layers()
        self._sketch = Sketch(0, 0, {})
        self._sketched: tuple[int, int, int, Target] | None = None
        self._found: Found | None = None
        """Where the paths lead that are shown."""
        self._artist = DrawingWorker(self, self._arrange)
        self._laying = False
        """A drawing is about to be laid over the lines."""
        self.radius = 2
        self.target: Target = "loss"
        self.modules = ModuleView(glyphs)
        self._told: Call | None = None
        """The module that the inspector shows."""
        self.of_modules = False
        """The modules of the program are shown, in place of the nodes around one."""

    def on_mount(self) -> None:
        """Hear when the screen is painted as a whole."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self.lay_over())

    def on_unmount(self) -> None:
        """Let the terminal forget what it was shown."""
        self._artist.leave()

    def widen(self, by: int) -> None:
        """Let the neighbourhood grow or shrink."""
        self.radius = max(1, min(self.radius + by, _WIDEST))
        self._draw()

    def switch(self) -> None:
        """Show the drawing in place of boxes, or these again."""
        self._artist.switch()
        self._draw()

    def turn(self, of_modules: bool) -> None:
        """Show the modules, or the nodes."""
        self.of_modules = of_modules
        self._sketched = None
        if not of_modules:
            self._tell(None)
        self._draw()

    def _tell(self, call: Call | None) -> None:
        if call != self._told:
            self._told = call
            self.post_message(ModuleChosen("map", call))

    def judge(self, found_at: Sequence[int]) -> None:
        """Mark where findings are."""
        if self.scene is not None and self.modules.judge(self.scene, found_at) and self.of_modules:
            self._draw()

    def lead(self, target: Target) -> None:
        """Show the paths to something else."""
        self.target = target
        self._draw()

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Draw around the current node."""
        self._draw()

    def on_show(self) -> None:
        """Draw what was not drawn while nobody looked."""
        self._draw()

    def on_resize(self) -> None:
        """Keep the current node in the middle."""
        self._draw()

    def _draw(self) -> None:
        scene = self.scene
        node = scene.node if scene is not None else None
        if node is None or scene is None or not self.display:
            return
        if self.of_modules:
            self._draw_modules(scene)
            return
        key = (node.row, self.radius, scene.log.end, self.target)
        if key != self._sketched:
            self._sketched = key
            centre = scene.whole.node(node.row)
            self._layers = neighbourhood(centre, self.radius)
            self._found = paths_for(centre, self.target)
            self._sketch = sketch(self._layers, node.row, self._glyphs, self._paths)
        self._artist.wish(self._wish_for_nodes)
        if not self._artist.drawing:
            self._arrange()

    def _wish_for_nodes(self, room: Size, paper: Color, ink: Color) -> Wish:
        from graphscope.tui.map.drawing import wish_for

        scene, nodes = self.scene, self._layers.nodes
        assert scene is not None
        broken = {row for row, node in nodes.items() if scene.broken(node)}
        return wish_for(scene.whole, nodes, scene.now, broken, room, paper, ink, self._paths)

    def _wish_for_modules(self, room: Size, paper: Color, ink: Color) -> Wish:
        from graphscope.tui.map.drawing import wish_for_modules

        assert self.scene is not None
        assert self.modules.shown is not None
        return wish_for_modules(self.scene.whole, self.modules.shown, self.modules.here.box, room, paper, ink)

    def _draw_modules(self, scene: Scene) -> None:
        self._sketched = None
        self.modules.look(scene)
        self._tell(self.modules.call)
        size = self.scrollable_content_region.size
        self._sketch = self.modules.sketch((size.width, size.height))
        self._artist.wish(self._wish_for_modules)
        if not self._artist.drawing:
            self._arrange()

    def _arrange(self) -> None:
        """Show what there is now to be shown."""
        drawing = self._artist.drawing
        self.border_title = Content(escape(self._title() + ", in part" * bool(drawing and drawing.cut)))
        self.border_subtitle = self._keys()
        # A drawing is cut to the room that there is, so there is nothing to scroll.
        self.virtual_size = Size(0, 0) if drawing else Size(self._sketch.width, self._sketch.height)
        self._centre()
        self.refresh()

    def _title(self) -> str:
        if self.scene is None:
            return "map"
        if self.of_modules:
            return self.modules.title(self.scene)
        title = f"map  radius {self.radius}"
        if self._found is not None:
            title += f"  {said(self._found, self.scene.now)}"
        return title + f", {self._layers.hidden} left out" * bool(self._layers.hidden)

    @property
    def _paths(self) -> Paths | None:
        return self._found.paths if self._found is not None else None

    def _keys(self) -> Content:
        """What keys do here; so do clicks."""
        drawing = [(f"  D {self._artist.offer}", "screen.drawing")] if self._artist.offer else []
        if self.of_modules:
            words = [("Enter in", "enter"), ("  Backspace out", "leave"), *drawing, ("  m off", "screen.toggle_map")]
        else:
            words = [("+", "screen.radius(1)"), (" - radius", "screen.radius(-1)"), *drawing]
            words.append((f"  P {offer(self.target)}", "screen.path"))
            if self.scene is not None and self.modules.is_worth_it(self.scene):
                words.append(("  m modules", "screen.toggle_map"))
        while len(words) > 1 and sum(len(text) for text, _ in words) > self.size.width - 2:
            del words[-2]
        return Content.assemble(*((text, Style.from_meta({"@click": action})) for text, action in words))

    @property
    def _current(self) -> int:
        """What the box where one stands is known by."""
        if self.of_modules:
            return self.modules.here.box
        return self.scene.now if self.scene is not None else -1

    def _centre(self) -> None:
        box = self._sketch.boxes.get(self._current)
        if box is None or self._artist.drawing:
            return
        width, height = self.scrollable_content_region.size
        x, y = max(box.x + box.width // 2 - width // 2, 0), max(box.y + 2 - height // 2, 0)
        self.scroll_to_region(Region(x, y, width, height), animate=False, force=True, immediate=True)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of the window; a drawing is laid over them when they have been painted."""
        lines = super().render_lines(crop)
        return [CoveredLine(line, self.lay_over) for line in lines] if self._artist.drawing else lines

    def lay_over(self) -> None:
        """Show the drawing anew as soon as all is painted."""
        if self._artist.drawing and not self._laying:
            self._laying = self.call_after_refresh(self._lay)

    def _lay(self) -> None:
        self._laying = False
        drawing = self._artist.drawing
        toasts = self.screen.query("Toast") if self.is_attached else ()
        if not drawing or not self.screen.is_active or any(toast.region.overlaps(self.region) for toast in toasts):
            return
        x, y = self.content_region.offset - self._offset
        if self.content_region.contains_region(Region(x, y, drawing.width, drawing.height)):
            self._artist.show_at(x, y)

    def render_line(self, y: int) -> Strip:
        """One line of the window; a picture smaller than the window stands in its middle."""
        width, style = self.size.width, self.rich_style
        offset = self._offset
        row = y + offset.y
        if self._artist.drawing or not 0 <= row < self._sketch.height:
            return Strip.blank(width, style)
        cells = [
            Segment(text, style + self.look(meaning) if meaning else style) for text, meaning in self._sketch.cells[row]
        ]
        strip = Strip([Segment(" " * max(-offset.x, 0), style), *cells]).simplify()
        start = max(offset.x, 0)
        return strip.adjust_cell_length(max(strip.cell_length, width + start), style).crop(start, start + width)

    @property
    def _picture(self) -> Picture:
        return self._artist.drawing or self._sketch

    @property
    def _offset(self) -> Offset:
        """The cell of the picture that is at the upper left of the window; less than 0 where it has a margin."""
        width, height = self.scrollable_content_region.size
        left, top = max((width - self._picture.width) // 2, 0), max((height - self._picture.height) // 2, 0)
        scrolled = Offset() if self._artist.drawing else self.scroll_offset
        return Offset(int(scrolled.x) - left, scrolled.y - top)

    @property
    def other_half(self) -> int | None:
        """Where the other half begins of the module where one stands; None where that is not looked at."""
        return self.modules.other_half() if self.of_modules and self.has_focus else None

    # What a person does ----------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Go to the box under the mouse."""
        inside = event.get_content_offset(self)
        box = self._picture.at(*(inside + self._offset)) if inside is not None else None
        if box is not None:
            self._go(box)

    def _go(self, box: Box) -> None:
        row = self.modules.row_of(box.row) if self.of_modules else box.row
        if row is not None:
            self.post_message(CommandRequested(f"goto {row}", quiet=True))

    def action_walk(self, across: int, down: int) -> None:
        """Go to the nearest box in a direction."""
        if self.of_modules and across and (row := self.modules.beside(across)) is not None:
            self.post_message(CommandRequested(f"goto {row}", quiet=True))
            return
        here = self._picture.boxes.get(self._current)
        if here is None:
            return
        found = [box for box in self._picture.boxes.values() if _lies(here, box, across, down)]
        if self.of_modules:
            found = [box for box in found if self.modules.is_part(box.row)]
        if found:
            self._go(min(found, key=lambda box: _distance(here, box)))

    def action_enter(self) -> None:
        """Go into the module where one stands; from the innermost, to its nodes."""
        if self.of_modules and self.modules.here.box >= 0:
            self.turn(of_modules=self.modules.enter())

    def action_leave(self) -> None:
        """Go out to what lies around; from nodes, to the modules that they are of."""
        if self.of_modules:
            self.modules.leave()
            self.turn(True)
        elif self.scene is not None and self.modules.is_worth_it(self.scene):
            self.modules.go_out(self.scene)
            self.turn(True)


def _lies(here: Box, there: Box, across: int, down: int) -> bool:
    level = here.level(there)
    return not level and (there.y - here.y) * down > 0 if down else level and (there.x - here.x) * across > 0


def _distance(here: Box, there: Box) -> int:
    return abs(there.y - here.y) * 100 + abs(there.x + there.width // 2 - here.x - here.width // 2)
