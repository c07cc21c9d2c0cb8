"""Sums over dims of arrays, by the quicker of two ways."""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np

_LONGEST: Final = 4096
"""Numbers that BLAS adds up no less exactly than NumPy, which adds long rows in halves."""


@functools.lru_cache(64)
def _ones(count: int, dtype: Any) -> Any:
    return np.ones(count, dtype)


def sums(x: Any, dims: tuple[int, ...]) -> Any:
    """Sums over some dims, which stay as 1.

    Rows, and columns of a matrix, are added up as products with a vector of ones: NumPy's own sums spend more time
    between short rows than on them, and add fewer at a time.
    """
    size = math.prod(x.shape[dim] for dim in dims)
    if x.dtype.kind == "f" and x.dtype.itemsize > 2 and size and x.flags.c_contiguous and x.size > 1024:
        shape = [1 if place in dims else length for place, length in enumerate(x.shape)]
        if dims == tuple(range(x.ndim - len(dims), x.ndim)):
            return _of_rows(x.reshape(-1, size)).reshape(shape)
        if size <= _LONGEST and dims == tuple(range(len(dims))):
            return _ones(size, x.dtype).dot(x.reshape(size, -1)).reshape(shape)
    total: Any = np.add.reduce  # NumPy's stubs know keepdims only as a literal
    return total(x, axis=dims, keepdims=True)


def _of_rows(rows: Any) -> Any:
    """The sum of each row; of long ones in blocks, whose sums NumPy adds up."""
    length = rows.shape[1]
    if length <= _LONGEST:
        return rows.dot(_ones(length, rows.dtype))
    block = 1024
    whole = length - length % block
    blocks = rows[:, :whole].reshape(-1, block).dot(_ones(block, rows.dtype)).reshape(len(rows), -1)
    return np.add.reduce(blocks, 1) + np.add.reduce(rows[:, whole:], 1)
