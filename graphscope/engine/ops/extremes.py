"""Largest and smallest: over dims, of two tensors, and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import along, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.core.dims import in_either_words, one
from graphscope.engine.core.results import result_of
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops.index import where
from graphscope.engine.ops.reduce import spread, sum, to_reduction
from graphscope.engine.ops.values_and_indices import choice

__all__ = [
    "amax",
    "amin",
    "aminmax",
    "argmax",
    "argmin",
    "fmax",
    "fmin",
    "max",
    "maximum",
    "min",
    "minimum",
]


def _extreme_rule(g: Any, x: Any, out: Any, *, dim: Any, keepdim: bool, _from: Any) -> Any:
    """Shared equally by all elements that are the extreme; where that is NaN, by those that are NaN."""
    if dim is None:
        chosen = (x == out) + (x != x) * (out != out)
        return where(chosen, spread(g, _from, None, keepdim) / sum(chosen * x.dtype.type(1)), 0.0)
    chosen = (x == spread(out, _from, dim, keepdim)) * x.dtype.type(1)
    return spread(g, _from, dim, keepdim) * chosen / sum(chosen, dim, True)


def _extreme(over: Any) -> Any:
    def forward(x: Any, *, dim: Any, keepdim: bool, _from: Any) -> Any:
        if not x.size:
            _refuse_empty(_from, dim)
        return over.reduce(x, axis=dim, keepdims=keepdim)

    return forward


def _refuse_empty(shape: tuple[int, ...], dim: Any, kind: type[Exception] = RuntimeError) -> None:
    places = range(len(shape)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    empty = [place for place in places if shape[place] == 0]
    if empty and dim is None:
        raise kind(f"no element to choose from: the shape is {shape}. Give a dim that is not empty")
    if empty:
        raise IndexError(f"Expected reduction dim {empty[0]} to have non-zero size, but the shape is {shape}")


amax = define(
    "amax", "Largest element over the given dims, or over all; equal ones share the gradient.", formula="out = max x",
    prepare=to_reduction,
    forward=_extreme(np.maximum),
    vjp=[_extreme_rule],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True}), ((2, 3, 2), {"dim": (0, -1)})],
)  # fmt: skip

amin = define(
    "amin", "Smallest element over the given dims, or over all; equal ones share the gradient.", formula="out = min x",
    prepare=to_reduction,
    forward=_extreme(np.minimum),
    vjp=[_extreme_rule],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((), {"dim": 0})],
)  # fmt: skip


def _to_place(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return (input,), {"dim": dim if dim is None else one(dim, len(input.shape)), "keepdim": keepdim}


def _place(over: Any) -> Any:
    def forward(x: Any, *, dim: int | None, keepdim: bool) -> Any:
        if not x.size:
            _refuse_empty(x.shape, dim, IndexError)
        return over(x, axis=dim, keepdims=keepdim) if x.ndim else np.int64(0)

    return forward


argmax = define(
    "argmax", "Index of the largest element, along a dim or of all elements in a row.", formula="out = argmax x",
    prepare=_to_place,
    forward=_place(np.argmax),
    vjp=[None],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": -2, "keepdim": True}), ((), {"dim": 0})],
)  # fmt: skip

argmin = define(
    "argmin", "Index of the smallest element, along a dim or of all elements in a row.", formula="out = argmin x",
    prepare=_to_place,
    forward=_place(np.argmin),
    vjp=[None],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": -2, "keepdim": True}), ((), {"dim": 0})],
)  # fmt: skip


def _winner(g: Any, x: Any, y: Any) -> Any:
    """The cotangent where x wins over y, or one of them is NaN; half of it where they are equal."""
    return where(x == y, g / 2, where(x < y, 0.0, g))


maximum = define(
    "maximum", "The larger of two elements; equal ones share the gradient.", formula="out = max(x, y)",
    forward=np.maximum,
    vjp=[_winner,
         lambda g, x, y: _winner(g, y, x)],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip

minimum = define(
    "minimum", "The smaller of two elements; equal ones share the gradient.", formula="out = min(x, y)",
    forward=np.minimum,
    vjp=[lambda g, x, y: _winner(g, y, x),
         _winner],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip


def _known(name: str, what: str, over: Any, wins: Any) -> Any:
    return define(
        name, f"The {what} of two elements; of NaN and a number the number.", formula=f"out = {name[1:]}(x, y)",
        forward=over,
        vjp=[lambda g, x, y: where(wins(x, y), g, 0.0),
             lambda g, x, y: where(wins(x, y), 0.0, g)],
        shape=shapes.broadcast,
        samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ()), (np.array([1.0, np.nan]), np.array([np.nan, 2.0]))],
    )  # fmt: skip


fmax = _known("fmax", "larger", np.fmax, lambda x, y: (x >= y) + (y != y))
fmin = _known("fmin", "smaller", np.fmin, lambda x, y: (x <= y) + (y != y))


def _to_best(input: Any, dim: int, keepdim: bool = False) -> Any:
    return (input,), {"dim": one(dim, len(input.shape)), "keepdim": keepdim, "_from": tuple(input.shape)}


def _at_best(over: Any) -> Any:
    def place(x: Any, *, dim: int) -> Any:
        if not x.size:
            _refuse_empty(x.shape, dim)
        return over(x, axis=dim, keepdims=True)

    return place


_ALONG = [((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True}), ((), {"dim": 0}), ((2, 3, 2), {"dim": -2})]

max_along = choice(
    "max", "Largest element along a dim, and where it is.", formula="out = x[i], i = argmax x",
    place=_at_best(np.argmax), prepare=_to_best, samples=_ALONG,
    at_once=lambda x, dim, keepdim: along.extremes(x, dim, along.LARGEST, keepdim),
)  # fmt: skip

min_along = choice(
    "min", "Smallest element along a dim, and where it is.", formula="out = x[i], i = argmin x",
    place=_at_best(np.argmin), prepare=_to_best, samples=_ALONG,
    at_once=lambda x, dim, keepdim: along.extremes(x, dim, along.SMALLEST, keepdim),
)  # fmt: skip


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


def _twice(x: Any, **attrs: Any) -> list[Any]:
    return [shapes.reduced(x, **attrs)] * 2


_AMINMAX = result_of("aminmax", ("min", "max"))


@composite("Smallest and largest element over a dim, or of all.", formula="out = min x, max x", tensor_method=True,
           samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True})],
           shape=_twice)  # fmt: skip
def aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element over a dim, or of all; equal ones share the gradient."""
    return _AMINMAX(amin(input, dim, keepdim), amax(input, dim, keepdim))
