"""In which precision an op computes: half precision keeps numbers, single precision adds them up, as PyTorch has it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

SINGLE: Final = np.dtype("float32")


def is_half(dtype: Any) -> bool:
    """Whether numbers of a dtype are of half precision: float16, bfloat16."""
    return bool(dtype.itemsize == 2 and dtype.kind in "fV")


def half_of(value: Any) -> Any:
    """The dtype of half precision that an array, or one of several, has; None where there is none."""
    parts = value if isinstance(value, tuple) else (value,)
    return next((part.dtype for part in parts if part is not None and is_half(part.dtype)), None)


def accumulator(dtype: Any) -> Any:
    """The dtype that sums of numbers are taken in."""
    return SINGLE if is_half(dtype) else dtype


def in_single(forward: Callable[..., Any], *, residuals: bool = False) -> Callable[..., Any]:
    """A function of arrays that computes in single precision what is given in half, and rounds what it returns.

    Args:
        forward: The function; its first argument tells the precision.
        residuals: Whether it also returns residuals, which are not rounded.
    """

    @functools.wraps(forward)
    def run(x: Any, *others: Any, **attrs: Any) -> Any:
        dtype = getattr(x, "dtype", SINGLE)
        if dtype.itemsize != 2 or dtype.kind not in "fV":
            return forward(x, *others, **attrs)
        found = forward(widened(x), *map(widened, others), **attrs)
        return (rounded(found[0], dtype), found[1]) if residuals else rounded(found, dtype)

    return run


def widened(value: Any) -> Any:
    """What is of half precision in single precision; of sequences each part."""
    if isinstance(value, tuple | list):
        return tuple(map(widened, value))
    return converted(value, SINGLE) if hasattr(value, "dtype") and is_half(value.dtype) else value


def rounded(value: Any, dtype: Any) -> Any:
    """What is of single precision in half; of tuples each part."""
    if isinstance(value, tuple):
        return tuple(rounded(part, dtype) for part in value)
    return converted(value, dtype) if getattr(value, "dtype", None) == SINGLE else value


def converted(value: Any, dtype: Any) -> Any:
    """An array or a tensor in another dtype."""
    return value.to(dtype) if hasattr(value, "wants_grad") else value.astype(dtype)
