"""A number of each row, in memory as narrow as the largest of them."""

from __future__ import annotations

from typing import Final

import numpy as np

_LARGE: Final = 1 << 30
"""Below this the sum of two numbers has room in 32 bits."""


def row_type(end: int) -> np.dtype:
    """The narrowest signed type for the numbers of rows below `end`, and for sums and differences of two of them."""
    return np.dtype(np.int32 if end <= _LARGE else np.int64)


class NarrowNumbers:
    """A number of each of so many rows, 0 at first."""

    def __init__(self, length: int) -> None:
        self.column = np.zeros(length, np.uint8)

    def widen(self, most: int) -> bool:
        """Make room for numbers up to one; whether there was none."""
        is_wider = most > np.iinfo(self.column.dtype).max
        if is_wider:
            self.column = self.column.astype(np.min_scalar_type(most))
        return is_wider

    def put(self, place: int, part: np.ndarray) -> None:
        """Say what rows have, from a place on."""
        self.widen(int(part.max()))
        self.column[place : place + len(part)] = part
