"""Largest and smallest: over dims, of two tensors, and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.calls import define
from graphscope.engine.ops.index import getitem, where
from graphscope.engine.ops.reduce import spread, sum, to_reduction
from graphscope.engine.ops.shape import squeeze
from graphscope.engine.tensor import Tensor, method

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "max",
    "maximum",
    "min",
    "minimum",
]


def _extreme_rule(g: Any, x: Any, out: Any, *, dim: Any, keepdim: bool, _from: Any) -> Any:
    """Shared equally by all elements that are the extreme."""
    chosen = (x == spread(out, _from, dim, keepdim)) * x.dtype.type(1)
    return spread(g, _from, dim, keepdim) * chosen / sum(chosen, dim, True)


amax = define(
    "amax", "Largest element over the given dims, or over all; equal ones share the gradient.", formula="out = max x",
    prepare=to_reduction,
    forward=lambda x, *, dim, keepdim, _from: np.maximum.reduce(x, axis=dim, keepdims=keepdim),
    vjp=[_extreme_rule],
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True})],
)  # fmt: skip

amin = define(
    "amin", "Smallest element over the given dims, or over all; equal ones share the gradient.", formula="out = min x",
    prepare=to_reduction,
    forward=lambda x, *, dim, keepdim, _from: np.minimum.reduce(x, axis=dim, keepdims=keepdim),
    vjp=[_extreme_rule],
    samples=[((2, 3), {}), ((2, 3), {"dim": 1})],
)  # fmt: skip


def _to_place(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return (x,), {"dim": dim, "keepdim": keepdim}


argmax = define(
    "argmax", "Index of the largest element, along a dim or of all elements in a row.", formula="out = argmax x",
    prepare=_to_place,
    forward=lambda x, *, dim, keepdim: np.argmax(x, axis=dim, keepdims=keepdim),
    vjp=[None],
    samples=[((2, 3), {}), ((2, 3), {"dim": 1})],
)  # fmt: skip

argmin = define(
    "argmin", "Index of the smallest element, along a dim or of all elements in a row.", formula="out = argmin x",
    prepare=_to_place,
    forward=lambda x, *, dim, keepdim: np.argmin(x, axis=dim, keepdims=keepdim),
    vjp=[None],
    samples=[((2, 3), {}), ((2, 3), {"dim": 1})],
)  # fmt: skip


def _winner(g: Any, x: Any, y: Any) -> Any:
    """The cotangent where x wins over y: half of it where they are equal."""
    return where(x == y, g / 2, where(x > y, g, 0.0))


maximum = define(
    "maximum", "The larger of two elements; equal ones share the gradient.", formula="out = max(x, y)",
    forward=np.maximum,
    vjp=[_winner,
         lambda g, x, y: _winner(g, y, x)],
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip

minimum = define(
    "minimum", "The smaller of two elements; equal ones share the gradient.", formula="out = min(x, y)",
    forward=np.minimum,
    vjp=[lambda g, x, y: _winner(g, y, x),
         _winner],
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip


class Pair(tuple[Tensor, Tensor]):
    """Values and their indices."""

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


@method
def max(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element; along a dim, the largest elements and their indices; of two tensors, the larger elements."""
    return _extreme(amax, argmax, maximum, input, dim, keepdim)


@method
def min(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element; along a dim, the smallest elements and their indices; of two tensors, the smaller ones."""
    return _extreme(amin, argmin, minimum, input, dim, keepdim)


def _extreme(over_all: Any, place: Any, of_two: Any, input: Tensor, dim: Any, keepdim: bool) -> Any:
    if dim is None:
        return over_all(input)
    if isinstance(dim, Tensor):
        return of_two(input, dim)
    indices = place(input, dim, True)
    grid = list(np.ogrid[tuple(slice(length) for length in indices.data.shape)])
    grid[dim] = indices.data
    values = getitem(input, tuple(grid))
    return Pair((values, indices) if keepdim else (squeeze(values, dim), squeeze(indices, dim)))
