"""Results as a picture, as SVG: bars on a logarithmic scale, or lines over a run, one group below the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from benchmarks.results import Groups, Measurement

WIDTH, LEFT, RIGHT = 860, 260, 90
BAR, GAP, HEAD = 14, 4, 34
OURS, OTHERS, YARDSTICK = "#1f6feb", "#9aa4b2", "#222222"
"""Colours of our bars, of those of others, and of the line at 1."""
LEAST: Final = 1e-2
"""Where the scale begins."""


def plot(groups: Groups, titles: Mapping[str, str], column: str = "to hand") -> str:
    """Draw one column of several groups.

    Args:
        groups: The results.
        titles: What to draw, by the name of the group: what stands above its bars.
        column: A ratio; 1 is marked.

    Returns:
        SVG.
    """
    shown = {title: _measured(groups[name], column) for name, title in titles.items() if name in groups}
    most = max((number for rows in shown.values() for _, number in rows), default=1.0)
    decades = math.log10(max(most, 10.0) / LEAST)
    scale = (WIDTH - LEFT - RIGHT) / decades
    parts, y = [], 0
    for title, rows in shown.items():
        parts.append(f'<text x="8" y="{y + 22}" font-weight="bold">{escape(title)}</text>')
        y += HEAD
        end = y + len(rows) * (BAR + GAP)
        one = LEFT + scale * math.log10(1 / LEAST)
        for name, number in rows:
            parts += _bar(y, name, number, scale)
            y += BAR + GAP
        parts.append(f'<path d="M{one:.1f} {end - len(rows) * (BAR + GAP) - 4}V{end}" stroke="{YARDSTICK}"/>')
    return _framed(parts, y + 8)


def _measured(rows: Sequence[Measurement], column: str) -> list[tuple[str, float]]:
    return [(row.name, row.numbers[column]) for row in rows if column in row.numbers]


def _bar(y: float, name: str, number: float, scale: float) -> list[str]:
    length = max(scale * math.log10(max(number, LEAST) / LEAST), 1.0)
    colour = OURS if name.startswith("graphscope") else OTHERS
    return [
        f'<text x="{LEFT - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{colour}"/>',
        f'<text x="{LEFT + length + 5:.1f}" y="{y + 11}">{number:.2g}</text>',
    ]


class Line(NamedTuple):
    """Points joined by a line."""

    name: str
    points: Sequence[tuple[float, float]]


PANEL, AXIS, SIDE = 120, 80, 16
"""The height of a panel, and the room beside it: for its numbers, and at the other sides."""


def lines(panels: Mapping[str, Sequence[Line]], mark: tuple[float, str] | None = None, axis: str = "step") -> str:
    """Draw lines from 0 on, in panels over one axis.

    Args:
        panels: What is drawn, by what stands above it; all have the same lines, our own colour for the first.
        mark: Where something happened, and what.
        axis: What is counted along the axis.

    Returns:
        SVG.
    """
    first = next(iter(panels.values()))
    end = max(x for line in first for x, _ in line.points)
    across = (WIDTH - AXIS - SIDE) / end
    colours = dict(zip((line.name for line in first), (OURS, OTHERS), strict=False))
    parts, y = [], SIDE + len(first) * (BAR + GAP)
    for place, (name, colour) in enumerate(colours.items()):
        top = SIDE + place * (BAR + GAP)
        parts += [
            f'<path d="M{AXIS} {top}h24" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{AXIS + 30}" y="{top + 4}">{escape(name)}</text>',
        ]
    for title, drawn in panels.items():
        y += HEAD
        most = max(value for line in drawn for _, value in line.points)
        up = PANEL / most
        parts += [
            f'<text x="{AXIS}" y="{y - 8}" font-weight="bold">{escape(title)}</text>',
            f'<path d="M{AXIS} {y}V{y + PANEL}H{WIDTH - SIDE}" fill="none" stroke="{YARDSTICK}"/>',
            f'<text x="{AXIS - 6}" y="{y + 8}" text-anchor="end">{most:.3g}</text>',
            f'<text x="{AXIS - 6}" y="{y + PANEL}" text-anchor="end">0</text>',
        ]
        if mark is not None:
            at = AXIS + across * mark[0]
            parts.append(f'<path d="M{at:.1f} {y}v{PANEL}" stroke="{YARDSTICK}" stroke-dasharray="3 3"/>')
        for line in drawn:
            points = " ".join(f"{AXIS + across * x:.1f},{y + PANEL - up * value:.1f}" for x, value in line.points)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colours[line.name]}" stroke-width="2"/>')
        y += PANEL
    parts += [
        f'<text x="{AXIS}" y="{y + 16}">{escape(axis)} 0</text>',
        f'<text x="{WIDTH - SIDE}" y="{y + 16}" text-anchor="end">{end:,.0f}</text>',
    ]
    if mark is not None:
        at = AXIS + across * mark[0]
        parts.append(f'<text x="{at:.1f}" y="{y + 16}" text-anchor="middle">{escape(mark[1])}</text>')
    return _framed(parts, y + 24)


def _framed(parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="12">'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n'
    )
