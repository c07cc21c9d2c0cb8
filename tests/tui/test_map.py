"""The picture of boxes: what is joined can be followed along the lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphscope.eventlog.reader import load
from graphscope.tui.glyphs import UNICODE
from graphscope.tui.map.boxes import Sketch, sketch
from graphscope.tui.map.layers import Layers, neighbourhood
from tests.tui.screens import Screen, drive

WORDS = {"UP": "u", "DOWN": "d", "LEFT": "l", "RIGHT": "r", "VERTICAL": "ud", "HORIZONTAL": "lr"}
ENDS = {
    character: {way for word in unicodedata.name(character).split() for way in WORDS.get(word, "")}
    for character in map(chr, range(0x2500, 0x2580))
} | {UNICODE.arrow: {"u", "d"}}
"""Where the line of a character goes: up, down, left, right."""

STEPS = {"u": (0, -1), "l": (-1, 0), "r": (1, 0)}
BACK = {"u": "d", "l": "r", "r": "l"}


def joined(layers: Layers) -> set[tuple[int, int]]:
    """The rows that edges join, through the places where these pass."""
    above: dict[int, list[int]] = {}
    for upper, lower, _ in layers.edges:
        above.setdefault(lower, []).append(upper)
    found = set()
    for row in layers.nodes:
        for upper in above.get(row, ()):
            while upper < 0:
                (upper,) = above[upper]
            found.add((upper, row))
    return found


def followed(picture: Sketch, kinds: Sequence[str] = ("data", "gradient", "link", "way")) -> set[tuple[int, int]]:
    """The rows that somebody finds joined who follows the lines upwards from each arrow, taking every turn there is."""
    frames = {
        (x, y)
        for box in picture.boxes.values()
        for x in range(box.x, box.x + box.width)
        for y in range(box.y, box.y + box.height)
    }
    lines = {
        (x, y): text
        for y, cells in enumerate(picture.cells)
        for x, (text, meaning) in enumerate(cells)
        if meaning in kinds and (x, y) not in frames
    }
    found = set()
    for box in picture.boxes.values():
        arrows = {(x, box.y - 1) for x in range(box.x, box.x + box.width)}
        waiting = [place for place in arrows if lines.get(place) == UNICODE.arrow]
        seen = set(waiting)
        while waiting:
            x, y = waiting.pop()
            for way in ENDS[lines[x, y]] & set(STEPS):
                place = x + STEPS[way][0], y + STEPS[way][1]
                above = picture.at(*place)
                if place in lines and BACK[way] in ENDS[lines[place]] and place not in seen:
                    seen.add(place)
                    waiting.append(place)
                elif above is not None and way == "u":
                    found.add((above.row, box.row))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("radius", [1, 2, 4])
def test_every_edge_can_be_followed(training: Path, radius: int) -> None:
    for node in list(load(training).graph.nodes)[::3]:
        layers = neighbourhood(node, radius)
        picture = sketch(layers, node.row, UNICODE)
        assert joined(layers) <= followed(picture)


def test_near_a_node_lines_join_nothing_else(training: Path) -> None:
    for node in load(training).graph.nodes:
        layers = neighbourhood(node, 1)
        assert followed(sketch(layers, node.row, UNICODE)) == joined(layers)


@pytest.mark.slow
def test_a_click_goes_to_the_box_that_it_meets(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("m")
        for aside, there in ((12, 2), (13, 0)):
            await screen.type("goto 0")
            await screen.at(0)
            lines = screen.part("#map").split("\n")
            y = next(number for number, line in enumerate(lines) if "┃ ● mul  c  ┃" in line)
            await screen.pilot.click("#map", offset=(lines[y].index("┃ ● mul  c  ┃") + aside, y))
            await screen.pilot.pause(0.1)
            await screen.at(there)

    drive(product, use, size=(120, 30))
