"""The large values that a segment holds already: one that is the same as another lies there once."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

_RECENT: Final = 1 << 12
_WORDS: Final = 32
_FACTOR: Final = 0x9E3779B97F4A7C15
_BITS: Final = (1 << 64) - 1


class RecentValues:
    """What `_recent_values.h` does: a few words of a value tell which one it may be, then all its bytes are compared.

    Args:
        values: The memory of a segment's values.
    """

    def __init__(self, values: Any) -> None:
        self._values = np.frombuffer(values, np.uint8)
        self._known: dict[int, tuple[int, int, int]] = {}

    def find(self, content: np.ndarray) -> int:
        """Where such a value lies, given as its bytes; -1: nowhere."""
        mark = _mark(content)
        known, offset, size = self._known.get(mark % _RECENT, (0, 0, 0))
        found = known == mark and size == len(content)
        return offset if found and np.array_equal(self._values[offset : offset + size], content) else -1

    def note(self, offset: int, content: np.ndarray) -> None:
        """A value was written."""
        mark = _mark(content)
        self._known[mark % _RECENT] = mark, offset, len(content)


def _mark(content: np.ndarray) -> int:
    """What tells a value from others: its size and words spread over it."""
    mark = len(content)
    starts = np.arange(_WORDS) * (len(content) - 8) // (_WORDS - 1)
    for word in content[starts[:, None] + np.arange(8)].view("<u8").ravel().tolist():
        mark = (mark ^ word) * _FACTOR & _BITS
        mark ^= mark >> 32
    return mark
