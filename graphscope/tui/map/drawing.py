"""The drawing of a neighbourhood, as `export` draws it: laid out by Graphviz, in the colours of the theme, cut to the
room that there is.
"""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.exporters.dot import dot
from graphscope.exporters.graphviz_program import drawn
from graphscope.exporters.view_selection import marked
from graphscope.graph.passes import whole
from graphscope.tui.map import kitty, sixel
from graphscope.tui.map.boxes import Box, Picture
from graphscope.tui.map.module_drawing import view_of

if TYPE_CHECKING:
    from PIL.Image import Image
    from textual.color import Color
    from textual.geometry import Size

    from graphscope.graph import Graph, Node
    from graphscope.graph.modules import ModuleMap
    from graphscope.graph.paths import Paths
    from graphscope.graph.view import GraphView
    from graphscope.tui.map.terminal_graphics import Terminal
    from graphscope.tui.map.terminal_picture import Show, TerminalPicture

_LINE: Final = 1 / 5
"""Inches that a line of text takes in the layout: it is to be as high as a character of the terminal."""
_LEAST, _MOST = 0.8, 1.2
"""A drawing that does not fit gets so much smaller, then it is cut; a small one gets so much larger."""
_VIVID: Final = 1.4
"""Colours that lie on a dark page need to be stronger than those on paper."""
_PAD: Final = 0.15
"""Inches around all."""

_SHOW: Final[dict[str, Show]] = {"sixel": sixel.show, "kitty": kitty.show}

_Spot = tuple[float, float, float, float]
"""Left, top, width and height of a node, in inches."""


@dataclass(frozen=True)
class Wish:
    """What is to be drawn."""

    source: str
    """DOT."""
    rows: dict[str, int]
    """The row that each node of it stands for."""
    current: int
    room: Size
    """In characters."""
    paper: Color
    ink: Color


def wish_for(
    graph: Graph,
    nodes: Mapping[int, Node],
    current: int,
    breakpoints: set[int],
    room: Size,
    paper: Color,
    ink: Color,
    paths: Paths | None = None,
) -> Wish:
    """The wish to see these nodes of a graph, by their rows, and paths through them highlighted."""
    view = marked(whole(graph, None, sorted(nodes)), breakpoints, current)
    view = view if paths is None else _highlighted(view, paths)
    return Wish(dot(view), {node.id: node.rows[0] for node in view.nodes}, current, room, paper, ink)


def wish_for_modules(graph: Graph, shown: ModuleMap, current: int, room: Size, paper: Color, ink: Color) -> Wish:
    """The wish to see the modules of a map; `current` is the box where one stands, by its place."""
    view = view_of(graph, shown, current)
    return Wish(dot(view), {node.id: place for place, node in enumerate(view.nodes)}, max(current, 0), room, paper, ink)


def _highlighted(view: GraphView, paths: Paths) -> GraphView:
    ids = {row: node.id for node in view.nodes for row in node.rows}
    on_paths = {id for row, id in ids.items() if row in paths.rows}
    return replace(
        view,
        nodes=tuple(replace(node, highlighted=node.id in on_paths) for node in view.nodes),
        edges=tuple(replace(edge, highlighted=on_paths.issuperset((edge.source, edge.target))) for edge in view.edges),
    )


@dataclass
class Drawing(Picture):
    """A picture for a terminal that shows images."""

    shown: TerminalPicture
    cut: bool
    """There is more of it than there was room for."""


def draw(wish: Wish, terminal: Terminal) -> Drawing:
    """The drawing that was wished for. It takes some hundredths of a second.

    Raises:
        ExportError: There is no Graphviz, or it failed.
    """
    across, down = cell = terminal.cell
    spots, size = _layout(wish)
    columns = min(wish.room.width, terminal.largest[0] // across)
    rows = min(wish.room.height, terminal.largest[1] // down, kitty.MOST)
    room = columns * across, rows * down
    natural = down / _LINE
    fitting = min(most / (inches * natural) for most, inches in zip(room, size, strict=True))
    dpi = natural * min(max(fitting, _LEAST), _MOST)
    entire = _picture(wish.source, dpi)
    picture, start = _cut(entire, room, cell, spots[wish.current], dpi)
    picture = _coloured(picture, wish.paper, wish.ink)
    columns, rows = picture.width // across, picture.height // down
    return Drawing(
        columns,
        rows,
        {row: _box(row, spot, start, dpi, cell) for row, spot in spots.items()},
        _SHOW[terminal.protocol](picture, columns, rows, terminal.colours, wish.paper),
        entire.width > picture.width or entire.height > picture.height,
    )


def _layout(wish: Wish) -> tuple[dict[int, _Spot], tuple[float, float]]:
    """Where each row is drawn, and how large all is."""
    spots: dict[int, _Spot] = {}
    size = (1.0, 1.0)
    for line in drawn(wish.source, "plain").decode().splitlines():
        kind, *words = shlex.split(line.partition("<")[0])
        if kind == "graph":
            size = float(words[1]) + 2 * _PAD, float(words[2]) + 2 * _PAD
        elif kind == "node" and words[0] in wish.rows:
            x, y, width, height = map(float, words[1:5])  # of the middle, from below
            spots[wish.rows[words[0]]] = (x - width / 2 + _PAD, size[1] - _PAD - y - height / 2, width, height)
    return spots, size


def _box(row: int, spot: _Spot, start: tuple[int, int], dpi: float, cell: tuple[int, int]) -> Box:
    left, top, width, height = (inches * dpi for inches in spot)
    x, y = round((left - start[0]) / cell[0]), round((top - start[1]) / cell[1])
    return Box(row, x, y, max(round(width / cell[0]), 1), max(round(height / cell[1]), 1))


def _picture(source: str, dpi: float) -> Image:
    from PIL import Image

    code = drawn(source, "png", f"-Gdpi={dpi:.2f}", f"-Gpad={_PAD}")
    return Image.open(io.BytesIO(code)).convert("RGB")


def _cut(
    picture: Image, room: tuple[int, int], cell: tuple[int, int], around: _Spot, dpi: float
) -> tuple[Image, tuple[int, int]]:
    """A picture of whole characters with as much as there is room for around a node, and where it begins."""
    from PIL import Image

    centre = ((around[0] + around[2] / 2) * dpi, (around[1] + around[3] / 2) * dpi)
    sizes, starts = [], []
    for extent, most, unit, middle in zip(picture.size, room, cell, centre, strict=True):
        size = min(-(-extent // unit) * unit, most)
        sizes.append(size)
        starts.append((extent - size) // 2 if extent <= size else round(min(max(middle - size / 2, 0), extent - size)))
    canvas = Image.new("RGB", (sizes[0], sizes[1]), "white")
    canvas.paste(picture, (-starts[0], -starts[1]))
    return canvas, (starts[0], starts[1])


def _coloured(picture: Image, paper: Color, ink: Color) -> Image:
    """White becomes the paper and black the ink; what is coloured keeps its hue."""
    from PIL import Image

    pixels = np.asarray(picture, np.float32)
    light = pixels.mean(axis=2, keepdims=True)
    share = light / 255
    vivid = _VIVID if sum(paper.rgb) < sum(ink.rgb) else 1.0
    found = (
        share * np.array(paper.rgb, np.float32) + (1 - share) * np.array(ink.rgb, np.float32) + vivid * (pixels - light)
    )
    return Image.fromarray(np.clip(found, 0, 255).astype(np.uint8))
