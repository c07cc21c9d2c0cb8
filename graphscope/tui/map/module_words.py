"""What stands in the boxes of modules: as many facts as there is room for, none of them cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from graphscope.graph.quantities import count_text, time_text
from graphscope.tui.screen_text import escape, fit_name, number, shape_text

if TYPE_CHECKING:
    from graphscope.graph.modules import Half, ModuleBox
    from graphscope.tui.glyphs import Glyphs

Shapes = tuple[tuple[int, ...], ...]
_MOST_SHAPES: Final = 2


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a module's box."""

    title: str
    facts: str
    """Shapes and parameters."""
    forward: str
    backward: str

    @property
    def width(self) -> int:
        """The cells that the box takes, its frame included."""
        halves = cell_len(self.forward) + cell_len(self.backward) + 3 * bool(self.forward and self.backward)
        return max(cell_len(self.title) + 1, cell_len(self.facts), halves) + 4


def words_of(box: ModuleBox, member: int | None, findings: int, most: int, glyphs: Glyphs) -> Words:
    """The words of a box of at most so many cells.

    Args:
        box: The box.
        member: Which of those that are alike is told of; None for all together.
        findings: So many were found in it.
        most: Cells, the frame included.
        glyphs: Characters.
    """
    told = box if member is None or not box.members else box.members[member]
    room = max(most - 5, 1)
    name, times = escape(box.name), f" {glyphs.times}{box.count}" if box.members else ""
    if told is not box:
        name = f"{escape(told.name)} of {escape(_range(told.name, box.name))}" if told.name != box.name else name
        times = times if told.name != box.name else f" {(member or 0) + 1} of {box.count}"
    marks = f" {glyphs.finding}{findings if findings > 1 else ''}" if findings else ""
    titles = (f"{name}{times}  {escape(box.type)}", f"{name}{times}", f"{escape(told.name)}{times}", escape(told.name))
    title = _longest([each + marks for each in titles], room)
    if cell_len(title) > room:
        title = fit_name(told.name, max(room - cell_len(marks), 4), glyphs.ellipsis).rstrip() + marks
    return Words(title, _facts(told, room, glyphs), *_halves(told, room, glyphs))


def _range(one: str, all_of_them: str) -> str:
    """`0-3` of `layers.2` and `layers.0-3`."""
    same = next(
        (place for place, pair in enumerate(zip(one, all_of_them, strict=False)) if len(set(pair)) > 1), len(one)
    )
    while same and all_of_them[same - 1].isdigit():
        same -= 1
    return all_of_them[same:]


def ops_words(box: ModuleBox, most: int, glyphs: Glyphs) -> str:
    """The words of ops between modules, on one line."""
    times = f" {glyphs.times}{box.count}" if box.members else ""
    shape = shapes_text(box.given, glyphs)
    name = escape(box.name)
    ops = name.split(", ")
    ends = f"{ops[0]} .. {ops[-1]}" if len(ops) > 2 else name
    last = f".. {ops[-1]}" if len(ops) > 1 else name
    choices = [f"{each}{times}{told}" for each in (name, ends, last) for told in (f"  {shape}", "")]
    return f"( {_longest(choices, max(most - 4, 4))} )"


def port_words(box: ModuleBox, most: int, glyphs: Glyphs) -> str:
    """The words of what comes in, or goes out."""
    shape = shapes_text(box.given or box.taken, glyphs)
    sign = glyphs.leaf if box.kind == "input" else glyphs.arrow
    name = escape(box.name)
    last = name.rpartition(".")[2]
    return _longest((f"{sign} {name}  {shape}", f"{sign} {name}", f"{sign} {last}"), most)


def _facts(box: ModuleBox, room: int, glyphs: Glyphs) -> str:
    taken, given = shapes_text(box.taken, glyphs), shapes_text(box.given, glyphs)
    flow = taken if taken == given else f"{taken} {glyphs.leads_to} {given}".strip()
    size = count_text(box.size) if box.size else ""
    choices = [(flow, f"{size} parameters"), (flow, f"{size} par."), (flow, size)] if size else []
    return _longest(["  ".join(choice) for choice in choices] + [flow, given, size], room)


def shapes_text(shapes: Shapes, glyphs: Glyphs) -> str:
    """Shapes in a few words: `8x12x32, 8x5`."""
    shown = [shape_text(shape, glyphs.times) or "scalar" for shape in shapes[:_MOST_SHAPES]]
    same = len(set(shown)) == 1 and len(shapes) == _MOST_SHAPES
    text = f"2 of {shown[0]}" if same else ", ".join(shown)
    return text + (f", +{len(shapes) - _MOST_SHAPES}" if len(shapes) > _MOST_SHAPES else "")


def _halves(box: ModuleBox, room: int, glyphs: Glyphs) -> tuple[str, str]:
    """What stands in the forward and in the backward half."""
    forward, backward = _time(box.forward, glyphs), _time(box.backward, glyphs)
    norm = "" if box.gradient is None else f"norm {number(box.gradient, 3)}"
    left = f"{glyphs.ahead} {forward}"
    right = f"{glyphs.behind} {backward}" if box.backward is not None else ""
    bare = norm.removeprefix("norm ")
    for one, other, told in (
        (left, right, norm), (left, right, bare), (left, "", norm), (left, right, ""), ("", "", norm)
    ):  # fmt: skip
        other = "  ".join(part for part in (other, told) if part)
        if cell_len(one) + cell_len(other) + 3 <= room:
            return one, other
    return "", ""


def _time(half: Half | None, glyphs: Glyphs) -> str:
    text = time_text(half.nanoseconds) if half is not None else ""
    return text.replace("µ", "u") if glyphs.lane.isascii() else text


def _longest(texts: Sequence[str], room: int) -> str:
    """The first text that has room; the last where none has."""
    return next((text for text in texts if cell_len(text) <= room), texts[-1])
