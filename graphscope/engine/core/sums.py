"""Sums over dims of arrays, by the quicker of two ways."""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np

_FEW: Final = 1024
"""So many elements are added up before one has found out how to do it quicker."""
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
    if x.size > _FEW and x.dtype.kind == "f" and x.dtype.itemsize > 2 and x.flags.c_contiguous:
        size = math.prod(x.shape[dim] for dim in dims)
        shape = [1 if place in dims else length for place, length in enumerate(x.shape)]
        if dims == tuple(range(x.ndim - len(dims), x.ndim)):
            return _of_rows(x.reshape(-1, size)).reshape(shape)
        if size <= _LONGEST and dims == tuple(range(len(dims))):
            return _ones(size, x.dtype).dot(x.reshape(size, -1)).reshape(shape)
        if x.ndim - 1 in dims and shape[-1] != x.shape[-1]:
            return np.add.reduce(sums(x, (x.ndim - 1,)), axis=dims[:-1], keepdims=True)
    elif x.ndim == 2 and len(dims) == 1 and x.dtype.kind == "f" and x.dtype.itemsize > 2 and x.size:
        if dims[0] == 1:
            return x.dot(_ones(x.shape[1], x.dtype))[:, None]
        return _ones(x.shape[0], x.dtype).dot(x)[None]
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
