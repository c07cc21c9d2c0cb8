"""Whether two tensors are the same up to rounding, and how far apart they are."""

from __future__ import annotations

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
    """One number, or one that broadcasts to the tensor."""
    relative: float = 0.0
    slope: float = np.inf
    """How much larger all of `b` may be than `a`, as a part of it. Noise has no slope; a wrong `eps` has one."""
    flips: float = 0.0
    """So many of the elements of a tensor of integers or booleans may differ, as a part of all."""


EXACT: Final = Allowed(slope=0.0)
"""Bit by bit."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How two tensors of one size differ, in numbers that the next op can be judged by."""

    elements: int
    size: float
    """Root of the mean square of `a`."""
    largest: float
    """The largest absolute difference."""
    spread: float
    """Root of the mean square of the differences."""
    slope: float = 0.0
    """The part of the difference that is a multiple of `a`: the multiple."""
    slope_error: float = 0.0
    """The standard error of that."""

    @property
    def relative(self) -> float:
        """The spread as a part of the size."""
        return self.spread / self.size if self.size else float(self.spread > 0) and np.inf


def agree(a: np.ndarray, b: np.ndarray, allowed: Allowed) -> bool:
    """Whether two tensors of as many elements are the same within what is allowed. NaN is equal to NaN.

    Args:
        a: A tensor.
        b: Another of the same count of elements; they are compared in C order.
        allowed: From `errors.allowed`, `EXACT`, or `Allowed(atol, rtol)` where a person says it.
    """
    if a.size != b.size:
        return False
    one, two = a.reshape(-1), b.reshape(-1)
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        return int(np.count_nonzero(one != two)) <= allowed.flips * a.size
    found = deviation(a, b)
    if found is None or not found.elements:
        return found is not None
    if found.largest and allowed is EXACT:
        return False
    with np.errstate(all="ignore"):
        bound = np.broadcast_to(allowed.absolute, a.shape).reshape(-1) + allowed.relative * np.abs(one)
        apart = np.abs(two - one)
        fine = bool(((apart <= bound) | (one == two) | ((one != one) & (two != two))).all())
    return fine and not abs(found.slope) > allowed.slope + 8 * found.slope_error


def statistics_agree(a: Summary, b: Summary, allowed: Allowed) -> bool | None:
    """The same of tensors of which only statistics were kept; None when these can't say."""
    if (a.count, a.nan, a.inf) != (b.count, b.nan, b.inf):
        return False
    absolute = float(np.max(allowed.absolute))
    scale = max(abs(a.minimum), abs(a.maximum))
    pairs = ((a.minimum, b.minimum), (a.maximum, b.maximum), (a.mean, b.mean), (a.std, b.std))
    return all(abs(one - two) <= absolute + allowed.relative * scale for one, two in pairs)


def deviation(a: np.ndarray, b: np.ndarray) -> Deviation | None:
    """How two tensors differ; None where they are of unlike size, or NaN or Inf lie in unlike places."""
    if a.size != b.size:
        return None
    one, two = (np.asarray(each.reshape(-1), np.float64) for each in (a, b))
    with np.errstate(all="ignore"):
        finite = np.isfinite(one) & np.isfinite(two)
        if not finite.all():
            rest, other = one[~finite], two[~finite]
            if not ((rest == other) | ((rest != rest) & (other != other))).all():
                return None
            one, two = one[finite], two[finite]
        if not one.size:
            return Deviation(0, 0.0, 0.0, 0.0)
        apart = two - one
        square = float(np.einsum("i,i", one, one))
        slope = float(np.einsum("i,i", apart, one)) / square if square else 0.0
        rest = (apart - slope * one) * one
        error = float(np.sqrt(np.einsum("i,i", rest, rest))) / square if square else 0.0
    spread = float(np.sqrt(np.einsum("i,i", apart, apart) / one.size))
    return Deviation(one.size, np.sqrt(square / one.size), float(np.abs(apart).max()), spread, slope, error)


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
