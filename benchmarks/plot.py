"""Results as a picture: bars on a logarithmic scale, one group below the other, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final
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
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" font-family="sans-serif" '
        'font-size="12">'
        f'<rect width="{WIDTH}" height="{y + 8}" fill="white"/>{"".join(parts)}</svg>\n'
    )


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
