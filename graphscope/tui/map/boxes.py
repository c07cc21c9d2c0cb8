"""Layers drawn in characters: boxes for nodes, lines that bend and join between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from graphscope.tui.glyphs import Glyphs
from graphscope.tui.map.layout import Layers
from graphscope.tui.text import fit, shape_text

if TYPE_CHECKING:
    from graphscope.graph import Node

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_JOINTS: Final = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"
_PLAIN_JOINTS: Final = " ||||++|-++|-+++"
_GAP: Final = 2
_CHANNEL: Final = 3
_LONGEST: Final = 26


@dataclass(frozen=True)
class Box:
    """Where a node was drawn."""

    row: int
    x: int
    y: int
    width: int
    height: int


@dataclass
class Picture:
    """Cells with their meanings, and the boxes in them."""

    width: int
    height: int
    cells: list[list[tuple[str, str]]] = field(default_factory=list)
    boxes: dict[int, Box] = field(default_factory=dict)

    def at(self, x: int, y: int) -> Box | None:
        """The box at a cell."""
        found = (box for box in self.boxes.values() if box.x <= x < box.x + box.width)
        return next((box for box in found if box.y <= y < box.y + box.height), None)


def draw(layers: Layers, current: int, glyphs: Glyphs) -> Picture:
    """The picture of layers."""
    words = {row: _words(node, glyphs) for row, node in layers.nodes.items()}
    wide = {row: max(cell_len(line) for line in lines) + 4 for row, lines in words.items()}
    rows_wide = [sum(wide.get(spot, 1) + _GAP for spot in layer) - _GAP for layer in layers.layers]
    width = max(rows_wide, default=1)
    made = Picture(width, len(layers.layers) * (4 + _CHANNEL) - _CHANNEL)
    made.cells = [[(" ", "")] * made.width for _ in range(made.height)]
    middle: dict[int, int] = {}
    for number, layer in enumerate(layers.layers):
        x = (width - rows_wide[number]) // 2
        y = number * (4 + _CHANNEL)
        for spot in layer:
            size = wide.get(spot, 1)
            middle[spot] = x + size // 2
            if spot >= 0:
                made.boxes[spot] = Box(spot, x, y, size, 4)
            x += size + _GAP
    _wire(made, layers, middle, glyphs)
    for row, box in made.boxes.items():
        _box(made, box, words[row], _meaning(layers.nodes[row], row == current), glyphs)
    return made


def _words(node: Node, glyphs: Glyphs) -> tuple[str, str]:
    name = node.name if node.name != node.label else ""
    label = f"{node.name}.grad +=" if node.kind == "accumulate" and node.name else node.label
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


def _box(made: Picture, box: Box, words: tuple[str, str], meaning: str, glyphs: Glyphs) -> None:
    top_left, top_right, low_left, low_right, across, side = tuple(glyphs.box)
    _put(made, box.x, box.y, top_left + across * (box.width - 2) + top_right, meaning)
    for number, text in enumerate(words, 1):
        _put(made, box.x, box.y + number, f"{side} {fit(text, box.width - 4, glyphs.ellipsis)} {side}", meaning)
    _put(made, box.x, box.y + 3, low_left + across * (box.width - 2) + low_right, meaning)


def _put(made: Picture, x: int, y: int, text: str, meaning: str) -> None:
    for character in text:
        cells = cell_len(character)
        if cells == 0 or x >= made.width:
            continue
        made.cells[y][x] = (character, meaning)
        if cells == 2 and x + 1 < made.width:
            made.cells[y][x + 1] = ("", meaning)
        x += cells


def _wire(made: Picture, layers: Layers, middle: dict[int, int], glyphs: Glyphs) -> None:
    """Lines go down out of a box, across in the channel below it, and down into the next; they join where they meet."""
    bits: dict[tuple[int, int], int] = {}
    meanings: dict[tuple[int, int], str] = {}
    below = {spot: number for number, layer in enumerate(layers.layers) for spot in layer}
    for upper, lower, kind in layers.edges:
        layer = below[upper]
        begin = layer * (4 + _CHANNEL) + (4 if upper >= 0 else 0)
        end = below[lower] * (4 + _CHANNEL)
        bend = layer * (4 + _CHANNEL) + 4 + (0 if kind == "data" else 1)
        start, goal = middle[upper], middle[lower]
        path = [(start, y) for y in range(begin, bend)]
        path += [(x, bend) for x in range(start, goal, 1 if goal > start else -1)]
        path += [(goal, y) for y in range(bend, end + (4 if lower < 0 else 0))]
        _trace(bits, meanings, path, kind, first=upper, last=lower)
    joints = _PLAIN_JOINTS if glyphs.lane.isascii() else _JOINTS
    for (x, y), bit in bits.items():
        if 0 <= x < made.width and 0 <= y < made.height:
            made.cells[y][x] = (joints[bit], meanings[x, y])
    for _, lower, kind in layers.edges:
        y = below[lower] * (4 + _CHANNEL) - 1
        if lower >= 0 and y >= 0:
            made.cells[y][middle[lower]] = (glyphs.arrow, kind)


def _trace(
    bits: dict[tuple[int, int], int],
    meanings: dict[tuple[int, int], str],
    path: list[tuple[int, int]],
    kind: str,
    *,
    first: int,
    last: int,
) -> None:
    for place, (x, y) in enumerate(path):
        before = path[place - 1] if place else (x, y - 1)
        after = path[place + 1] if place + 1 < len(path) else (x, y + 1)
        bit = 0
        for other_x, other_y in (before, after):
            bit |= LEFT * (other_x < x) | RIGHT * (other_x > x) | UP * (other_y < y) | DOWN * (other_y > y)
        bits[x, y] = bits.get((x, y), 0) | bit
        if meanings.get((x, y)) != "gradient":
            meanings[x, y] = kind
