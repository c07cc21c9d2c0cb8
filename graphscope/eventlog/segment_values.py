"""The bytes of a segment's values, read where they lie; what lies elsewhere is fetched as it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.eventlog.mapped import release

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
        self._low, self._high = len(memory), 0

    def __len__(self) -> int:
        return len(self.memory)

    @property
    def extent(self) -> int:
        """So many bytes, at most, were looked at since they were released."""
        return max(self._high - self._low, 0)

    def release(self) -> None:
        """Let the system have back the memory of what was looked at."""
        release(self.memory)
        self._low, self._high = len(self.memory), 0

    def between(self, low: int, high: int) -> np.ndarray:
        """Those from `low` up to `high`."""
        if self._need is not None and high > low:
            self._need(low, high - low)
        self._low, self._high = min(self._low, low), max(self._high, high)
        return self.memory[low:high]

    def at(self, starts: np.ndarray, size: int) -> np.ndarray:
        """So many bytes from each of some places on, a row each; all lie inside."""
        if len(starts) == 0 or size == 0:
            return np.zeros((len(starts), size), np.uint8)
        if self._need is not None:
            self._need(starts, size)
        self._low, self._high = min(self._low, int(starts.min())), max(self._high, int(starts.max()) + size)
        stretches = np.ndarray((len(self.memory) - size + 1, size), np.uint8, self.memory, 0, (1, 1))
        return np.asarray(stretches[starts])
