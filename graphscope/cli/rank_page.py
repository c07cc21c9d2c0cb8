"""Compared ranks as one page that needs nothing else: findings, matrices of ranks and steps, a row for each rank."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from pathlib import Path
from typing import Final

import numpy as np

from graphscope.cli.plain_page import page, table
from graphscope.diagnose.ranks.comparison import BINS, Comparison, Rank
from graphscope.diagnose.report_lines import lines_of
from graphscope.diagnose.text_lines import html_of

_WIDTH: Final = 110
"""So many columns of text findings have."""


def write_page(found: Comparison, place: Path) -> None:
    """Write the page to a file.

    Raises:
        OSError: It can't be written.
    """
    parts = (
        html_of(lines_of(found.report, _WIDTH)),
        _picture(found, "Time of a step", [each.seconds for each in found.ranks], "beside the longest of all"),
        _picture(found, "Time in collectives", [each.shares for each in found.ranks], "as a share of the step"),
        "<h2>Ranks</h2>",
        table(_HEADS, ((_cells(each), each.name in found.odd) for each in found.ranks)),
    )
    place.write_text(page(found.report.log, parts, _STYLE), encoding="utf-8")


def _picture(found: Comparison, title: str, rows: list[np.ndarray], scale: str) -> str:
    """A matrix, a pixel for each rank and stretch of steps; nothing where no number is known."""
    width = max((len(row) for row in rows), default=0)
    matrix = np.full((len(rows), width), np.nan)
    for place, row in enumerate(rows):
        matrix[place, : len(row)] = row
    if not np.isfinite(matrix).any():
        return ""
    most = min(float(np.nanmax(matrix)), 1.0) if "share" in scale else float(np.nanpercentile(matrix, 99))
    height = max(len(rows), min(24 * len(rows), 480))
    steps = max(each.kept for each in found.ranks)
    which = (
        f"the steps, 1 to {steps:,}"
        if all(each.kept == each.steps for each in found.ranks)
        else f"the {steps:,} steps that are kept"
    )
    marks = "".join(
        f'<i style="top:{100 * (place + 0.5) / len(rows):.2f}%" title="{html.escape(each.name)}"></i>'
        for place, each in enumerate(found.ranks)
        if each.name in found.odd
    )
    first, last = (html.escape(found.ranks[place].name) for place in (0, -1))
    return (
        f"<h2>{title}</h2><p>A row for each rank, from {first} to {last}; from left to right {which}"
        f"{f', in {BINS} stretches' if steps > BINS else ''}. Dark: long, {scale}. "
        f"{'An arrow points at a rank that is named above.' if marks else ''}</p>"
        f'<div class="matrix" style="height:{height}px"><img alt="{title}" src="{_png(matrix / (most or 1.0))}">'
        f"{marks}</div>"
    )


def _png(shares: np.ndarray) -> str:
    """A picture of numbers from 0 to 1, as an address; what is not known lets the page through."""
    known = np.isfinite(shares)
    depth = np.clip(np.where(known, shares, 0.0), 0.0, 1.0)[:, :, None]
    low, high = np.array(_LIGHT, float), np.array(_DARK, float)
    pixels = np.dstack([low + (high - low) * depth, 255.0 * known]).round().astype(np.uint8)
    lines = np.concatenate([np.zeros((len(pixels), 1), np.uint8), pixels.reshape(len(pixels), -1)], axis=1)
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


_LIGHT: Final = (236, 242, 249)
_DARK: Final = (12, 60, 110)


_HEADS: Final = ("rank", "recording", "rows", "steps", "collectives", "in collectives", "loss", "last line", "log")


def _cells(rank: Rank) -> list[str]:
    share = "" if rank.together != rank.together else f"{rank.together:.0%}"
    loss = "" if rank.loss is None else f"{rank.loss:.6g}"
    counts = [f"{number:,}" for number in (rank.rows, rank.steps, rank.collectives)]
    return [html.escape(cell) for cell in (rank.name, rank.state, *counts, share, loss, rank.last, rank.log)]


_STYLE: Final = """
.matrix{position:relative;margin-right:20px}
.matrix img{width:100%;height:100%;image-rendering:pixelated;display:block}
.matrix i{position:absolute;left:100%;width:0;border:7px solid transparent;border-right-color:#c62828;margin-top:-7px}
td:nth-child(n+3):nth-child(-n+7),th:nth-child(n+3):nth-child(-n+7){text-align:right}
"""
