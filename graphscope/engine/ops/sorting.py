"""Order: sorting, the largest few, medians and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine import shapes
from graphscope.engine.calls import define
from graphscope.engine.composite import composite
from graphscope.engine.dims import one
from graphscope.engine.ops.extremes import picked
from graphscope.engine.ops.pick import gather
from graphscope.engine.results import RESULTS

__all__ = [
    "argsort",
    "kthvalue",
    "mode",
    "msort",
    "sort",
    "topk",
]


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
    "argsort", "Indices that sort along a dim.", formula="x[out] is sorted",
    prepare=_to_order,
    forward=lambda x, *, dim, descending, stable: order(x, dim, descending),
    vjp=[None],
    shape=shapes.same,
    samples=[((2, 3), {}), ((2, 3), {"dim": 0, "descending": True}), ((), {}), ((0,), {})],
)  # fmt: skip


def _two(x: Any, **_: Any) -> list[Any]:
    return [x, x]


@composite("Elements in order along a dim, and where they were.", formula="out = x[argsort x], argsort x",
           tensor_method=True, samples=[((2, 3), {}), ((2, 3), {"dim": 0, "descending": True}), ((), {})], shape=_two)  # fmt: skip
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along a dim, and the indices where they were; equal ones keep their order."""
    indices = argsort(input, dim, descending, stable)
    return RESULTS["sort"](gather(input, dim, indices), indices)


@composite("Elements in order along dim 0.", formula="out = x[argsort x]", tensor_method=True, samples=[((3, 2),)],
           shape=shapes.same)  # fmt: skip
def msort(input: Any) -> Any:
    """The elements in order along dim 0."""
    return sort(input, 0).values


def _to_top(input: Any, k: int, dim: int = -1, largest: bool = True) -> Any:
    place = one(dim, len(input.shape))
    if not 0 <= k <= (input.shape[place] if input.shape else 1):
        raise RuntimeError(f"selected index k out of range: k={k} for a dim of size {input.shape[place]}")
    return (input,), {"k": int(k), "dim": place, "largest": largest}


def _top(x: Any, *, k: int, dim: int, largest: bool) -> Any:
    if not x.ndim:
        return np.int64(0) if k else np.empty(0, np.int64)
    size = x.shape[dim]
    if 0 < k < size // 8:
        found = np.argpartition(x, size - k if largest else k - 1, dim)
        found = np.take(found, np.arange(size - k, size) if largest else np.arange(k), dim)
        inside = order(np.take_along_axis(x, found, dim), dim, largest)
        return np.take_along_axis(found, inside, dim)
    return np.take(order(x, dim, largest), np.arange(k), dim)


_argtopk = define(
    "argtopk", "Indices of the k largest or smallest elements along a dim.", formula="out = argsort(x)[:k]",
    tensor_method=False,
    prepare=_to_top,
    forward=_top,
    vjp=[None],
    shape=lambda x, *, k, dim, **_: shapes.resized(x, dim, k) if x else x,
    samples=[((2, 3), {"k": 2}), ((20,), {"k": 2, "largest": False})],
)  # fmt: skip


@composite("The k largest or smallest elements along a dim, and where they are.", formula="out = x[i], i = argtopk x",
           tensor_method=True,
           samples=[((2, 3), {"k": 2}), ((3, 2), {"k": 1, "dim": 0, "largest": False}), ((20,), {"k": 2})],
           shape=lambda x, *, k, dim=-1, **_: [shapes.resized(x, dim, k) if x else x] * 2)  # fmt: skip
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest or smallest elements along a dim, in order, and the indices where they are."""
    indices = _argtopk(input, k, dim, largest)
    return RESULTS["topk"](gather(input, dim, indices), indices)


def _to_kth(input: Any, k: int, dim: int = -1) -> Any:
    place = one(dim, len(input.shape))
    if not 1 <= k <= (input.shape[place] if input.shape else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {place}: k={k}")
    return (input,), {"k": int(k), "dim": place}


def _kth(x: Any, *, k: int, dim: int) -> Any:
    return np.take(np.argpartition(x, k - 1, dim), [k - 1], dim) if x.ndim else np.int64(0)


_argkth = define(
    "argkth", "Index of the k-th smallest element along a dim, which stays as 1.", formula="out = argsort(x)[k-1]",
    tensor_method=False,
    prepare=_to_kth,
    forward=_kth,
    vjp=[None],
    shape=lambda x, *, dim, **_: shapes.resized(x, dim, 1) if x else x,
    samples=[((2, 3), {"k": 2}), ((3, 2), {"k": 1, "dim": 0})],
)  # fmt: skip


def _picks(x: Any, *, dim: int = -1, keepdim: bool = False, **_: Any) -> list[Any]:
    return [shapes.reduced(x, dim=dim, keepdim=keepdim)] * 2


@composite("The k-th smallest element along a dim, and where it is.", formula="out = sort(x)[k-1]", tensor_method=True,
           samples=[((2, 3), {"k": 2}), ((3, 2), {"k": 1, "dim": 0, "keepdim": True})], shape=_picks)  # fmt: skip
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest element along a dim (k counts from 1), and the index where it is."""
    return picked("kthvalue", input, _argkth(input, k, dim), dim, keepdim)


def _most_frequent(x: Any, *, dim: int) -> Any:
    if not x.ndim:
        return np.int64(0)
    if not x.shape[dim]:
        raise IndexError(f"mode(): Expected reduction dim {dim} to have non-zero size")
    by = np.moveaxis(order(x, dim), dim, -1)
    values = np.take_along_axis(np.moveaxis(x, dim, -1), by, -1)
    places = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    begins = np.concatenate((np.ones_like(values[..., :1], bool), values[..., 1:] != values[..., :-1]), -1)
    runs = places - np.maximum.accumulate(np.where(begins, places, 0), -1)
    best = np.argmax(runs, -1, keepdims=True)
    return np.moveaxis(np.take_along_axis(by, best, -1), -1, dim)


_argmode = define(
    "argmode", "Index of the most frequent element along a dim, which stays as 1; of equally frequent ones the least.",
    formula="out = argmax count(x)", tensor_method=False,
    prepare=lambda input, dim=-1: ((input,), {"dim": one(dim, len(input.shape))}),
    forward=_most_frequent,
    vjp=[None],
    shape=lambda x, *, dim: shapes.resized(x, dim, 1) if x else x,
    samples=[((2, 3), {}), (np.array([3, 1, 3, 1, 2]), {"dim": 0})],
)  # fmt: skip


@composite("The most frequent element along a dim, and where it is.", formula="out = x[argmax count(x)]",
           tensor_method=True, samples=[((2, 3), {}), ((3, 2), {"dim": 0, "keepdim": True})], shape=_picks)  # fmt: skip
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dim (the least of equally frequent ones), and the index where it is last."""
    return picked("mode", input, _argmode(input, dim), dim, keepdim)


