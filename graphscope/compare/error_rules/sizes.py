"""What rules have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.compare.operation import Operand, Operation
from graphscope.compare.rounding import Allowed

Array = np.ndarray
Rule = Callable[[Operation], Allowed]

SCALAR: Final = 2.0
"""A scalar factor that is rounded in another way gives all elements the same relative error: so many roundoffs."""


def top(value: Any, default: float) -> float:
    """The largest magnitude of a tensor, where there is one."""
    if isinstance(value, Operand):
        value = value.value
    return float(np.abs(value).max(initial=0)) if isinstance(value, Array) else default


def terms_of(each: Operand, shape: Sequence[int]) -> float:
    """How many elements of an operand make one of the result, as far as sizes tell."""
    return max(each.count / max(math.prod(shape), 1), each.shape[-1] if each.shape else 1, 1)


def norms(value: Array, axis: int) -> Array:
    """The root of the sum of squares along the last axis or the one ahead of it, of what is finite."""
    with np.errstate(all="ignore"):
        squares = np.einsum("...i,...i->..." if axis == -1 else "...ij,...ij->...j", value, value)
        if not np.isfinite(squares).all():
            squares = np.square(np.where(np.isfinite(value), value, 0)).sum(axis)
        return np.asarray(np.sqrt(np.expand_dims(squares, axis)))
