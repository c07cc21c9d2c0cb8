"""What the compiled part does at places along a dim. Each function gives None for what it does not take.

That is everything where there was no compiler; else other types than float32 and float64 (`picked` takes most), what
does not lie in a row, and places that do not exist.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

try:
    _along: Any = import_module("graphscope.engine.core._along")
except ImportError:  # there was no compiler
    _along = None

LARGEST, SMALLEST = range(2)
"""What is looked for."""


def _nothing(*_: Any) -> None:
    return None


picked: Any = getattr(_along, "picked", _nothing)
"""picked(x, index, dim): at each place of an index the element of x that it names along a dim."""

added: Any = getattr(_along, "added", _nothing)
"""added(values, index, dim, start): a copy of `start`, or zeros of a shape, with each value added at its place."""

extremes: Any = getattr(_along, "extremes", _nothing)
"""extremes(x, dim, what, keepdim): the extremes and their places; of equal ones the first, with NaN the first NaN."""

running: Any = getattr(_along, "running", _nothing)
"""running(x, what): the extremes so far along the last dim and their places; of equal ones the last."""

within: Any = getattr(_along, "within", _nothing)
"""within(index, length): whether all of an index is from 0 to below a length."""
