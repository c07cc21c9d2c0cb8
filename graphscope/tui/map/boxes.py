"""Layers drawn in characters: boxes for nodes, lines between them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from graphscope.tui.glyphs import Glyphs
from graphscope.tui.map.layers import Layers
from graphscope.tui.map.wires import WAY, Wire, lines
from graphscope.tui.scene import gradient_title
from graphscope.tui.screen_text import fit, shape_text

if TYPE_CHECKING:
    from graphscope.graph import Node
    from graphscope.graph.paths import Paths

_GAP: Final = 2
_HIGH: Final = 4
"""Lines of a box."""
_CHANNEL: Final = 3
"""Lines between boxes."""
_PITCH: Final = _HIGH + _CHANNEL
_LONGEST: Final = 26


@dataclass(frozen=True)
class Box:
    """Where a node was drawn."""

    row: int
    x: int
    y: int
    width: int
    height: int

    def level(self, other: Box) -> bool:
        """Whether two are side by side; boxes of one layer need not be of one height."""
        return abs(2 * self.y + self.height - 2 * other.y - other.height) <= min(self.height, other.height)


@dataclass
class Picture:
    """A picture of so many cells, and the boxes in it."""

    width: int
    height: int
    boxes: dict[int, Box]

    def at(self, x: int, y: int) -> Box | None:
        """The box at a cell."""
        found = (box for box in self.boxes.values() if box.x <= x < box.x + box.width)
        return next((box for box in found if box.y <= y < box.y + box.height), None)


@dataclass
class Sketch(Picture):
    """A picture of characters."""

    cells: list[list[tuple[str, str]]] = field(default_factory=list)
    """Each line of it: characters with their meanings."""


def sketch(layers: Layers, current: int, glyphs: Glyphs, paths: Paths | None = None) -> Sketch:
    """The picture of layers; paths through them stand out."""
    on_paths = paths.rows if paths is not None else frozenset()
    words = {row: _words(node, glyphs) for row, node in layers.nodes.items()}
    wide = {row: max(map(cell_len, said)) + 4 for row, said in words.items()}
    rows_wide = [sum(wide.get(spot, 1) + _GAP for spot in layer) - _GAP for layer in layers.layers]
    width, height = max(rows_wide, default=1), len(layers.layers) * _PITCH - _CHANNEL
    made = Sketch(width, height, {}, [[(" ", "")] * width for _ in range(height)])
    doors: dict[int, tuple[int, int]] = {}
    for number, layer in enumerate(layers.layers):
        x = (width - rows_wide[number]) // 2
        for spot in layer:
            size = wide.get(spot, 1)
            doors[spot] = (x, x)
            if spot >= 0:
                made.boxes[spot] = Box(spot, x, number * _PITCH, size, _HIGH)
                doors[spot] = (x + 2, x + size - 3)
            x += size + _GAP
    for (x, y), line in lines(_wires(layers, doors, on_paths), glyphs).items():
        made.cells[y][x] = line
    for row, box in made.boxes.items():
        meaning = _meaning(layers.nodes[row], row == current)
        if row in on_paths:
            _box(made, box, words[row], meaning, meaning if row == current else WAY, glyphs.strong_box, glyphs)
        else:
            _box(made, box, words[row], meaning, meaning, glyphs.box, glyphs)
    return made


def _words(node: Node, glyphs: Glyphs) -> tuple[str, str]:
    name = node.name if node.name != node.label else ""
    label = gradient_title(node, node.name) if node.kind == "accumulate" else node.label
    sign = {"leaf": glyphs.leaf, "grad": glyphs.grad, "accumulate": glyphs.accumulate}.get(node.kind, glyphs.op)
    first = f"{sign} {label}" + (f"  {name}" if name and node.kind != "accumulate" else "")
    second = f"#{node.row} {shape_text(node.shape, glyphs.times) or 'scalar'}"
    return _cut(first, glyphs), _cut(second, glyphs)


def _cut(text: str, glyphs: Glyphs) -> str:
    return fit(text, min(cell_len(text), _LONGEST), glyphs.ellipsis)


def _meaning(node: Node, current: bool) -> str:
    if current:
        return "current"
    if node.kind == "leaf":
        return "leaf"
    return "backward" if node.graph_pass == "backward" else "forward"


def _box(
    made: Sketch, box: Box, words: tuple[str, str], meaning: str, frame: str, characters: str, glyphs: Glyphs
) -> None:
    top_left, top_right, low_left, low_right, across, side = tuple(characters)
    put(made, box.x, box.y, top_left + across * (box.width - 2) + top_right, frame)
    for number, text in enumerate(words, 1):
        for x in (box.x, box.x + box.width - 1):
            put(made, x, box.y + number, side, frame)
        put(made, box.x + 1, box.y + number, f" {fit(text, box.width - 4, glyphs.ellipsis)} ", meaning)
    put(made, box.x, box.y + 3, low_left + across * (box.width - 2) + low_right, frame)


def put(made: Sketch, x: int, y: int, text: str, meaning: str) -> None:
    """Write into a picture."""
    for character in text:
        cells = cell_len(character)
        if cells == 0 or x >= made.width:
            continue
        made.cells[y][x] = (character, meaning)
        if cells == 2 and x + 1 < made.width:
            made.cells[y][x + 1] = ("", meaning)
        x += cells


def _wires(layers: Layers, doors: dict[int, tuple[int, int]], on_paths: AbstractSet[int]) -> Iterable[Wire]:
    """The edges as wires; `doors` has the first and the last column where one may meet each spot."""
    top = {spot: number * _PITCH for number, layer in enumerate(layers.layers) for spot in layer}
    for upper, lower, kind in layers.edges:
        start = _nearest(sum(doors[lower]) // 2, doors[upper])
        goal = _nearest(start, doors[lower])
        channel, arrow = top[upper] + _HIGH, lower >= 0
        begin, end = channel if upper >= 0 else top[upper], top[lower] if arrow else top[lower] + _HIGH
        ends = layers.ends.get(upper) or layers.ends.get(lower) or (upper, lower)
        shown = WAY if ends[0] in on_paths and ends[1] in on_paths else kind
        yield Wire(start, goal, begin, end, range(channel, channel + _CHANNEL - arrow), shown, arrow)


def _nearest(x: int, door: tuple[int, int]) -> int:
    return min(max(x, door[0]), door[1])
