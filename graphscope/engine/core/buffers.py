"""Scratch memory of forwards that take several steps: each step writes where the one before it wrote."""

from __future__ import annotations

from typing import Any

import numpy as np


def reuse(array: Any) -> Any:
    """An array as the `out` of the next step; None for a NumPy scalar, which has no memory to write to."""
    return array if array.__class__ is np.ndarray else None


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """A polynomial by Horner's rule, in one buffer; the coefficient of the highest power comes first."""
    first, second, *rest = coefficients
    out = x * x.dtype.type(first)
    out = np.add(out, x.dtype.type(second), out=reuse(out))
    for coefficient in rest:
        out = np.multiply(out, x, out=reuse(out))
        out = np.add(out, x.dtype.type(coefficient), out=reuse(out))
    return out
