"""Largest and smallest: over dims, of two tensors, and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import along, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import in_either_words, one
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops.index import where
from graphscope.engine.ops.reduce import spread, sum, to_reduction
from graphscope.engine.ops.values_and_indices import choice

__all__ = ["amax", "amin", "argmax", "argmin", "max", "maximum", "min", "minimum"]


def _extreme_rule(g: Any, x: Any, out: Any, *, dim: Any, keepdim: bool, _from: Any) -> Any:
    """Shared equally by all elements that are the extreme; where that is NaN, by those that are NaN."""
    if dim is None:
        chosen = (x == out) + (x != x) * (out != out)
        return where(chosen, spread(g, _from, None, keepdim) / sum(chosen * x.dtype.type(1)), 0.0)
    chosen = (x == spread(out, _from, dim, keepdim)) * x.dtype.type(1)
    return spread(g, _from, dim, keepdim) * chosen / sum(chosen, dim, True)


def _refuse_empty(shape: tuple[int, ...], dim: Any, kind: type[Exception] = RuntimeError) -> None:
    places = range(len(shape)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    empty = [place for place in places if shape[place] == 0]
    if empty and dim is None:
        raise kind(f"no element to choose from: the shape is {shape}. Give a dim that is not empty")
    if empty:
        raise IndexError(f"Expected reduction dim {empty[0]} to have non-zero size, but the shape is {shape}")


def _over_dims(name: str, what: str, over: Any) -> Any:
    def forward(x: Any, *, dim: Any, keepdim: bool, _from: Any) -> Any:
        if not x.size:
            _refuse_empty(_from, dim)
        return over.reduce(x, axis=dim, keepdims=keepdim)

    return define(
        name, f"{what} element over the given dims, or over all; equal ones share the gradient.",
        prepare=to_reduction,
        forward=forward,
        vjp=[_extreme_rule],
        shape=shapes.reduced,
        samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True}),
                 ((2, 3, 2), {"dim": (0, -1)}), ((), {"dim": 0})],
    )  # fmt: skip


amax = _over_dims("amax", "Largest", np.maximum)
amin = _over_dims("amin", "Smallest", np.minimum)


def _to_place(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return (input,), {"dim": dim if dim is None else one(dim, len(input.shape)), "keepdim": keepdim}


def _place(name: str, what: str, over: Any) -> Any:
    def forward(x: Any, *, dim: int | None, keepdim: bool) -> Any:
        if not x.size:
            _refuse_empty(x.shape, dim, IndexError)
        return over(x, axis=dim, keepdims=keepdim) if x.ndim else np.int64(0)

    return define(
        name, f"Index of the {what} element, along a dim or of all elements in a row.",
        prepare=_to_place,
        forward=forward,
        vjp=[None],
        shape=shapes.reduced,
        samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": -2, "keepdim": True}), ((), {"dim": 0})],
    )  # fmt: skip


argmax = _place("argmax", "largest", np.argmax)
argmin = _place("argmin", "smallest", np.argmin)


def _winner(g: Any, x: Any, y: Any) -> Any:
    """The cotangent where x wins over y, or one of them is NaN; half of it where they are equal."""
    return where(x == y, g / 2, where(x < y, 0.0, g))


maximum = define(
    "maximum", "The larger of two elements; equal ones share the gradient.",
    forward=np.maximum,
    vjp=[_winner,
         lambda g, x, y: _winner(g, y, x)],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip

minimum = define(
    "minimum", "The smaller of two elements; equal ones share the gradient.",
    forward=np.minimum,
    vjp=[lambda g, x, y: _winner(g, y, x),
         _winner],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip


def _to_best(input: Any, dim: int, keepdim: bool = False) -> Any:
    return (input,), {"dim": one(dim, len(input.shape)), "keepdim": keepdim, "_from": tuple(input.shape)}


def _along(name: str, what: str, over: Any, number: int) -> Any:
    def place(x: Any, *, dim: int) -> Any:
        if not x.size:
            _refuse_empty(x.shape, dim)
        return over(x, axis=dim, keepdims=True)

    return choice(
        name, f"{what} element along a dim, and where it is.", formula=f"out = x[i], i = arg{name} x",
        place=place, prepare=_to_best, at_once=lambda x, dim, keepdim: along.extremes(x, dim, number, keepdim),
        samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True}), ((), {"dim": 0}),
                 ((2, 3, 2), {"dim": -2})],
    )  # fmt: skip


max_along = _along("max", "Largest", np.argmax, along.LARGEST)
min_along = _along("min", "Smallest", np.argmin, along.SMALLEST)


@method
@in_either_words
def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element; along a dim, the largest elements and their indices; of two tensors, the larger elements."""
    return _best(amax, max_along, maximum, input, dim if other is None else other, keepdim)


@method
@in_either_words
def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element; along a dim, the smallest elements and their indices; of two tensors, the smaller ones."""
    return _best(amin, min_along, minimum, input, dim if other is None else other, keepdim)


def _best(over_all: Any, along: Any, of_two: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    if dim is None:
        return over_all(input)
    return of_two(input, dim) if isinstance(dim, Tensor) else along(input, dim, keepdim)
