"""Adding up what falls on the same place: the backward pass of every way to pick elements. On bare arrays."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from graphscope.engine.core import along, loops

_FEW: Final = 40_000
"""So many elements are counted into bins one by one; more are added a row at a time."""


def add_rows(rows: np.ndarray, index: np.ndarray, length: int) -> np.ndarray:
    """An array of `length` rows: row i is the sum of all `rows` whose index is i. `np.add.at` takes ten times as long.

    Args:
        rows: As many as there are indices.
        index: Of one dim; none is negative.
        length: How many rows there are to be.
    """
    shape = (length, *rows.shape[1:])
    width = math.prod(rows.shape[1:])
    if rows.dtype.kind != "f":
        out = np.zeros(shape, rows.dtype)
        np.add.at(out, index, rows)
        return out
    if not rows.size:
        return np.zeros(shape, rows.dtype)
    if width < 16 or rows.size <= _FEW:
        places = index if width == 1 else (index[:, None] * width + np.arange(width)).reshape(-1)
        return add_up(rows, places, shape)
    order = np.argsort(index, kind="stable")
    found = index[order]
    starts = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
    counts = np.diff(starts, append=len(found))
    out = np.zeros(shape, rows.dtype)
    if counts.max() > 20:
        out[found[starts]] = np.add.reduceat(rows[order], starts, axis=0)
        return out
    # Round n adds the n-th of the rows of each place: no place twice in a round.
    out[found[starts]] = rows[order[starts]]
    for turn in range(1, counts.max()):
        starts = starts[counts > turn]
        counts = counts[counts > turn]
        out[found[starts]] += rows[order[starts + turn]]
    return out


def add_up(values: np.ndarray, places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array of a shape: the element at a place, counted in a row, is the sum of all `values` of that place."""
    if values.dtype.kind != "f":
        out = np.zeros(math.prod(shape), values.dtype)
        np.add.at(out, places.reshape(-1), values.reshape(-1))
        return out.reshape(shape)
    if loops.fits(values):
        out = np.zeros(shape, values.dtype)
        loops.add_at(out, places, values)
        return out
    sums = np.bincount(places.reshape(-1), values.reshape(-1), math.prod(shape))
    return sums.reshape(shape).astype(values.dtype, copy=False)


def add_along(values: np.ndarray, index: np.ndarray, dim: int, shape: tuple[int, ...]) -> np.ndarray:
    """An array of a shape: at each place the sum of the `values` whose index along a dim is it; none is negative."""
    out = along.added(values, index, dim, shape)
    if out is not None:
        return out  # type: ignore[no-any-return]
    return add_up(np.ascontiguousarray(values), places_along(index, dim, shape), shape)


def places_along(index: np.ndarray, dim: int, shape: tuple[int, ...]) -> np.ndarray:
    """Of each element of an index along a dim of an array of a shape: its place there, counted in a row."""
    steps = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
    out = index * steps[dim]
    for place, size in enumerate(index.shape):
        if place != dim:
            out += (np.arange(size) * steps[place]).reshape(size, *(1,) * (index.ndim - place - 1))
    return np.asarray(out)


def pick_along(x: np.ndarray, index: np.ndarray, dim: int) -> Any:
    """`np.take_along_axis`, in a third of the time where the dim is the last; no index is negative."""
    out = along.picked(x, index, dim)
    if out is not None:
        return out
    if dim == x.ndim - 1 and x.size and x.flags.c_contiguous and x.shape[:-1] == index.shape[:-1]:
        starts = np.arange(0, x.size, x.shape[-1]).reshape(*x.shape[:-1], 1)
        return x.reshape(-1).take(index + starts, mode="wrap")
    return np.take_along_axis(x, index, dim)
