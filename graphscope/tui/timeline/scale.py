"""Whether a curve shows more on a logarithmic scale: its numbers say so, and the axis says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

_LEVELS: Final = 8
_MORE: Final = 0.5
"""So many bits more a logarithmic scale has to tell before it is taken."""


def scaled(values: Sequence[float]) -> tuple[np.ndarray, bool]:
    """The numbers as they are drawn, and whether these are their logarithms."""
    plain = np.asarray(values, np.float64)
    finite = plain[np.isfinite(plain)]
    if not len(finite) or finite.min() <= 0 or finite.max() / finite.min() < _LEVELS:
        return plain, False
    with np.errstate(invalid="ignore"):
        logarithms = np.log10(plain)
    tells_more = _told(np.log10(finite)) > _told(finite) + _MORE
    return (logarithms, True) if tells_more else (plain, False)


def _told(values: np.ndarray) -> float:
    """How many bits the heights of bars tell of the values."""
    low, high = values.min(), values.max()
    heights = ((values - low) / (high - low or 1.0) * (_LEVELS - 1)).astype(int)
    shares = np.bincount(heights) / len(values)
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())
