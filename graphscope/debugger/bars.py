"""A series as bars in a line of text."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

_BARS: Final = "▁▂▃▄▅▆▇█"


def bars(values: np.ndarray, cells: int, span: tuple[float, float] | None = None) -> str:
    """Means of stretches as bars, `!` where no number is finite; nothing where none is anywhere.

    Args:
        values: The series.
        cells: So many bars at most.
        span: What the lowest and the highest bar stand for; None: the least and the largest mean.
    """
    if not np.isfinite(values).any():
        return ""
    parts = np.array_split(values, min(cells, len(values)))
    means = np.array([part[np.isfinite(part)].mean() if np.isfinite(part).any() else np.nan for part in parts])
    low, high = span or (float(np.nanmin(means)), float(np.nanmax(means)))
    shares = np.clip(np.nan_to_num((means - low) / (high - low or 1.0)), 0.0, 1.0)
    heights = (shares * (len(_BARS) - 1)).astype(int)
    return "".join("!" if math.isnan(mean) else _BARS[height] for mean, height in zip(means, heights, strict=True))
