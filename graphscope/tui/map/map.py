"""The map: the neighbourhood of the current node; arrows and clicks walk it."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graphscope.tui.glyphs import Glyphs
from graphscope.tui.looks import Drawn
from graphscope.tui.map.boxes import Box, Picture, draw
from graphscope.tui.map.layout import Layers, neighbourhood
from graphscope.tui.messages import Asked
from graphscope.tui.scene import Scene

_WIDEST: Final = 6


class Map(Drawn, ScrollView, can_focus=True):
    """Boxes around the current node."""

    PART = "map"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "walk(0, -1)", "Up", id="map.up", show=False),
        Binding("down", "walk(0, 1)", "Down", id="map.down", show=False),
        Binding("left", "walk(-1, 0)", "Left", id="map.left", show=False),
        Binding("right", "walk(1, 0)", "Right", id="map.right", show=False),
    ]

    scene: reactive[Scene | None] = reactive(None)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._layers: Layers | None = None
        self._picture = Picture(0, 0)
        self._drawn: tuple[int, int, int] | None = None
        self.radius = 2

    def widen(self, by: int) -> None:
        """Let the neighbourhood grow or shrink."""
        self.radius = max(1, min(self.radius + by, _WIDEST))
        self._draw()

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Draw around the current node."""
        self._draw()

    def on_show(self) -> None:
        """Draw what was not drawn while nobody looked."""
        self._draw()

    def on_resize(self) -> None:
        """Keep the current node in the middle."""
        self._centre()

    def _draw(self) -> None:
        node = self.scene.node if self.scene is not None else None
        if node is None or self.scene is None or not self.display:
            return
        key = (node.row, self.radius, self.scene.log.end)
        if key != self._drawn:
            self._drawn = key
            self._layers = neighbourhood(self.scene.whole.node(node.row), self.radius)
            self._picture = draw(self._layers, node.row, self._glyphs)
            self.virtual_size = Size(self._picture.width, self._picture.height)
        left_out = f", {self._layers.hidden} left out" if self._layers is not None and self._layers.hidden else ""
        self.border_title = f"map  radius {self.radius}{left_out}"
        self.border_subtitle = "+ - radius"
        self._centre()
        self.refresh()

    def _centre(self) -> None:
        box = self._picture.boxes.get(self.scene.now) if self.scene is not None else None
        if box is None:
            return
        width, height = self.scrollable_content_region.size
        x, y = max(box.x + box.width // 2 - width // 2, 0), max(box.y + 2 - height // 2, 0)
        self.scroll_to_region(Region(x, y, width, height), animate=False, force=True, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One line of the window; a picture smaller than the window stands in its middle."""
        width = self.size.width
        style = self.rich_style
        left, top = self._margins
        row = y + self.scroll_offset.y - top
        if not 0 <= row < len(self._picture.cells):
            return Strip.blank(width, style)
        cells = [
            Segment(text, style + self.look(meaning) if meaning else style)
            for text, meaning in self._picture.cells[row]
        ]
        strip = Strip([Segment(" " * left, style), *cells]).simplify()
        scroll = int(self.scroll_offset.x)
        return strip.adjust_cell_length(max(strip.cell_length, width + scroll), style).crop(scroll, scroll + width)

    @property
    def _margins(self) -> tuple[int, int]:
        width, height = self.scrollable_content_region.size
        return max((width - self._picture.width) // 2, 0), max((height - self._picture.height) // 2, 0)

    # What a person does ----------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Go to the box under the mouse."""
        left, top = self._margins
        box = self._picture.at(event.x + int(self.scroll_offset.x) - left, event.y + self.scroll_offset.y - top)
        if box is not None:
            self.post_message(Asked(f"goto {box.row}", quiet=True))

    def action_walk(self, across: int, down: int) -> None:
        """Go to the nearest box in a direction."""
        here = self._picture.boxes.get(self.scene.now) if self.scene is not None else None
        if here is None:
            return
        found = [box for box in self._picture.boxes.values() if _lies(here, box, across, down)]
        if found:
            nearest = min(found, key=lambda box: _distance(here, box))
            self.post_message(Asked(f"goto {nearest.row}", quiet=True))


def _lies(here: Box, there: Box, across: int, down: int) -> bool:
    if down:
        return (there.y - here.y) * down > 0
    return there.y == here.y and (there.x - here.x) * across > 0


def _distance(here: Box, there: Box) -> int:
    return abs(there.y - here.y) * 100 + abs(there.x + there.width // 2 - here.x - here.width // 2)
