"""Loops that NumPy is slow at, in the compiled part where that was built: each function says what it can take.

Callers of most ask `fits` first, and do in NumPy what does not fit, or everything where there was no compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np

try:
    _loops: Any = import_module("graphscope.engine.core._loops")
except ImportError:  # there was no compiler
    _loops = None

_CORRELATE, _SPREAD, _WEIGH = range(3)
_KNOWN: Final = frozenset({np.dtype("float32"), np.dtype("float64")})


def fits(*arrays: Any) -> bool:
    """Whether the compiled part is there and takes these: all of float32 or of float64, with elements in a row."""
    if _loops is None:
        return False
    dtype = arrays[0].dtype
    return dtype in _KNOWN and all(each.dtype == dtype and each.flags.c_contiguous and each.size for each in arrays)


def products(x: Any) -> Any:
    """The product of each row."""
    out: Any = np.empty(x.shape[:-1], x.dtype)
    _loops.products(out, x)
    return out


def add_at(out: Any, places: Any, values: Any) -> None:
    """Add each of some values to an array at its place, counted in a row, in their order.

    Raises:
        IndexError: A place does not exist.
    """
    _loops.add_at(out, np.ascontiguousarray(places, np.int64), values)


def add_scaled(out: Any, values: Any, by: float) -> bool:
    """Add as many values to an array, scaled; whether that was done: not where they share a part of their memory."""
    return bool(_loops.add_scaled(out, values, by))


def correlate_planes(y: Any, x: Any, w: Any, offsets: Any, run: int) -> None:
    """Depthwise convolution of flat planes (samples, channels, size): `run` elements of each plane of y are written.

    Args:
        y: Where it goes; of the shape of x.
        x: The planes.
        w: Weights (channels, places).
        offsets: How far behind the first place of a window each of its places lies.
        run: How many windows begin in a plane, those between the wanted ones too.
    """
    _loops.depthwise(_CORRELATE, y, x, w, np.array(offsets, np.int64), x.shape[1], x.shape[2], run)


def spread_planes(x: Any, y: Any, w: Any, offsets: Any, run: int) -> None:
    """The transpose of `correlate_planes` in x, which is added to."""
    _loops.depthwise(_SPREAD, x, y, w, np.array(offsets, np.int64), y.shape[1], y.shape[2], run)


def weigh_planes(w: Any, x: Any, y: Any, offsets: Any, run: int) -> None:
    """The transpose of `correlate_planes` in w, which is added to."""
    _loops.depthwise(_WEIGH, w, x, y, np.array(offsets, np.int64), y.shape[1], y.shape[2], run)
