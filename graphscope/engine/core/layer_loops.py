"""Loops of whole layers in the compiled part; each name says what there is without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

try:
    _layers: Any = import_module("graphscope.engine.core._layers")
except ImportError:  # there was no compiler
    _layers = None

lstm_step: Any = getattr(_layers, "lstm_step", None)
"""lstm_step(gates, cell, hidden, sums, projected, before): a step forward, which writes the first three; or None."""

lstm_step_back: Any = getattr(_layers, "lstm_step_back", None)
"""lstm_step_back(g_sums, g_cell, share, other, gates, before): the way back, which writes the first two; or None."""


def moments_along(x: Any, length: int, inner: int) -> Any:
    """Means and variances of `length` elements, `inner` apart, one after another in double; None as `normalized`."""
    return None if _layers is None else _layers.moments_along(x, length, inner)


def distances(x: Any, factors: Any, length: int, inner: int) -> Any:
    """The elements less the mean of `length` of them, `inner` apart, times a factor for each mean; or None."""
    return None if _layers is None else _layers.distances(x, factors, length, inner)


def normalized(x: Any, y: Any, z: Any, length: int, eps: float) -> Any:
    """Rows of so many elements normalized, times a weight, plus a bias; their means, and one over their deviations.

    None where the compiled part does not take these arrays, or there is none.
    """
    return None if _layers is None else _layers.normalized(x, y, z, length, eps)


def normalized_rule(g: Any, x: Any, y: Any, z: Any, centre: Any, scale: Any) -> Any:
    """The gradients of x, y and z (None for what was None); or None, as `normalized`."""
    found = None if _layers is None else _layers.normalized_rule(g, x, y, z, centre, scale)
    if found is None or (y is None and z is None):
        return found
    return tuple([each if each is None else each.astype(x.dtype, copy=False) for each in found])
