"""Two arrays of the same numbers that lie in another order: reshaped, transposed, permuted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from graphscope.compare.rounding import Allowed, agree

_MOST_AXES: Final = 5
_SAMPLE: Final = 64
_MOST_WHOLE: Final = 1 << 12
_MOST_SORTED: Final = 1 << 20
"""Larger arrays are not sorted to see whether they hold the same numbers."""

_CLOSE: Final = 4e-6
"""Rounding makes no more of what is computed anew from what agrees, as a part of the largest."""
_SLOPE: Final = 1e-6

HIDDEN: Final = 1e4
"""What masks add to scores is at least as low as the negative of this."""


def in_one_order(a: np.ndarray, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Both as flat arrays in the same order, where their numbers agree; None where they don't in any order.

    Args:
        a: An array.
        b: Another, of as many elements.
        tolerance: How far apart elements may lie, as a part of the largest.
    """
    if a.size != b.size:
        return None
    flat, scale = (a.reshape(-1), b.reshape(-1)), _scale(a)
    if not a.size or _agree(*flat, tolerance, scale):
        return flat
    sample = _sample(a.size)
    looked_at = flat[0][sample], flat[1][sample]
    for mine in _permuted(a):
        if _agree(_at(mine, sample), looked_at[1], tolerance, scale):
            found = mine.reshape(-1), flat[1]
            if _agree(*found, tolerance, scale):
                return found
    for its in _permuted(b):
        if _agree(looked_at[0], _at(its, sample), tolerance, scale):
            found = flat[0], its.reshape(-1)
            if _agree(*found, tolerance, scale):
                return found
    if a.size > _MOST_SORTED or a.dtype.kind == "c" or b.dtype.kind == "c":
        return None
    ordered = np.sort(flat[0]), np.sort(flat[1])
    return ordered if _agree(*ordered, tolerance, scale) else None


def same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    """Whether two values that are computed of what agrees hold the same numbers in some order, up to rounding."""
    if a is None or b is None or a.size != b.size or a.dtype.kind not in "fciub" or b.dtype.kind not in "fciub":
        return False
    ordered = in_one_order(a, b, 1e-4)
    if ordered is None:
        return False
    if "f" not in a.dtype.kind + b.dtype.kind:
        return bool((ordered[0] == ordered[1]).all())
    with np.errstate(all="ignore"):
        finite = np.abs(ordered[0][np.isfinite(ordered[0])])
        scale = float(finite.max()) if finite.size else 0.0
    return agree(*ordered, Allowed(_CLOSE * scale, 0.0, _SLOPE))


def may_hold_the_same(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Whether two large arrays agree where they are looked at; small ones are looked at whole."""
    if a.shape == b.shape and a.size > _MOST_WHOLE:
        places = np.linspace(0, a.size - 1, _MOST_WHOLE).astype(np.int64)
        if _agree(_at(a, places), _at(b, places), tolerance, _scale(a)):
            return True
    return in_one_order(a, b, tolerance) is not None


def _sample(size: int) -> np.ndarray:
    found: np.ndarray = np.linspace(0, size - 1, min(_SAMPLE, size)).astype(np.int64)
    return found


def _permuted(array: np.ndarray) -> Iterator[np.ndarray]:
    """The array with its axes in any other order, those of length 1 left out."""
    squeezed = array.reshape([size for size in array.shape if size != 1])
    if squeezed.ndim > _MOST_AXES:
        return
    orders = itertools.permutations(range(squeezed.ndim))
    next(orders)
    for order in orders:
        yield squeezed.transpose(order)


def _at(array: np.ndarray, places: np.ndarray) -> np.ndarray:
    return array[np.unravel_index(places, array.shape)] if array.ndim else array.reshape(1)


def _scale(array: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        found = float(np.nanmax(np.abs(array))) if array.size else 0.0
        if found >= HIDDEN and array.dtype.kind == "f":
            found = float(np.nanmax(np.abs(unhidden(array)), initial=0.0))
    return found if math.isfinite(found) else 0.0


def unhidden(array: np.ndarray) -> np.ndarray:
    """The elements without those that a mask made so small that nothing comes of them: far below all others."""
    with np.errstate(all="ignore"):
        lowest = array.min(initial=0.0)
        rest = array[array > lowest / 100]
        is_mask = lowest <= -HIDDEN and bool((np.abs(rest) <= -lowest / 100).all())
    return rest if is_mask else array.reshape(-1)


def _agree(a: np.ndarray, b: np.ndarray, tolerance: float, scale: float | None = None) -> bool:
    if a.dtype.kind == "b" or b.dtype.kind == "b":
        return bool((a == b).all())
    with np.errstate(all="ignore"):
        allowed = tolerance * (_scale(a) if scale is None else scale)
        apart = np.abs(a.astype(np.float64, copy=False) - b) if a.dtype.kind != "c" else np.abs(a - b)
        close = (apart <= allowed) | (a == b) | ((a != a) & (b != b))
        return bool(close.all()) or bool((close | (apart <= tolerance * np.abs(a))).all())
