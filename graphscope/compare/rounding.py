"""Whether two tensors are the same up to rounding, and how far apart they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from graphscope.compare.difference import Distance
from graphscope.eventlog.values import Summary

PRECISION: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "complex64": 24, "complex128": 53}
"""Bits of a significand, the leading one among them."""


def roundoff(*dtypes: str) -> float:
    """The unit roundoff of the coarsest of some dtypes: half of the distance from 1 to the next number; 0 of integers.

    (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 2.1.)
    """
    bits = [PRECISION[name] for name in dtypes if name in PRECISION]
    return 2.0 ** -min(bits) if bits else 0.0


@dataclass(frozen=True, slots=True)
class Allowed:
    """How far apart two tensors may be so that they are still the same: `absolute + relative * |a|`, each element."""

    absolute: float | np.ndarray = 0.0
    relative: float | np.ndarray = 0.0
    """Numbers, or arrays that broadcast to `a`."""
    slope: float = np.inf
    """How much larger all of `b` may be than `a`, as a part of it. Noise has no slope; a wrong `eps` has one."""
    flips: float = 0.0
    """So many of the elements of a tensor of integers or booleans may differ, as a part of all."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How two tensors of one size differ, in the numbers by which the next op can be judged."""

    elements: int
    size: float
    """Root of the mean square of `a`."""
    largest: float
    """The largest absolute difference."""
    spread: float
    """Root of the mean square of the differences."""
    slope: float = 0.0
    """How much larger `b` is than `a` altogether, as a part of it: the slope of the differences over `a`."""
    noise: float = np.inf
    """So steep a slope may come of differences that have none; infinite where there are too few to tell."""

    @property
    def relative(self) -> float:
        """The spread as a part of the size."""
        return self.spread / self.size if self.size else np.inf if self.spread else 0.0


def agree(a: np.ndarray, b: np.ndarray, allowed: Allowed, found: Deviation | None = None) -> bool:
    """Whether two tensors of as many elements are the same within what is allowed. NaN is equal to NaN.

    Two things part them. An element that is farther away than is allowed. And a slope: rounding errors are of either
    sign and unlike from row to row, so that they cancel over many rows; what a wrong `eps` or scale does to all rows
    does not, and is seen even where it is smaller than a single rounding error.

    Args:
        a: A tensor.
        b: Another of the same count of elements; they are compared in C order.
        allowed: From `errors.allowed`, or `Allowed(atol, rtol)` where a person says it.
        found: Their deviation, where it is known.
    """
    if a.size != b.size:
        return False
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        return int(np.count_nonzero(a.reshape(-1) != b.reshape(-1))) <= allowed.flips * a.size
    found = found or deviation(a, b)
    if found is None:
        return False
    if not found.largest:
        return True
    if abs(found.slope) > allowed.slope + found.noise:
        return False
    return found.largest <= np.min(allowed.absolute) or _within(a, b, allowed)


def statistics_agree(a: Summary, b: Summary, allowed: Allowed, *, are_independent: bool = False) -> bool:
    """The same of tensors of which only statistics were kept.

    Args:
        a: The statistics of a tensor.
        b: Those of another.
        allowed: How far apart elements may be.
        are_independent: Whether each element is rounded by itself: then mean and deviation hardly change.
    """
    if (a.count, a.nan, a.inf) != (b.count, b.nan, b.inf):
        return False
    absolute = float(np.max(allowed.absolute))
    scale = float(np.max(allowed.relative)) * max(abs(a.minimum), abs(a.maximum))
    most = absolute + scale
    ends, moments = ((a.minimum, b.minimum), (a.maximum, b.maximum)), ((a.mean, b.mean), (a.std, b.std))
    part = 2 / math.sqrt(max(a.count, 4)) if are_independent else 1.0
    return all(abs(one - two) <= most for one, two in ends) and all(abs(m - n) <= most * part for m, n in moments)


def deviation(a: np.ndarray, b: np.ndarray) -> Deviation | None:
    """How two tensors differ; None where they are of unlike size, or NaN or Inf lie in unlike places."""
    if a.size != b.size:
        return None
    largest = differences = 0.0
    products, squares = [], []
    one, two = (each.view(each.real.dtype) if each.dtype.kind == "c" else each for each in _rows(a, b))
    step = max(1, _CHUNK // max(1, one.shape[1]))
    for first in range(0, len(one), step):
        pair = _apart(one[first : first + step], two[first : first + step])
        if pair is None:
            return None
        known, apart = pair
        products.append(np.einsum("ij,ij->i", apart, known, dtype=np.float64))
        squares.append(np.einsum("ij,ij->i", known, known, dtype=np.float64))
        differences += float(np.einsum("ij,ij->", apart, apart, dtype=np.float64))
        largest = max(largest, float(apart.max(initial=0)), -float(apart.min(initial=0)))
    count = max(a.size, 1)
    square = np.concatenate(squares) if squares else np.zeros(1)
    slope, noise = _slope(np.concatenate(products) if products else square, square)
    size, spread = math.sqrt(square.sum() / count), math.sqrt(differences / count)
    return Deviation(a.size, size, largest, spread, slope, noise)


_CHUNK: Final = 1 << 17
"""So many elements at a time, which fit into a processor's cache."""
_GROUPS: Final = 8
"""Of fewer rows nothing is said about what they have in common."""
_ERRORS: Final = 6.0
"""A slope of so many standard errors is no chance."""


def _rows(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two tensors as tables of the same rows, whose rounding errors are independent: by the last axis, or in blocks."""
    width = a.shape[-1] if a.ndim > 1 else 0
    if not (width >= _GROUPS and a.size >= width * _GROUPS):
        width = next((size for size in range(a.size // 64, _GROUPS, -1) if not a.size % size), a.size)
    return a.reshape(-1, max(width, 1)), b.reshape(-1, max(width, 1))


def _apart(one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The finite elements of the first, and how far those of the second are off; 0 where neither is finite.

    Of numbers that are within a factor of 2 the difference is exact in their own dtype (Sterbenz; Higham, th. 2.5).
    """
    dtype = np.result_type(one.dtype, two.dtype, np.float32)
    one, two = one.astype(dtype, copy=False), two.astype(dtype, copy=False)
    with np.errstate(all="ignore"):
        apart = two - one
        if np.isfinite(np.einsum("ij->", apart)):
            return one, apart
        odd = ~np.isfinite(apart)
        same = (one[odd] == two[odd]) | (np.isnan(one[odd]) & np.isnan(two[odd]))
        if not same.all():
            return None
        return np.where(odd, dtype.type(0), one), np.where(odd, dtype.type(0), apart)


def _slope(products: np.ndarray, squares: np.ndarray) -> tuple[float, float]:
    """The slope of differences over values, and how steep a slope of noise may be.

    Ordinary least squares through 0, with standard errors of clusters, a row each: what rounds a row's variance or
    sum is common to the row and to no other.
    """
    total = float(squares.sum())
    if not total:
        return 0.0, np.inf
    slope = float(products.sum()) / total
    groups = total**2 / float(squares @ squares)
    if groups < _GROUPS:
        return slope, np.inf
    rest = products - slope * squares
    return slope, _ERRORS * (1 + 20 / groups) * float(np.sqrt(rest @ rest)) / total


def _fitting(bound: float | np.ndarray, shape: tuple[int, ...]) -> float | np.ndarray:
    """A bound that lies as a tensor does; its largest where the tensor is compared in another order."""
    ends = zip(reversed(np.shape(bound)), reversed(shape), strict=False)
    fits = np.ndim(bound) <= len(shape) and all(one in (1, other) for one, other in ends)
    return bound if fits else float(np.max(bound))


def _within(a: np.ndarray, b: np.ndarray, allowed: Allowed) -> bool:
    """Whether each element is as near as is allowed, of tensors with NaN and Inf in the same places."""
    wide = np.result_type(a.dtype, b.dtype, np.float32)
    two = b.reshape(a.shape)
    absolute, relative = (_fitting(each, a.shape) for each in (allowed.absolute, allowed.relative))
    with np.errstate(all="ignore"):
        bound = np.abs(a, dtype=wide.type(0).real.dtype if wide.kind == "c" else wide) * relative
        bound += absolute
        # A bound that is no number, as of values that are too large to be squared, bounds nothing.
        return not bool((np.abs(two - a.astype(wide, copy=False)) > bound).any())


def distance(a: np.ndarray, b: np.ndarray, *dtypes: str) -> Distance | None:
    """How far two tensors are apart; None where they are of unlike size or empty.

    Args:
        a: A tensor.
        b: Another of as many elements; they are compared in C order.
        dtypes: The names of their dtypes, where NumPy has none, as of bfloat16.
    """
    if a.size != b.size or not a.size or a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        return None
    wide = np.complex128 if "c" in a.dtype.kind + b.dtype.kind else np.float64
    one, two = (np.asarray(each.reshape(-1), wide) for each in (a, b))
    with np.errstate(all="ignore"):
        same = (one == two) | ((one != one) & (two != two))
        apart = np.where(same, 0.0, np.abs(two - one))
        apart = np.where(np.isnan(apart), np.inf, apart)
    place = int(apart.argmax())
    index = tuple(int(each) for each in np.unravel_index(place, a.shape))
    finite = np.abs(one[np.isfinite(one)])
    scale = float(finite.max()) if finite.size else 0.0
    largest = float(apart[place])
    relative = largest / scale if scale else np.inf if largest else 0.0
    values = (float(np.abs(one[place])), float(np.abs(two[place])))
    if wide is np.float64:
        values = (float(one[place]), float(two[place]))
    units = _units(one, two, apart, roundoff(*(dtypes or (a.dtype.name, b.dtype.name))))
    return Distance(a.size, int(a.size - np.count_nonzero(same)), largest, relative, units, index, values)


def _units(one: np.ndarray, two: np.ndarray, apart: np.ndarray, unit: float) -> float:
    """The largest difference in units of the last place of a dtype with this roundoff."""
    if not unit:
        return float(apart.max())
    different = apart > 0
    if not different.any():
        return 0.0
    one, two, apart = one[different], two[different], apart[different]
    if ((one.real * two.real < 0) | ~np.isfinite(apart)).any():
        return np.inf
    _, exponent = np.frexp(np.maximum(np.abs(one), np.abs(two)))
    return float((apart / np.ldexp(2 * unit, exponent - 1)).max())
