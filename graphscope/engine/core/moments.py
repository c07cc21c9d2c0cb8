"""Means and variances over dims, exact for nearly equal numbers too, whose mean single precision tells hardly."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from graphscope.engine.core.layer_loops import moments_along
from graphscope.engine.core.sums import sums


def moments(x: Any, dims: tuple[int, ...]) -> tuple[Any, Any]:
    """Means, and means of the squares of the distances from them, over some dims in order, which stay as 1.

    Both are in double where the compiled part takes the array.
    """
    length, inner, kept, others = _layout(x.shape, dims)
    found = moments_along(x, length, inner)
    if found is None:
        rest, centre = centred(x, dims)
        return centre, sums(rest * rest, dims) / x.dtype.type(_size(x.shape, dims))
    centres, variances = found[0].reshape(kept), found[1].reshape(kept)
    if not others:
        return centres, variances
    centre = centres.mean(others, keepdims=True)
    return centre, (variances + np.square(centres - centre)).mean(others, keepdims=True)


def centred(x: Any, dims: tuple[int, ...]) -> tuple[Any, Any]:
    """The elements less their mean over some dims, and the mean.

    What is left has a mean of its own, by which rounding has moved the first; it is taken off as well.
    """
    size = x.dtype.type(_size(x.shape, dims))
    centre = sums(x, dims) / size
    rest = x - centre
    moved = sums(rest, dims) / size
    rest -= moved
    return rest, centre + moved


def lie(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[int, int] | None:
    """How many elements lie along dims, and how far apart; None where other dims lie between them."""
    length, inner, _, others = _layout(shape, dims)
    return None if others else (length, inner)


@functools.lru_cache(256)
def _layout(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    """Of the last dims that are side by side: how many elements lie along them, how far apart, and the shape without
    them; and the other dims.
    """
    first = len(dims) - 1
    while first > 0 and dims[first - 1] == dims[first] - 1:
        first -= 1
    beside = dims[max(first, 0) :]
    inner = math.prod(shape[beside[-1] + 1 :]) if beside else 1
    kept = tuple(1 if dim in beside else size for dim, size in enumerate(shape))
    return _size(shape, beside), inner, kept, dims[: max(first, 0)]


def _size(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    """By how many elements a sum is divided: of none, it is 0."""
    return max(math.prod([shape[dim] for dim in dims]), 1)
