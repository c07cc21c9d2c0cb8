"""What an update did to a parameter, measured as it happens: norms, and the share of elements that moved.

Of a parameter of more than `MOST` elements, a sample stands for all: `RUN` that lie together, at places spread evenly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.appender import FLOATING

MOST: Final = 1024
RUN: Final = 8

MEASURES: Final = ("gradient", "weight", "update", "moved")
"""What is measured: the norm of the gradient, that of the parameter before, that of what was added to it, and which
share of the elements with a gradient changed. NaN is what a sample can't tell: nothing in it has a gradient."""

Sample = Callable[[int, int, int], bytes]
Compare = Callable[[bytes, int, int, int, int], list[int]]

_DTYPES: Final[dict[int, np.dtype]] = {FLOATING[name]: np.dtype(name) for name in ("float16", "float32", "float64")}


def _elements(address: int, nbytes: int, floating: int) -> np.ndarray:
    """The elements at an address that are compared; bfloat16 as its bits."""
    dtype = _DTYPES.get(floating, np.dtype("u2"))
    memory = (ctypes.c_char * nbytes).from_address(address)
    found = np.frombuffer(memoryview(memory).cast("B"), dtype)
    if len(found) <= MOST:
        return found
    runs = MOST // RUN
    starts = np.arange(runs) * ((len(found) - RUN) // (runs - 1))
    return found.take((starts[:, None] + np.arange(RUN)).reshape(-1))


def _numbers(elements: np.ndarray) -> np.ndarray:
    wide = elements.astype(np.uint32) << 16 if elements.dtype == np.uint16 else None
    return (elements if wide is None else wide.view(np.float32)).astype(np.float64)


def _sample(address: int, nbytes: int, floating: int) -> bytes:
    return _elements(address, nbytes, floating).tobytes()


def _compare(before: bytes, gradient: int, address: int, nbytes: int, floating: int) -> list[int]:
    after = _elements(address, nbytes, floating)
    was, now = _numbers(np.frombuffer(before, after.dtype)), _numbers(after)
    pull = _numbers(_elements(gradient, nbytes, floating))
    changed = was.view(np.uint64) != now.view(np.uint64)
    pulled = pull != 0
    moved = float(changed[pulled].mean()) if pulled.any() else 1.0 if changed.any() else np.nan
    with np.errstate(all="ignore"):
        share = len(after) / (nbytes // after.dtype.itemsize)
        sizes = np.sqrt([np.square(each).sum() / share for each in (pull, was, now - was)])
    sizes[np.isnan(sizes)] = np.inf
    if share < 1 and not pulled.any():
        sizes[0] = np.nan
        sizes[2] = sizes[2] if changed.any() else np.nan
    found: list[int] = np.array([*sizes, moved]).view(np.int64).tolist()
    return found


sample: Sample = _sample
"""The elements of a parameter that are compared later, of an address, so many bytes and a number of FLOATING."""
compare: Compare = _compare
"""MEASURES by their bits: of a sample, the address of the gradient, and what `sample` is given; all of one dtype."""

if not TYPE_CHECKING:
    with suppress(ImportError):  # it was not built here: there was no compiler
        _compiled = import_module("graphscope.eventlog._samples")
        sample, compare = _compiled.sample, _compiled.compare
