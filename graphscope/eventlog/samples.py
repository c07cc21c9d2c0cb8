"""What an update did to a parameter, measured as it happens: norms, and the share of elements that moved.

Of a parameter of more than `MOST` elements, a sample stands for all: `RUN` that lie together, at places spread evenly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.appender import FLOATING

MOST: Final = 1024
RUN: Final = 8

MEASURES: Final = ("gradient", "weight", "update", "moved")
"""What is measured: the norm of the gradient, that of the parameter before, that of what was added to it, and which
share of the elements with a gradient changed. NaN is what a sample can't tell: nothing in it has a gradient."""

Sample = Callable[[int, int, int], bytes]
Compare = Callable[[bytes, int, int, int, int], list[int]]
CompareSamples = Callable[[bytes, bytes, bytes, int, int], list[int]]

_DTYPES: Final[dict[int, np.dtype]] = {FLOATING[name]: np.dtype(name) for name in ("float16", "float32", "float64")}


class Runs(NamedTuple):
    """Which elements of a parameter are sampled."""

    number: int
    size: int
    apart: int
    """So many elements lie between the beginnings of two runs."""


def runs_of(count: int) -> Runs:
    """Those of so many elements."""
    if count <= MOST:
        return Runs(1, count, count)
    runs = MOST // RUN
    return Runs(runs, RUN, (count - RUN) // (runs - 1))


def _dtype(floating: int) -> np.dtype:
    return _DTYPES.get(floating, np.dtype("u2"))


def _elements(address: int, nbytes: int, floating: int) -> np.ndarray:
    """The elements at an address that are compared; bfloat16 as its bits."""
    dtype = _dtype(floating)
    memory = (ctypes.c_char * nbytes).from_address(address)
    found = np.frombuffer(memoryview(memory).cast("B"), dtype)
    if len(found) <= MOST:
        return found
    runs = runs_of(len(found))
    starts = np.arange(runs.number) * runs.apart
    return found.take((starts[:, None] + np.arange(runs.size)).reshape(-1))


def _numbers(elements: np.ndarray) -> np.ndarray:
    wide = elements.astype(np.uint32) << 16 if elements.dtype == np.uint16 else None
    return (elements if wide is None else wide.view(np.float32)).astype(np.float64)


def _sample(address: int, nbytes: int, floating: int) -> bytes:
    return _elements(address, nbytes, floating).tobytes()


def _compare(before: bytes, gradient: int, address: int, nbytes: int, floating: int) -> list[int]:
    pull, after = _sample(gradient, nbytes, floating), _sample(address, nbytes, floating)
    return _compare_samples(before, pull, after, nbytes, floating)


def _compare_samples(before: bytes, gradient: bytes, after: bytes, nbytes: int, floating: int) -> list[int]:
    dtype = _dtype(floating)
    was, pull, now = (_numbers(np.frombuffer(each, dtype)) for each in (before, gradient, after))
    changed = was.view(np.uint64) != now.view(np.uint64)
    pulled = pull != 0
    moved = float(changed[pulled].mean()) if pulled.any() else 1.0 if changed.any() else np.nan
    with np.errstate(all="ignore"):
        share = len(now) / (nbytes // dtype.itemsize)
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
compare_samples: CompareSamples = _compare_samples
"""The same of samples of parameter, gradient and new parameter, so many bytes of each whole one, and FLOATING."""

if not TYPE_CHECKING:
    with suppress(ImportError):  # it was not built here: there was no compiler
        _compiled = import_module("graphscope.eventlog._samples")
        sample, compare, compare_samples = _compiled.sample, _compiled.compare, _compiled.compare_samples
