"""The bytes of a segment's values, read where they lie; what lies elsewhere is fetched as it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Need = Callable[[Any, Any], None]
"""Sees that stretches of memory are there: where they begin, and the bytes of each."""


class SegmentValues:
    """The bytes of `values.npy`.

    Args:
        memory: All of them.
        need: Called ahead of each look; None where all is there.
    """

    def __init__(self, memory: np.ndarray, need: Need | None = None) -> None:
        self.memory = memory
        self._need = need

    def __len__(self) -> int:
        return len(self.memory)

    def between(self, low: int, high: int) -> np.ndarray:
        """Those from `low` up to `high`."""
        if self._need is not None and high > low:
            self._need(low, high - low)
        return self.memory[low:high]

    def at(self, starts: np.ndarray, size: int) -> np.ndarray:
        """So many bytes from each of some places on, a row each; all lie inside."""
        if len(starts) == 0 or size == 0:
            return np.zeros((len(starts), size), np.uint8)
        if self._need is not None:
            self._need(starts, size)
        return np.asarray(np.lib.stride_tricks.sliding_window_view(self.memory, size)[starts])
