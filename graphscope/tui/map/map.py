"""The map: the neighbourhood of the current node, in boxes or drawn; arrows and clicks walk it."""

from __future__ import annotations

from typing import ClassVar, Final

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
from graphscope.tui.map.path_targets import Found, Target, offer, paths_for, said
from graphscope.tui.messages import CommandRequested
from graphscope.tui.region_styles import Drawn
from graphscope.tui.scene import Scene
from graphscope.tui.screen_text import escape

_WIDEST: Final = 6


class Map(Drawn, ScrollView, can_focus=True):
    """Boxes around the current node, or the drawing of them."""

    PART = "map"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "walk(0, -1)", "Up", id="map.up", show=False),
        Binding("down", "walk(0, 1)", "Down", id="map.down", show=False),
        Binding("left", "walk(-1, 0)", "Left", id="map.left", show=False),
        Binding("right", "walk(1, 0)", "Right", id="map.right", show=False),
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
        key = (node.row, self.radius, scene.log.end, self.target)
        if key != self._sketched:
            self._sketched = key
            centre = scene.whole.node(node.row)
            self._layers = neighbourhood(centre, self.radius)
            self._found = paths_for(centre, self.target)
            self._sketch = sketch(self._layers, node.row, self._glyphs, self._paths)
        self._artist.wish(scene, self._layers.nodes, self._paths)
        if not self._artist.drawing:
            self._arrange()

    def _arrange(self) -> None:
        """Show what there is now to be shown."""
        drawing = self._artist.drawing
        title = [f"map  radius {self.radius}"]
        if self._found is not None and self.scene is not None:
            title.append(f"  {said(self._found, self.scene.now)}")
        title += [f", {self._layers.hidden} left out"] * bool(self._layers.hidden)
        self.border_title = Content(escape("".join(title) + ", in part" * bool(drawing and drawing.cut)))
        self.border_subtitle = self._keys()
        # A drawing is cut to the room that there is, so there is nothing to scroll.
        self.virtual_size = Size(0, 0) if drawing else Size(self._sketch.width, self._sketch.height)
        self._centre()
        self.refresh()

    @property
    def _paths(self) -> Paths | None:
        return self._found.paths if self._found is not None else None

    def _keys(self) -> Content:
        """What keys do here; so do clicks."""
        words = [("+", "radius(1)"), (" - radius", "radius(-1)")]
        if drawing := self._artist.offer:
            words.append((f"  D {drawing}", "drawing"))
        words.append((f"  P {offer(self.target)}", "path"))
        return Content.assemble(*((text, Style.from_meta({"@click": f"screen.{action}"})) for text, action in words))

    def _centre(self) -> None:
        box = self._sketch.boxes.get(self.scene.now) if self.scene is not None else None
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

    # What a person does ----------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Go to the box under the mouse."""
        inside = event.get_content_offset(self)
        box = self._picture.at(*(inside + self._offset)) if inside is not None else None
        if box is not None:
            self.post_message(CommandRequested(f"goto {box.row}", quiet=True))

    def action_walk(self, across: int, down: int) -> None:
        """Go to the nearest box in a direction."""
        here = self._picture.boxes.get(self.scene.now) if self.scene is not None else None
        if here is None:
            return
        found = [box for box in self._picture.boxes.values() if _lies(here, box, across, down)]
        if found:
            nearest = min(found, key=lambda box: _distance(here, box))
            self.post_message(CommandRequested(f"goto {nearest.row}", quiet=True))


def _lies(here: Box, there: Box, across: int, down: int) -> bool:
    level = here.level(there)
    return not level and (there.y - here.y) * down > 0 if down else level and (there.x - here.x) * across > 0


def _distance(here: Box, there: Box) -> int:
    return abs(there.y - here.y) * 100 + abs(there.x + there.width // 2 - here.x - here.width // 2)
