"""Areas one upon the other, as high as what is alive, with the peak, and when backward passes ran."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.exporters.box_styles import FAINT, GRADIENT, INK
from graphscope.exporters.svg_shapes import document, element, group, words
from graphscope.graph.quantities import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Area", "Course", "Stretch", "drawing"]

_WIDTH: Final = 700.0
_HEIGHT: Final = 330.0
_LEFT: Final = 84.0
_KEY: Final = 300.0
"""The column beside, that says what each area is."""
_COLOURS: Final = (
    "#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#edc948", "#9c755f", "#ff9da7", "#bab0ac",
)  # fmt: skip
_DRAWN: Final = 450
"""So many moments are drawn; of those in between the one of most bytes."""
_READABLE: Final = 13.0
"""An area that is so high bears its number."""
_STEPS: Final = 14
"""So many ends of steps are drawn."""


@dataclass(frozen=True, slots=True)
class Area:
    """What one place held."""

    name: str
    line: str
    """Of the program; empty where it is of no one line."""
    alive: np.ndarray
    """Bytes at each moment."""


@dataclass(frozen=True)
class Course:
    """What was alive from one row to another."""

    first: int
    last: int
    rows: np.ndarray
    """The moments."""
    areas: tuple[Area, ...]

    @cached_property
    def total(self) -> np.ndarray:
        """All bytes at each moment."""
        return np.sum([area.alive for area in self.areas], axis=0) if self.areas else np.zeros(len(self.rows))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows that a backward pass ran over; of the end of a step just one."""

    first: int
    last: int
    name: str


def drawing(course: Course, stretches: Sequence[Stretch], heading: Sequence[str]) -> str:
    """The chart as SVG."""
    top = 30.0 + 18 * len(heading) + 14
    chart = _Chart(course, top)
    parts = [
        words(each, 24, 34.0 + 18 * row, size=13, is_bold=not row, most=_LEFT + _WIDTH)
        for row, each in enumerate(heading)
    ]
    parts += [*chart.scale(), *chart.areas(), *chart.peak(), *chart.stretches(stretches), *chart.key()]
    height = max(top + _HEIGHT + 62, top + 34 * len(course.areas) + 20)
    return document(parts, _LEFT + _WIDTH + _KEY, height)


class _Chart:
    """Where rows and bytes lie."""

    def __init__(self, course: Course, top: float) -> None:
        self.course, self.top = course, top
        self.most = max(float(course.total.max()) if len(course.total) else 0.0, 1.0)
        self.chosen = _thinned(course.total)

    def x(self, row: float) -> float:
        """Where a row lies."""
        length = max(self.course.last + 1 - self.course.first, 1)
        return _LEFT + (row - self.course.first) / length * _WIDTH

    def y(self, size: float) -> float:
        """Where so many bytes lie."""
        return self.top + _HEIGHT * (1 - size / self.most)

    def scale(self) -> Iterator[str]:
        """Lines for bytes, and the first and last row."""
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            y = self.y(self.most * share)
            yield element("line", x1=_LEFT, x2=_LEFT + _WIDTH, y1=y, y2=y, stroke="#e5e7eb")
            yield words(bytes_text(self.most * share), _LEFT - 8, y + 4, size=11, anchor="end", fill=FAINT)
        foot = self.top + _HEIGHT + 34
        yield words(f"#{self.course.first}", _LEFT, foot, size=11, fill=FAINT)
        yield words(f"#{self.course.last}", _LEFT + _WIDTH, foot, size=11, anchor="end", fill=FAINT)

    def areas(self) -> Iterator[str]:
        """Each area upon those below it; the first is the lowest."""
        rows = [self.x(row) for row in np.clip(self.course.rows[self.chosen], self.course.first, self.course.last + 1)]
        below = np.zeros(len(rows))
        for number, area in enumerate(self.course.areas):
            above = below + area.alive[self.chosen]
            points = self._outline(rows, above, below)
            shape = element("polygon", points=points, fill=_COLOURS[number], stroke="white", stroke_width=0.6)
            yield group([shape], area.name)
            yield from self._number(number, rows, above, below)
            below = above

    def peak(self) -> Iterator[str]:
        """A line where most was alive."""
        if not len(self.course.total):
            return
        at = self.x(float(self.course.rows[int(np.argmax(self.course.total))]))
        yield element("line", x1=at, x2=at, y1=self.top - 6, y2=self.top + _HEIGHT, stroke=INK, stroke_dasharray="3 3")
        anchor = "end" if at > _LEFT + _WIDTH / 2 else "start"
        yield words("peak", at + (-5 if anchor == "end" else 5), self.top - 4, size=11, anchor=anchor, is_bold=True)

    def stretches(self, found: Sequence[Stretch]) -> Iterator[str]:
        """Below the chart: bars for backward passes, and where steps end."""
        y = self.top + _HEIGHT + 4
        ends = [each for each in found if each.first == each.last]
        kept = ends[:: max(1, -(-len(ends) // _STEPS))]
        for each in found:
            left, right = self.x(each.first), self.x(each.last)
            if each.first != each.last:
                bar = element("rect", x=left, y=y, width=max(right - left, 1.0), height=7, fill=GRADIENT)
                yield group([bar], f"{each.name} #{each.first} to #{each.last}")
            elif each in kept:
                yield element("line", x1=right, x2=right, y1=y, y2=y + 14, stroke=FAINT)
                yield words(each.name, right - 3, y + 18, size=9, anchor="end", fill=FAINT)
        if len(found) > len(ends):
            yield element("rect", x=_LEFT, y=y + 44, width=16, height=7, fill=GRADIENT)
            yield words("backward passes", _LEFT + 22, y + 51, size=11, fill=FAINT)

    def key(self) -> Iterator[str]:
        """What each area is, in the order in which they lie, with its bytes at the peak."""
        x, y = _LEFT + _WIDTH + 26, self.top + 8
        at = int(np.argmax(self.course.total)) if len(self.course.total) else 0
        for number, area in reversed(list(enumerate(self.course.areas))):
            yield element("rect", x=x, y=y - 9, width=18, height=18, rx=3, fill=_COLOURS[number])
            yield words(str(number + 1), x + 9, y + 4, size=11, anchor="middle", is_bold=True)
            size = bytes_text(float(area.alive[at]))
            yield words(area.name, x + 26, y + 1, size=12, is_bold=True, most=_KEY - 142)
            yield words(size, x + _KEY - 50, y + 1, size=11, anchor="end", fill=FAINT)
            if area.line:
                yield words(area.line, x + 26, y + 14, size=10, fill=FAINT, most=_KEY - 76)
            y += 34

    def _outline(self, rows: Sequence[float], upper: np.ndarray, lower: np.ndarray) -> str:
        """A band, from left to right and back; what is alive stays so until the next change."""
        end = self.x(self.course.last + 1)
        along = np.append(np.repeat(rows, 2)[1:], end)
        there, back = (np.repeat([self.y(each) for each in edge], 2) for edge in (upper, lower))
        points = [*zip(along, there, strict=True), *zip(along[::-1], back[::-1], strict=True)]
        return " ".join(f"{across:.1f},{down:.1f}" for across, down in points)

    def _number(self, number: int, rows: Sequence[float], upper: np.ndarray, lower: np.ndarray) -> Iterator[str]:
        """The number of an area where it is highest, if there is room: nobody needs to see its colour."""
        if not len(rows):
            return
        nexts = [*rows[1:], self.x(self.course.last + 1)]
        wide = np.array(nexts) - np.array(rows)
        room = (upper - lower) / self.most * _HEIGHT
        fits = np.minimum(room, wide * 2)
        place = int(np.argmax(fits))
        if room[place] >= _READABLE and wide[place] >= _READABLE / 1.5:
            x, y = (rows[place] + nexts[place]) / 2, (self.y(upper[place]) + self.y(lower[place])) / 2
            yield words(str(number + 1), x, y + 4, size=11, anchor="middle", is_bold=True)


def _thinned(total: np.ndarray) -> np.ndarray:
    """The places of the moments that are drawn."""
    if len(total) <= _DRAWN:
        return np.arange(len(total))
    parts = np.array_split(np.arange(len(total)), _DRAWN)
    return np.array([part[int(np.argmax(total[part]))] for part in parts])
