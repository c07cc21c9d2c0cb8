"""Circles in columns, joined by lines as thick as their weights are large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.exporters.box_styles import ALARM, FAINT, GRADIENT, INK
from graphscope.exporters.svg_shapes import document, element, group, text_width, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Column", "Joint", "drawing"]

POSITIVE: Final = "#0072b2"
NEGATIVE: Final = "#d55e00"
_RADIUS: Final = 22.0
_ACROSS: Final = 190.0
_DOWN: Final = 66.0
_MARGIN: Final = 24.0
_SHOWN: Final = 12
"""Of more neurons the first and the last are drawn."""
_LAST: Final = 2
_THIN: Final = 0.7
_THICK: Final = 4.3
_NOTHING: Final = 1e-12
"""Smaller numbers are written as 0."""


@dataclass(frozen=True, slots=True)
class Column:
    """A layer of neurons."""

    name: str
    done: str
    """The activation."""
    width: int
    activations: np.ndarray | None
    gradients: np.ndarray | None
    line: str
    """Of the program."""


@dataclass(frozen=True, slots=True)
class Joint:
    """The weights between two layers, a row for each neuron of the first."""

    name: str
    weights: np.ndarray | None
    gradients: np.ndarray | None


def drawing(
    columns: Sequence[Column], joints: Sequence[Joint], loss: tuple[str, float] | None, heading: Sequence[str]
) -> str:
    """The network as SVG.

    Args:
        columns: The input, and each layer.
        joints: What lies between them.
        loss: What the loss is called, and what it was.
        heading: What stands above.
    """
    shown = [_places(column.width) for column in columns]
    lines = max(map(len, shown)) + any(len(places) < each.width for places, each in zip(shown, columns, strict=True))
    top = _MARGIN + 18 * len(heading) + 72
    middle = top + (lines - 1) * _DOWN / 2 + _RADIUS
    centres = [
        _centres(_MARGIN + 60 + number * _ACROSS, middle, places, column.width)
        for number, (places, column) in enumerate(zip(shown, columns, strict=True))
    ]
    largest = max((_largest(each.weights) for each in joints), default=0.0)
    strongest = max((_largest(each.activations) for each in columns[1:]), default=0.0)
    parts = [
        words(each, _MARGIN, _MARGIN + 14 + 18 * row, size=13, is_bold=not row) for row, each in enumerate(heading)
    ]
    for number, joint in enumerate(joints):
        parts.append(_lines(joint, centres[number], centres[number + 1], largest))
    for number, (column, places) in enumerate(zip(columns, centres, strict=True)):
        scale = strongest if number else _largest(column.activations)
        parts.append(_circles(column, places, top - 30, scale))
    right = _MARGIN + 60 + (len(columns) - 1) * _ACROSS + _RADIUS + 48
    if loss is not None:
        parts += _loss(loss, right - 48, middle)
        right += 150
    foot = top + lines * _DOWN + 8
    legend, wide = _legend(foot, largest)
    return document([*parts, *legend], max(right, wide) + _MARGIN, foot + 62)


def _largest(values: np.ndarray | None) -> float:
    """The size of the largest finite number; 0 where none is known."""
    known = np.zeros(0) if values is None else np.abs(values[np.isfinite(values)])
    return float(known.max()) if known.size else 0.0


def _places(width: int) -> list[int]:
    """The neurons of a layer that are drawn."""
    if width <= _SHOWN:
        return list(range(width))
    return [*range(_SHOWN - 1 - _LAST), *range(width - _LAST, width)]


def _centres(x: float, middle: float, places: list[int], width: int) -> dict[int, tuple[float, float]]:
    """Where each neuron is drawn; where some are left out there is a gap."""
    slots = len(places) + (len(places) < width)
    first = middle - (slots - 1) * _DOWN / 2
    gap = len(places) - _LAST if len(places) < width else len(places)
    return {place: (x, first + (slot + (slot >= gap)) * _DOWN) for slot, place in enumerate(places)}


def _lines(
    joint: Joint, left: dict[int, tuple[float, float]], right: dict[int, tuple[float, float]], largest: float
) -> str:
    """The weights between neurons, the small ones first."""
    found: list[tuple[float, str]] = []
    for one, (x, y) in left.items():
        for other, (to_x, to_y) in right.items():
            ends = {"x1": x + _RADIUS, "y1": y, "x2": to_x - _RADIUS, "y2": to_y}
            if joint.weights is None:
                found.append((0.0, element("line", **ends, stroke=FAINT, stroke_width=_THIN)))
                continue
            weight = float(joint.weights[one, other])
            size = min(abs(weight) / largest, 1.0) if largest and np.isfinite(weight) else 0.0
            look = {
                "stroke": POSITIVE if weight >= 0 else NEGATIVE,
                "stroke_width": _THIN + (_THICK - _THIN) * size,
                "stroke_opacity": 0.3 + 0.6 * size,
                "stroke_dasharray": "5 3" if weight < 0 else None,
            }
            told = f"{joint.name}[{other}, {one}] = {weight:.4g}"
            if joint.gradients is not None:
                told += f"\n∂loss/∂ = {float(joint.gradients[one, other]):.4g}"
            found.append((size, group([element("line", **ends, **look)], told)))
    return group([line for _, line in sorted(found, key=lambda each: each[0])], fill="none")


def _circles(column: Column, places: dict[int, tuple[float, float]], top: float, strongest: float) -> str:
    """A layer: its name, its neurons, and how many are left out."""
    x = next(iter(places.values()))[0]
    count = f"{column.width:,} neuron{'s' if column.width != 1 else ''}"
    count += f", {len(places)} drawn" if len(places) < column.width else ""
    parts = [
        words(column.name, x, top - 14, size=13, anchor="middle", is_bold=True, most=_ACROSS - 20),
        words(" · ".join(filter(None, [column.done, count])), x, top + 1, size=11, anchor="middle", fill=FAINT,
              most=_ACROSS - 12),
    ]  # fmt: skip
    for place, (_, y) in places.items():
        parts.append(_circle(column, place, x, y, strongest))
    if len(places) < column.width:
        ys = [y for _, y in places.values()]
        hole = ys[-_LAST] - _DOWN
        parts += [element("circle", cx=x, cy=hole + step, r=2.2, fill=FAINT) for step in (-11.0, 0.0, 11.0)]
    return group(parts, column.line)


def _circle(column: Column, place: int, x: float, y: float, strongest: float) -> str:
    is_broken = column.activations is not None and not np.isfinite(column.activations[place])
    outline = {"stroke": ALARM, "stroke_width": 2.4} if is_broken else {"stroke": INK, "stroke_width": 1.2}
    parts = [element("circle", cx=x, cy=y, r=_RADIUS, fill="white", **outline)]
    told = [f"{column.name}, neuron {place}"]
    if column.activations is not None:
        value = float(column.activations[place])
        share = min(abs(value) / strongest, 1.0) if strongest and not is_broken else 0.0
        colour = POSITIVE if value >= 0 else NEGATIVE
        look = {"fill": colour, "fill_opacity": 0.42 * share, "stroke": "none"}
        parts.append(element("circle", cx=x, cy=y, r=_RADIUS, **look))
        parts.append(words(short(value), x, y + 4, size=12, anchor="middle", most=2 * _RADIUS - 6, fill=_ink(value)))
        told.append(f"activation {value:.6g}")
    if column.gradients is not None:
        value = float(column.gradients[place])
        parts.append(words(f"∂ {short(value)}", x, y + _RADIUS + 12, size=10, anchor="middle", fill=GRADIENT))
        told.append(f"gradient of the loss by it {value:.6g}")
    return group(parts, "\n".join(told))


def _ink(value: float) -> str:
    """The colour of a number: what is not finite is an alarm."""
    return INK if np.isfinite(value) else ALARM


def _loss(loss: tuple[str, float], x: float, y: float) -> Iterator[str]:
    """The box behind the last layer."""
    name, value = loss
    yield element("line", x1=x + 8, y1=y, x2=x + 42, y2=y, stroke=INK, stroke_width=1.4)
    yield element("path", d=f"M{x + 50:.5g} {y:.5g} l-9 -4 v8 z", fill=INK)
    box = {"x": x + 52, "width": 120, "rx": 8, "fill": "#f3f4f6", "stroke": INK}
    yield element("rect", y=y - 24, height=48, stroke_width=1.5, **box)
    yield words(name, x + 112, y - 4, size=12, anchor="middle", is_bold=True, most=108)
    yield words(f"{value:.4g}", x + 112, y + 13, size=12, anchor="middle", most=108, fill=_ink(value))


def _legend(y: float, largest: float) -> tuple[list[str], float]:
    """What colours, dashes and numbers mean, and how far it reaches to the right."""
    entries = [
        (element("line", x1=0, x2=34, y1=-4, y2=-4, stroke=POSITIVE, stroke_width=3), "weight above 0"),
        (element("line", x1=0, x2=34, y1=-4, y2=-4, stroke=NEGATIVE, stroke_width=3, stroke_dasharray="5 3"),
         "below 0"),
        ("", f"thicker: larger, up to {largest:.3g}"),
    ]  # fmt: skip
    parts, x = [], _MARGIN
    for mark, text in entries if largest else ():
        if mark:
            parts.append(element("g", mark, transform=f"translate({x:.5g} {y + 20:.5g})"))
            x += 42
        parts.append(words(text, x, y + 20, size=11, fill=FAINT))
        x += text_width(text, 11) + 22
    below = "in the circle: activation"
    parts.append(words(below, _MARGIN, y + 42, size=11, fill=FAINT))
    start = _MARGIN + text_width(below, 11) + 22
    gradients = "∂ below: gradient of the loss by it"
    parts.append(words(gradients, start, y + 42, size=11, fill=GRADIENT))
    return parts, max(x, start + text_width(gradients, 11))


def short(value: float) -> str:
    """A number in at most six letters, as there is room for in a circle."""
    size = abs(value)
    if not np.isfinite(value) or size < _NOTHING:
        return f"{size if size < _NOTHING else value:.0f}"
    if size < 0.001 or size >= 10_000:
        head, _, tail = f"{value:.0e}".partition("e")
        return f"{head}e{int(tail)}"
    return f"{value:.{3 if size < 0.1 else 2 if size < 10 else 1 if size < 100 else 0}f}"
