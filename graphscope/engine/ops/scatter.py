"""Elements written at an index tensor, in a copy: scatter, index_add and their like."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core import along, dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import one
from graphscope.engine.core.row_sums import add_along, add_rows, places_along
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.gathering import gather, gathered, index_select, integers, raw
from graphscope.engine.ops.index import getitem, where

__all__ = ["index_add", "index_fill", "scatter", "scatter_add", "scatter_reduce"]


def _to_scatter(what: str) -> Any:
    def prepare(input: Any, dim: int, index: Any, src: Any, **attrs: Any) -> Any:
        places, shape = raw(index), tuple(input.shape)
        dim = one(dim, len(shape))
        integers(places, what)
        if places.size:
            source = getattr(src, "shape", None) or (places.shape if not hasattr(src, "shape") else ())
            _check(what, dim, shape or (1,), places.shape or (1,), source or (1,))
            try:
                integers(places, what, length=shape[dim] if shape else 1)
            except IndexError as error:
                raise RuntimeError(f"{what}: {error}") from None
        if hasattr(src, "dtype"):
            if src.dtype != input.dtype:
                raise RuntimeError(
                    f"{what}(): Expected self.dtype to be equal to src.dtype: {input.dtype}, {src.dtype}"
                )
            if tuple(src.shape) != tuple(places.shape) and len(src.shape) == len(places.shape):
                src = getitem(src, tuple(slice(size) for size in places.shape))
        return (input, index, src), {"dim": dim, **attrs}

    return prepare


def _check(what: str, dim: int, shape: Any, index: Any, source: Any) -> None:
    if not len(shape) == len(index) == len(source):
        raise RuntimeError(
            f"{what}(): Index tensor must have the same number of dimensions as self and src: "
            f"{index} for {shape} and {source}"
        )
    for place, size in enumerate(index):
        if size > source[place] or (place != dim and size > shape[place]):
            raise RuntimeError(
                f"{what}(): Expected index {index} to be no larger than self {shape} apart from dimension {dim}, and "
                f"no larger than src {source}: dim {place} disagrees"
            )


def _copied(x: Any) -> Any:
    return np.array(x, ndmin=1)


def _back(out: Any, x: Any) -> Any:
    return out if x.ndim else out[0]


def _part(out: Any, index: Any, dim: int) -> Any:
    return out[tuple(slice(None) if place == dim else slice(size) for place, size in enumerate(index.shape))]


def _scatter(x: Any, y: Any, z: Any, *, dim: int) -> Any:
    out, index = _copied(x), np.reshape(y, y.shape or 1)
    if index.size:
        source = np.asarray(z).reshape(index.shape) if np.ndim(z) else dtypes.element(z, out.dtype)
        np.put_along_axis(_part(out, index, dim), index, source, dim)
    return _back(out, x)


put_along: Any = define(
    "scatter", "A copy of x with z written at an index along a dim.", formula="out = x; out[i, y[i, j]] = z[i, j]",
    tensor_method=False, promotes=False,
    prepare=_to_scatter("scatter"),
    forward=_scatter,
    vjp=[lambda g, y, *, dim: put_along(g, dim, y, 0.0),
         None,
         lambda g, y, *, dim: gather(g, dim, y)],
    shape=shapes.same,
    samples=[((2, 3), 1, np.array([[0], [2]]), (2, 1)), ((3, 2), 0, np.array([[2, 0]]), (1, 2)),
             ((2, 3), -1, np.array([[0], [2]]), 0.5)],
)  # fmt: skip


def _scatter_add(x: Any, y: Any, z: Any, *, dim: int) -> Any:
    if not x.ndim:
        return x + np.add.reduce(z, None, dtype=x.dtype)
    out = along.added(z, y, dim, x)
    return x + add_along(z, y, dim, x.shape) if out is None else out


scatter_add: Any = define(
    "scatter_add", "A copy of x with z added at an index along a dim.", formula="out = x; out[i, y[i, j]] += z[i, j]",
    promotes=False,
    prepare=_to_scatter("scatter_add"),
    forward=_scatter_add,
    vjp=[lambda g: g,
         None,
         lambda g, y, *, dim: gather(g, dim, y)],
    shape=shapes.same,
    samples=[((2, 3), 1, np.array([[0, 0], [2, 1]]), (2, 2)), ((3, 2), 0, np.array([[2, 0]]), (1, 2)),
             ((), 0, np.array(0), ())],
)  # fmt: skip


def _over(function: Any, start: Any) -> Any:
    """A reduction of what is scattered: the function that joins two, and what it starts from."""

    def reduce(x: Any, y: Any, z: Any, *, dim: int, include_self: bool) -> Any:
        out, index, source = _copied(x), np.reshape(y, y.shape or 1), np.reshape(z, y.shape or 1)
        places = places_along(index, dim, out.shape).reshape(-1)
        flat = out.reshape(-1)
        if not include_self:
            flat[places] = start(out.dtype)
        function.at(flat, places, source.reshape(-1))
        return _back(flat.reshape(out.shape), x)

    return reduce


def _lowest(dtype: np.dtype) -> Any:
    return -np.inf if dtype.kind == "f" else dtype.kind != "b" and np.iinfo(dtype).min


def _highest(dtype: np.dtype) -> Any:
    return np.inf if dtype.kind == "f" else dtype.kind == "b" or np.iinfo(dtype).max


_REDUCTIONS: Final = {
    "prod": _over(np.multiply, lambda dtype: 1),
    "amax": _over(np.maximum, _lowest),
    "amin": _over(np.minimum, _highest),
}
"""For each reduction of `scatter_reduce` that is no sum, how to do it."""


def _scatter_over(x: Any, y: Any, z: Any, *, dim: int, reduce: str, include_self: bool) -> Any:
    return _REDUCTIONS[reduce](x, y, z, dim=dim, include_self=include_self)


def _left(x: Any, y: Any, dim: int, include_self: bool) -> Any:
    """x, with what is not part of the reduction made 0."""
    return x if include_self else put_along(x, dim, y, 0.0)


def _self_rule(g: Any, x: Any, y: Any, z: Any, out: Any, *, dim: int, reduce: str, include_self: bool) -> Any:
    if reduce == "prod":
        nonzero = where(x == 0, 1.0, x)
        return _left(g * scattered(nonzero, dim, y, z, reduce, include_self) / nonzero, y, dim, include_self)
    chosen = (x == out) * x.dtype.type(1)
    return _left(g * chosen / _ties(x, y, z, out, dim), y, dim, include_self)


def _source_rule(g: Any, x: Any, y: Any, z: Any, out: Any, *, dim: int, reduce: str, include_self: bool) -> Any:
    if reduce == "prod":  # of several zeros at one place each has the product of the others, 0
        zero = (z == 0) * z.dtype.type(1)
        only = (zero == 1) * (gather(gathered(zero, y, dim, x.shape), dim, y) == 1)
        others = gather(g * scattered(x, dim, y, where(only, 1.0, z), reduce, include_self), dim, y)
        return where(only, others, gather(g * out, dim, y) / where(z == 0, 1.0, z))
    chosen = (z == gather(out, dim, y)) * z.dtype.type(1)
    return gather(g / _ties(x, y, z, out, dim), dim, y) * chosen


def _ties(x: Any, y: Any, z: Any, out: Any, dim: int) -> Any:
    """Among how many equal elements each cotangent is shared; as in PyTorch, x counts even where it is not included."""
    ties = (x == out) * x.dtype.type(1) + gathered((z == gather(out, dim, y)) * z.dtype.type(1), y, dim, x.shape)
    return ties + (ties == 0) * x.dtype.type(1)


def _to_scattered(input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True) -> Any:
    inputs, attrs = _to_scatter("scatter_reduce")(input, dim, index, src)
    return inputs, {**attrs, "reduce": reduce, "include_self": include_self}


scattered: Any = define(
    "scattered", "A copy of x in which each element is reduced with those of z that an index along a dim sends to it.",
    formula="out[i, j] = reduce x[i, j], z[i, k] where y[i, k] = j", tensor_method=False, promotes=False,
    grad_name="ScatterReduceBackward0",
    prepare=_to_scattered,
    forward=_scatter_over,
    vjp=[_self_rule,
         None,
         _source_rule],
    shape=shapes.same,
    samples=[((2, 3), 1, np.array([[0, 0], [2, 1]]), (2, 2), {"reduce": "prod"}),
             ((2, 3), 1, np.array([[0, 0], [2, 1]]), (2, 2), {"reduce": "amax"}),
             ((3,), 0, np.array([1, 1, 0]), (3,), {"reduce": "amin", "include_self": False})],
)  # fmt: skip


def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """A copy in which each element is reduced with those of `src` that the index sends to it.

    Args:
        input: The tensor.
        dim: The dim along which the index counts.
        index: Where each element of `src` goes.
        src: The elements.
        reduce: `sum`, `prod`, `mean`, `amax` or `amin`.
        include_self: Whether the element of `input` is part of the reduction.

    Raises:
        RuntimeError: There is no such reduction, or shapes, dtypes or the index do not fit.
    """
    if reduce in _REDUCTIONS:
        return scattered(input, dim, index, src, reduce, include_self)
    if reduce not in ("sum", "mean"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    start = input if include_self else put_along(input, dim, index, 0)
    total = scatter_add(start, dim, index, src)
    if reduce == "sum":
        return total
    ones = np.ones(input.shape, input.dtype)
    counts = _scatter_add(ones, index.array, np.ones(index.shape, input.dtype), dim=one(dim, len(input.shape)))
    counts = np.maximum(counts if include_self else counts - 1, 1)
    return total / Tensor(counts) if input.dtype.kind == "f" else total.div(Tensor(counts), rounding_mode="floor")


def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """A copy with `src`, a tensor or a number, written at an index along a dim.

    Raises:
        RuntimeError: Shapes, dtypes or the index do not fit.
    """
    source = value if src is None else src
    if reduce is None:
        return put_along(input, dim, index, source)
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply, not {reduce!r}")
    if not isinstance(source, Tensor):
        source = Tensor(np.full(index.shape, source, input.dtype))
    if reduce == "add":
        return scatter_add(input, dim, index, source)
    return scattered(input, dim, index, source, "prod")


def _to_index_write(what: str) -> Any:
    def prepare(input: Any, dim: int, index: Any, source: Any, *, alpha: float = 1) -> Any:
        shape, places = tuple(input.shape), raw(index)
        dim = one(dim, len(shape))
        if len(places.shape) > 1:
            raise IndexError(f"{what}(): Index is supposed to be a vector, not of shape {tuple(places.shape)}")
        try:
            integers(places, what, length=shape[dim] if shape else 1, wide=what != "index_add")
        except IndexError as error:
            raise (RuntimeError if what == "index_add" else IndexError)(f"{what}: {error}") from None
        if hasattr(source, "dtype") and source.dtype != input.dtype:
            raise RuntimeError(
                f"{what}(): self and source expected to have the same dtype: {input.dtype}, {source.dtype}"
            )
        wanted = shapes.resized(shape, dim, places.size) if shape else ()
        if hasattr(source, "shape") and tuple(source.shape) != wanted and what != "index_fill":
            raise RuntimeError(
                f"{what}(): source of shape {tuple(source.shape)} does not fit: {places.size} indices along dim {dim} "
                f"of {shape} want {wanted}"
            )
        return (input, index, source), {"dim": dim, **({"alpha": alpha} if what == "index_add" else {})}

    return prepare


def _index_add(x: Any, y: Any, z: Any, *, dim: int, alpha: float) -> Any:
    if not x.ndim:
        return x + np.reshape(z, -1)[0] * x.dtype.type(dtypes.element(alpha, x.dtype))
    rows = np.moveaxis(add_rows(np.ascontiguousarray(np.moveaxis(z, dim, 0)), y.reshape(-1), x.shape[dim]), 0, dim)
    return x + (rows if alpha == 1 else rows * x.dtype.type(dtypes.element(alpha, x.dtype)))


index_add = define(
    "index_add", "A copy of x with slices z added at an index along a dim.",
    formula="out = x; out[y[i]] += alpha · z[i]",
    promotes=False, grad_name="IndexAddBackward0",
    prepare=_to_index_write("index_add"),
    forward=_index_add,
    vjp=[lambda g: g,
         None,
         lambda g, y, *, dim, alpha: index_select(g, dim, y) * alpha],
    shape=shapes.same,
    samples=[((3, 2), 0, np.array([0, 2, 0]), (3, 2)), ((2, 3), -1, np.array([1]), (2, 1), {"alpha": 0.5})],
)  # fmt: skip


def _without(g: Any, y: Any, dim: int) -> Any:
    """The cotangent with 0 at the slices that were written."""
    return index_fill(g, dim, y, 0.0)


def _index_fill(x: Any, y: Any, z: Any, *, dim: int) -> Any:
    if np.ndim(z):
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, not shape {np.shape(z)}")
    out = _copied(x)
    out[(slice(None),) * dim + (np.reshape(y, -1),)] = dtypes.element(z, x.dtype)
    return _back(out, x)


def _at_once(g: Any, y: Any, dim: int) -> Any:
    """The slices at an index, each but once."""
    places = np.unique(raw(y))
    return index_select(g, dim, Tensor(places) if isinstance(g, Tensor) else places)


_to_fill = _to_index_write("index_fill")

index_fill: Any = define(
    "index_fill", "A copy of x with a number z in the slices at an index along a dim.",
    formula="out = x; out[y[i]] = z", promotes=False,
    prepare=lambda input, dim, index, value: _to_fill(input, dim, index, value),  # noqa: PLW0108 - its own names
    forward=_index_fill,
    vjp=[lambda g, y, *, dim: _without(g, y, dim),
         None,
         lambda g, y, *, dim: _at_once(g, y, dim).sum()],
    shape=shapes.same,
    samples=[((3, 2), 0, np.array([0, 2]), 0.5), ((2, 3), -1, np.array([1]), ())],
)  # fmt: skip

setattr(Tensor, "scatter", scatter)  # noqa: B010
setattr(Tensor, "scatter_reduce", scatter_reduce)  # noqa: B010
