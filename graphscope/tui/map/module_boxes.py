"""A map of modules drawn in characters: a box for each with a half for either pass, ops between them on one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from graphscope.tui.glyphs import Glyphs
from graphscope.tui.map.boxes import Box, Sketch, put
from graphscope.tui.map.columns import columns
from graphscope.tui.map.layers import Layers, layered
from graphscope.tui.map.module_words import Words, ops_words, port_words, words_of
from graphscope.tui.map.wires import Wire, lines

if TYPE_CHECKING:
    from graphscope.graph.modules import ModuleMap

_GAP: Final = 2
_WIDTHS: Final = (46, 38, 30, 22)
"""Boxes are of so many cells at most; where these are too wide for the window, of fewer."""
_NARROWEST: Final = 16
_LOW, _HIGH = 3, 4
"""Lines of a module's box where there are few, and where there are many."""
TALL: Final = 20
"""A window of so many lines has room for high boxes."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one stands on a map."""

    box: int = -1
    """The box, by its place; -1 in none."""
    member: int = 0
    """Which of those that are alike."""
    is_backward: bool = False


def module_sketch(
    shown: ModuleMap, here: Standing, findings: Sequence[int], room: tuple[int, int], glyphs: Glyphs
) -> Sketch:
    """The picture of a map.

    Args:
        shown: The map.
        here: Where one stands.
        findings: How many findings each box has.
        room: Columns and lines of the window.
        glyphs: Characters.
    """
    spots = list(range(len(shown.boxes)))
    layers = layered(spots, [(flow.source, flow.target, "data") for flow in shown.flows if not flow.is_carried])

    def drawn(columns_of: int, most: int) -> Sketch:
        words = _worded(shown, layers, here, findings, (columns_of, most), glyphs)
        return _drawn(shown, layers, words, here, _HIGH if room[1] >= TALL else _LOW, glyphs)

    for most in _WIDTHS:
        made = drawn(room[0], most)
        if made.width <= room[0]:
            return made
    return drawn(2 * room[0], _WIDTHS[1])


def _drawn(
    shown: ModuleMap,
    layers: Layers,
    words: dict[int, Words | str],
    here: Standing,
    high: int,
    glyphs: Glyphs,
) -> Sketch:
    widths = {spot: said.width if isinstance(said, Words) else cell_len(said) for spot, said in words.items()}
    column = [spot for layer in layers.layers for spot in layer if _alone(layer) and isinstance(words.get(spot), Words)]
    widths |= dict.fromkeys(column, max((widths[spot] for spot in column), default=0))
    widths |= {spot: 1 for layer in layers.layers for spot in layer if spot < 0}
    heights = {spot: high if isinstance(said, Words) else 1 for spot, said in words.items()}
    lefts = columns(layers.layers, layers.edges, widths, _GAP)
    tops, joints, height = _rows(layers, lefts, widths, heights)
    width = max((lefts[spot] + widths[spot] for spot in lefts), default=1)
    made = Sketch(width, height, {}, [[(" ", "")] * width for _ in range(height)])
    for spot in words:
        made.boxes[spot] = Box(spot, lefts[spot], tops[spot], widths[spot], heights[spot])
    for (x, y), line in lines(_wires(layers, made, lefts, tops, joints), glyphs).items():
        made.cells[y][x] = line
    for spot, said in words.items():
        box, is_here = made.boxes[spot], spot == here.box
        if isinstance(said, Words):
            _draw(made, box, said, here if is_here else None, glyphs)
        else:
            kind = shown.boxes[spot].kind
            put(made, box.x, box.y, said, "current" if is_here else "leaf" if kind == "input" else "note")
    return made


def _alone(layer: Sequence[int]) -> bool:
    """Whether a layer has one box: such are of one width, so that they stand in a column."""
    return sum(spot >= 0 for spot in layer) == 1


def _worded(
    shown: ModuleMap, layers: Layers, here: Standing, findings: Sequence[int], room: tuple[int, int], glyphs: Glyphs
) -> dict[int, Words | str]:
    """The words of each box; those of one layer share the room that there is."""
    found: dict[int, Words | str] = {}
    for layer in layers.layers:
        boxes = [spot for spot in layer if spot >= 0]
        modules = [spot for spot in boxes if shown.boxes[spot].kind == "module"]
        left = room[0] - (len(layer) - len(boxes)) * (1 + _GAP) - _GAP * (len(boxes) - 1)
        most = max(min(left // max(len(boxes), 1), room[1]), _NARROWEST)
        for spot in boxes:
            box = shown.boxes[spot]
            if box.kind != "module":
                said = found[spot] = (ops_words if box.kind == "ops" else port_words)(box, most, glyphs)
                left -= cell_len(said)
        most = max(min(left // max(len(modules), 1), room[1]), _NARROWEST)
        for spot in modules:
            member = here.member if spot == here.box else None
            found[spot] = words_of(shown.boxes[spot], member, findings[spot], most, glyphs)
    return found


def _rows(
    layers: Layers, lefts: dict[int, int], widths: dict[int, int], heights: dict[int, int]
) -> tuple[dict[int, int], list[tuple[int, int, int]], int]:
    """The first line of each spot; of each layer its first line, its lines, and those below it; and all lines."""
    number = {spot: place for place, layer in enumerate(layers.layers) for spot in layer}
    bent = [0] * len(layers.layers)
    for upper, lower, _ in layers.edges:
        start, goal = _ends(upper, lower, lefts, widths)
        bent[number[upper]] += start != goal
    tops: dict[int, int] = {}
    joints, y = [], 0
    for place, layer in enumerate(layers.layers):
        lines_of = max(heights.get(spot, 1) for spot in layer)
        for spot in layer:
            tops[spot] = y + (lines_of - heights.get(spot, lines_of)) // 2
        channel = 1 + min(bent[place], 3) if place + 1 < len(layers.layers) else 0
        joints.append((y, lines_of, channel))
        y += lines_of + channel
    return tops, joints, y


def _ends(upper: int, lower: int, lefts: dict[int, int], widths: dict[int, int]) -> tuple[int, int]:
    """The columns where a wire leaves one spot and comes to the other."""
    doors = [
        (lefts[spot] + margin, lefts[spot] + widths[spot] - 1 - margin)
        for spot, margin in ((upper, 2 if upper >= 0 else 0), (lower, 2 if lower >= 0 else 0))
    ]
    start = min(max(sum(doors[1]) // 2, doors[0][0]), doors[0][1])
    return start, min(max(start, doors[1][0]), doors[1][1])


def _wires(
    layers: Layers,
    made: Sketch,
    lefts: dict[int, int],
    tops: dict[int, int],
    joints: list[tuple[int, int, int]],
) -> Iterable[Wire]:
    number = {spot: place for place, layer in enumerate(layers.layers) for spot in layer}
    widths = {spot: made.boxes[spot].width if spot >= 0 else 1 for spot in lefts}
    for upper, lower, kind in layers.edges:
        start, goal = _ends(upper, lower, lefts, widths)
        top, lines_of, channel = joints[number[upper]]
        first = top + lines_of
        arrow = lower >= 0
        begin = made.boxes[upper].y + made.boxes[upper].height if upper >= 0 else top
        below, below_lines, _ = joints[number[lower]]
        end = tops[lower] if arrow else below + below_lines
        bends = range(first, max(first + channel - arrow, first + 1))
        yield Wire(start, goal, begin, end, bends, kind, arrow)


def _draw(made: Sketch, box: Box, words: Words, here: Standing | None, glyphs: Glyphs) -> None:
    frame = "current" if here is not None else "forward"
    characters = glyphs.strong_box if here is not None else glyphs.box
    top_left, top_right, low_left, low_right, across, side = tuple(characters)
    inner = box.width - 2
    put(made, box.x, box.y, top_left + across * inner + top_right, frame)
    put(made, box.x + 2, box.y, f" {words.title} "[: box.width - 3], "current" if here is not None else "module")
    last = box.y + box.height - 1
    for y in range(box.y + 1, last):
        put(made, box.x, y, side + " " * inner + side, frame)
    put(made, box.x + 2, box.y + 1, words.facts, "fact")
    put(made, box.x, last, low_left + across * inner + low_right, frame)
    y = last - 1 if box.height > _LOW else last
    blank = " " if box.height > _LOW else across
    right = box.x + box.width - 2 - cell_len(words.backward)
    for text, x, half, is_backward in (
        (words.forward, box.x + 2, "forward", False),
        (words.backward, right, "backward", True),
    ):
        if text:
            stands = here is not None and here.is_backward == is_backward
            put(made, x - (blank != " "), y, text if blank == " " else f" {text} ", f"{half}-here" if stands else half)
