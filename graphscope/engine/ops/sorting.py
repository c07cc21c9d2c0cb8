"""Order: sorting, the largest few, medians and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import one
from graphscope.engine.ops.values_and_indices import as_many, choice

__all__ = ["argsort", "mode", "sort", "topk"]


def _to_order(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return (input,), {"dim": one(dim, len(input.shape)), "descending": descending, "stable": stable}


def order(x: Any, dim: int, descending: bool = False) -> Any:
    """The indices that sort an array along a dim; equal ones keep their order, NaN counts as the largest."""
    if not x.ndim:
        return np.int64(0)
    if not descending:
        return np.argsort(x, dim, kind="stable")
    turned = np.argsort(np.flip(x, dim), dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(turned, dim)


argsort = define(
    "argsort", "Indices that sort along a dim.",
    prepare=_to_order,
    forward=lambda x, *, dim, descending, stable: order(x, dim, descending),
    vjp=[None],
    shape=shapes.same,
    samples=[((2, 3), {}), ((2, 3), {"dim": 0, "descending": True}), ((), {}), ((0,), {})],
)  # fmt: skip


def _to_sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    place = one(dim, len(input.shape))
    return (input,), {"dim": place, "descending": descending, "keepdim": True, "_from": tuple(input.shape)}


sort = choice(
    "sort", "Elements in order along a dim, and where they were; equal ones keep their order.",
    tensor_method=True, shape=as_many,
    place=lambda x, *, dim, descending: order(x, dim, descending),
    prepare=_to_sort,
    samples=[((2, 3), {}), ((2, 3), {"dim": 0, "descending": True}), ((), {}), ((0,), {})],
)  # fmt: skip


def _to_top(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    place = one(dim, len(input.shape))
    size = input.shape[place] if input.shape else 1
    if not 0 <= k <= size:
        raise RuntimeError(f"selected index k out of range: k={k} for dim {place} of size {size}")
    return (input,), {
        "k": int(k), "dim": place, "largest": largest, "keepdim": True, "_from": tuple(input.shape)
    }  # fmt: skip


def _top(x: Any, *, k: int, dim: int, largest: bool) -> Any:
    size = x.shape[dim]
    if 0 < k < size // 8:
        found = np.argpartition(x, size - k if largest else k - 1, dim)
        found = np.take(found, np.arange(size - k, size) if largest else np.arange(k), dim)
        inside = order(np.take_along_axis(x, found, dim), dim, largest)
        return np.take_along_axis(found, inside, dim)
    return np.take(order(x, dim, largest), np.arange(k), dim)


topk = choice(
    "topk", "The k largest or smallest elements along a dim, in order, and where they are.",
    tensor_method=True, shape=as_many,
    place=_top,
    prepare=_to_top,
    samples=[((2, 3), {"k": 2}), ((3, 2), {"k": 1, "dim": 0, "largest": False}), ((20,), {"k": 2}),
             ((20,), {"k": 2, "largest": False})],
)  # fmt: skip


def _most_frequent(x: Any, *, dim: int) -> Any:
    if not x.shape[dim]:
        raise IndexError(f"mode(): Expected reduction dim {dim} to have non-zero size")
    by = np.moveaxis(order(x, dim), dim, -1)
    values = np.take_along_axis(np.moveaxis(x, dim, -1), by, -1)
    places = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    begins = np.concatenate((np.ones_like(values[..., :1], bool), values[..., 1:] != values[..., :-1]), -1)
    runs = places - np.maximum.accumulate(np.where(begins, places, 0), -1)
    best = np.argmax(runs, -1, keepdims=True)
    return np.moveaxis(np.take_along_axis(by, best, -1), -1, dim)


def _to_mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    return (input,), {"dim": one(dim, len(input.shape)), "keepdim": keepdim, "_from": tuple(input.shape)}


mode = choice(
    "mode", "The most frequent element along a dim (the least of equally frequent ones), and where it is last.",
    formula="out = x[argmax count(x)]", tensor_method=True,
    place=_most_frequent,
    prepare=_to_mode,
    samples=[((2, 3), {}), ((3, 2), {"dim": 0, "keepdim": True}), ((), {})],
)  # fmt: skip
