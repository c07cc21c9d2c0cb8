"""Lines between boxes: down, across, and down again. They join where they meet, so they are laid apart if possible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from graphscope.tui.glyphs import Glyphs

Cell: TypeAlias = tuple[int, int]
"""A column and a line."""

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
"""Where a line goes on from a cell: bits."""
_JOINTS: Final = " ╵╹╷│╿╻╽┃╴╯┚╮┤┦┒┧┨╸┙┛┑┥┩┓┪┫╶╰┖╭├┞┎┟┠─┴┸┬┼╀┰╁╂╾┵┹┭┽╃┱╅╉╺┕┗┍┝┡┏┢┣╼┶┺┮┾╄┲╆╊━┷┻┯┿╇┳╈╋"
"""In the order of a number in base 3, its digits from the last on: up, down, left, right; none, thin, strong."""
_PLAIN_JOINTS: Final = " ||||++|-++|-+++"
"""In the order of the bits."""
_PLAIN_STRONG: Final = "#="
"""A strong line that goes up or down, and one that does not."""
WAY: Final = "way"
"""The kind of wires that stand out."""
_OVER: Final = ("way", "gradient")
"""Of several kinds in a cell the first of these is shown."""
_POINT: Final = 100
"""An arrow that is crossed is as bad as so many lines."""


@dataclass(frozen=True)
class Wire:
    """What is to be joined."""

    start: int
    """The column where it leaves."""
    goal: int
    """The column where it arrives."""
    begin: int
    """Its first line."""
    end: int
    """The line behind its last."""
    bends: range
    """The lines where it may go from one column to the other."""
    kind: str
    arrow: bool
    """It ends at a box; otherwise it goes on."""


def lines(wires: Iterable[Wire], glyphs: Glyphs) -> dict[Cell, tuple[str, str]]:
    """The characters of wires, with their kinds."""
    bits: dict[Cell, int] = {}
    strong: dict[Cell, int] = {}
    kinds: dict[Cell, str] = {}
    arrows: dict[Cell, str] = {}
    for wire in sorted(wires, key=_turn):
        paths = [_path(wire, bend) for bend in wire.bends]
        path = min(paths, key=lambda path: sum((cell in bits) + _POINT * (cell in arrows) for cell in path))
        for cell, bit in zip(path, _bits(path), strict=True):
            bits[cell] = bits.get(cell, 0) | bit
            strong[cell] = strong.get(cell, 0) | bit * (wire.kind == WAY)
            kinds[cell] = _foremost(kinds.get(cell, wire.kind), wire.kind)
        if wire.arrow:
            cell = (wire.goal, wire.end - 1)
            arrows[cell] = _foremost(arrows.get(cell, wire.kind), wire.kind)
    joint = _plain_joint if glyphs.lane.isascii() else _joint
    found = {cell: (joint(bit, strong[cell]), kinds[cell]) for cell, bit in bits.items()}
    return found | {cell: (glyphs.strong_arrow if kind == WAY else glyphs.arrow, kind) for cell, kind in arrows.items()}


def _foremost(one: str, other: str) -> str:
    return next((kind for kind in _OVER if kind in (one, other)), other)


def _joint(bits: int, strong: int) -> str:
    return _JOINTS[sum(3**place * ((bits >> place & 1) + (strong >> place & 1)) for place in range(4))]


def _plain_joint(bits: int, strong: int) -> str:
    return _PLAIN_STRONG[not strong & (UP | DOWN)] if strong else _PLAIN_JOINTS[bits]


def _turn(wire: Wire) -> tuple[bool, bool, int]:
    """Those with arrows come first, then those that pass; of each first the straight ones, and of those that move to a
    side first those furthest there: they are in the way of others.
    """
    return not wire.arrow, wire.start != wire.goal, -wire.start if wire.goal > wire.start else wire.start


def _path(wire: Wire, bend: int) -> list[Cell]:
    across = range(wire.start, wire.goal, 1 if wire.goal > wire.start else -1)
    path = [(wire.start, y) for y in range(wire.begin, bend)]
    path += [(x, bend) for x in across]
    return path + [(wire.goal, y) for y in range(bend, wire.end)]


def _bits(path: list[Cell]) -> Iterable[int]:
    """Where the line goes on from each cell of a path that comes from above and goes on below."""
    around = [(path[0][0], path[0][1] - 1), *path, (path[-1][0], path[-1][1] + 1)]
    for before, (x, y), after in zip(around, path, around[2:], strict=False):
        bit = 0
        for other_x, other_y in (before, after):
            bit |= LEFT * (other_x < x) | RIGHT * (other_x > x) | UP * (other_y < y) | DOWN * (other_y > y)
        yield bit
