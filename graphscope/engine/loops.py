"""Loops that NumPy is slow at, in the compiled part where that was built: each function says what it can take.

Callers of most ask `fits` first, and do in NumPy what does not fit, or everything where there was no compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np

try:
    _loops: Any = import_module("graphscope.engine._loops")
except ImportError:  # there was no compiler
    _loops = None

SUM, PRODUCT, LARGEST, SMALLEST = range(4)
"""What runs along a row."""

_CORRELATE, _SPREAD, _WEIGH = range(3)
_KNOWN: Final = frozenset({np.dtype("float32"), np.dtype("float64")})


def fits(*arrays: Any) -> bool:
    """Whether the compiled part is there and takes these: all of float32 or of float64, with elements in a row."""
    if _loops is None:
        return False
    dtype = arrays[0].dtype
    return dtype in _KNOWN and all(each.dtype == dtype and each.flags.c_contiguous and each.size for each in arrays)


def running(x: Any, what: int) -> Any:
    """Running sums or products over the last dim; or where the running extreme is, the last of equal ones."""
    out: Any = np.empty(x.shape, np.int64 if what >= LARGEST else x.dtype)
    _loops.running(out, x, x.shape[-1], what)
    return out


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
    _loops.add_at(out, np.ascontiguousarray(places, np.int64), values, out.size, values.size)


def add_along(out: Any, places: Any, values: Any) -> None:
    """Add each of some values to its row of an array, at its place there.

    Raises:
        IndexError: A place does not exist.
    """
    _loops.add_at(out, np.ascontiguousarray(places, np.int64), values, out.shape[-1], values.shape[-1])


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


def odd_polynomial(out: Any, x: Any, coefficients: Any) -> None:
    """An odd polynomial x · p(x²), with the seven coefficients of p from the constant one on."""
    _loops.odd_polynomial(out, x, coefficients)


def gelu(out: Any, x: Any) -> None:
    """Gelu, x · Φ(x), from 2 Φ(x) - 1, which `out` holds."""
    _loops.gelu(out, x)


def gelu_slope(out: Any, g: Any, x: Any, density: Any) -> None:
    """The gradient of gelu for a cotangent, from 2 Φ(x) - 1, which `out` holds, and e^(-x²/2)."""
    _loops.gelu_slope(out, g, x, density)


def choose(out: Any, x: Any, above: Any, *, with_nan: bool) -> None:
    """Where x is above 0 (or NaN, `with_nan`), write what is given for that; elsewhere `out` stays."""
    if fits(out, x, above):
        _loops.choose(out, x, above, with_nan)
    else:
        np.copyto(out, above, where=~(x <= 0) if with_nan else x > 0)
