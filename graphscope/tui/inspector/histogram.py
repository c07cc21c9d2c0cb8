"""How the numbers of an array are spread, drawn upright."""

from __future__ import annotations

import numpy as np
from rich.text import Text

from graphscope.tui.screen_text import number

_SAMPLE = 1 << 18


def histogram(array: np.ndarray, width: int, height: int, bars: str) -> Text:
    """A histogram of so many cells; what is not finite is counted below."""
    flat = array.reshape(-1)
    flat = flat[:: max(flat.size // _SAMPLE, 1)].astype(np.float64)
    finite = flat[np.isfinite(flat)]
    made = Text()
    if finite.size == 0:
        return Text("no finite numbers", "muted")
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        made.append(f"all {finite.size} are {number(low)}")
    else:
        counts, _ = np.histogram(finite, bins=max(width, 4))
        _draw(made, counts, max(height, 1), bars)
        made.append(f"{number(low):<{max(width // 2, 1)}}{number(high):>{max(width - width // 2, 1)}}", "muted")
    odd = flat.size - finite.size
    if odd:
        made.append(f"\n{odd} not finite", "bold error")
    return made


def _draw(made: Text, counts: np.ndarray, height: int, bars: str) -> None:
    levels = len(bars)
    filled = np.ceil(counts / counts.max() * height * levels).astype(int)
    for line in range(height - 1, -1, -1):
        cells = np.clip(filled - line * levels, 0, levels)
        made.append("".join(bars[cell - 1] if cell else " " for cell in cells) + "\n", "forward")


def spark(values: list[float], width: int, bars: str) -> str:
    """A curve in one line: numbers as bars between their least and their greatest; what is not finite as `!`."""
    if not values:
        return ""
    points = np.asarray(values, np.float64)
    chunks = np.array_split(points, min(width, len(points)))
    heights = np.array([chunk[np.isfinite(chunk)].mean() if np.isfinite(chunk).any() else np.nan for chunk in chunks])
    finite = heights[np.isfinite(heights)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    span = high - low
    return "".join(
        "!" if not np.isfinite(value) else bars[int((value - low) / span * (len(bars) - 1)) if span else 0]
        for value in heights
    )
