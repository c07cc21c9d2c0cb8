"""What was alive over a run, as a picture: an area for each kind of memory, one upon the other, and the peak."""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape

import numpy as np

from graphscope.graph.memory import KINDS, Memory

_WIDTH: Final = 900
_HEIGHT: Final = 320
_LEFT: Final = 90
_TOP: Final = 48
_FOOT: Final = 40

_COLOURS: Final = dict(zip(KINDS, ("#4e79a7", "#f28e2b", "#b07aa1", "#76b7b2", "#e15759", "#bab0ac"), strict=True))

_MOST: Final = 450
"""So many moments are drawn; of those in between the one of most bytes."""


def memory_chart(memory: Memory, title: str) -> str:
    """The bytes that are alive at each row, as SVG."""
    rows, alive = _thinned(memory.rows, memory.alive)
    peak = memory.peak
    top = 1 if peak is None else max(peak.bytes, 1)
    first, last = (int(rows[0]), int(rows[-1])) if len(rows) else (0, 1)
    x = _LEFT + (rows - first) / max(last - first, 1) * _WIDTH
    edges = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(alive, axis=1)], axis=1)
    y = _TOP + _HEIGHT - edges / top * _HEIGHT
    size = f"0 0 {_LEFT + _WIDTH + 20} {_TOP + _HEIGHT + _FOOT}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f"<title>{escape(title)}</title>",
    ]
    for place, (kind, words) in enumerate(KINDS.items()):
        if len(rows) and alive[:, place].any():
            points = _outline(x, y[:, place + 1], y[:, place])
            parts.append(f'<polygon fill="{_COLOURS[kind]}" points="{points}"><title>{words}</title></polygon>')
        left = _LEFT + 145 * place
        parts.append(f'<rect x="{left}" y="14" width="12" height="12" fill="{_COLOURS[kind]}"/>')
        parts.append(f'<text x="{left + 17}" y="24">{words}</text>')
    for share in (0, 0.5, 1):
        height = _TOP + _HEIGHT * (1 - share)
        parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{height}" y2="{height}" stroke="#0002"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{height + 4}" text-anchor="end">{_mebibytes(top * share)}</text>')
    foot = _TOP + _HEIGHT + 20
    parts.append(f'<text x="{_LEFT}" y="{foot}">#{first}</text>')
    parts.append(f'<text x="{_LEFT + _WIDTH}" y="{foot}" text-anchor="end">#{last}</text>')
    if peak is not None:
        at = _LEFT + (peak.row - first) / max(last - first, 1) * _WIDTH
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_TOP + _HEIGHT}" stroke="#0006"/>')
        anchor = "end" if at > _LEFT + _WIDTH / 2 else "start"
        words = f"peak at #{peak.row}: {_mebibytes(peak.bytes)}"
        parts.append(f'<text x="{at:.1f}" y="{_TOP - 6}" text-anchor="{anchor}">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _outline(x: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> str:
    """A band, from left to right and back; what is alive stays so until the next change."""
    along = np.repeat(x, 2)[1:]
    there, back = np.repeat(upper, 2)[:-1], np.repeat(lower, 2)[:-1]
    points = [*zip(along, there, strict=True), *zip(along[::-1], back[::-1], strict=True)]
    return " ".join(f"{across:.1f},{down:.1f}" for across, down in points)


def _thinned(rows: np.ndarray, alive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(rows) <= _MOST:
        return rows, alive
    parts = np.array_split(alive.sum(axis=1), _MOST)
    starts = np.cumsum([0, *map(len, parts[:-1])])
    places = [start + int(np.argmax(part)) for start, part in zip(starts, parts, strict=True)]
    return rows[places], alive[places]


def _mebibytes(size: float) -> str:
    return f"{size / 2**20:.4g} MiB"
