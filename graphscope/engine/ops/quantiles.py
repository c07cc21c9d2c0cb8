"""Medians and quantiles: the elements at given places of the order."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.core.dims import in_either_words, one
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops.dim_order import movedim
from graphscope.engine.ops.gathering import gather
from graphscope.engine.ops.index import getitem, where
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import reshape
from graphscope.engine.ops.sorting import order, sort
from graphscope.engine.ops.values_and_indices import choice

__all__ = [
    "median",
    "nanmedian",
    "nanquantile",
    "quantile",
]


def _middle(ignore_nan: bool) -> Any:
    def place(x: Any, *, dim: int) -> Any:
        size = x.shape[dim]
        if not size:
            raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size")
        unknown = (x != x).sum(dim, keepdims=True)
        if not unknown.any():
            return np.take(np.argpartition(x, (size - 1) // 2, dim), [(size - 1) // 2], dim)
        if ignore_nan:
            places = np.maximum(size - unknown - 1, 0) // 2
        else:  # NaN is last in order, and the result as soon as there is one
            places = np.where(unknown, size - unknown, (size - 1) // 2)
        return np.take_along_axis(order(x, dim), places, dim)

    return place


def _to_middle(input: Any, dim: int, keepdim: bool = False) -> Any:
    return (input,), {"dim": one(dim, len(input.shape)), "keepdim": keepdim, "_from": tuple(input.shape)}


_ALONG = [((2, 3), {"dim": 1}), ((4, 2), {"dim": 0, "keepdim": True}), ((), {"dim": 0})]

median_along = choice(
    "median", "Median along a dim, the lower of the two in the middle, and where it is.",
    formula="out = sort(x)[(n-1) // 2]",
    place=_middle(ignore_nan=False), prepare=_to_middle, samples=_ALONG,
)  # fmt: skip

nanmedian_along = choice(
    "nanmedian", "Median along a dim of what is not NaN, and where it is.", formula="out = sort(x)[(n-1) // 2]",
    place=_middle(ignore_nan=True), prepare=_to_middle, samples=_ALONG,
)  # fmt: skip


def _shared(g: Any, x: Any, out: Any) -> Any:
    """Shared equally by all elements that are the median."""
    chosen = (x == out) + (x != x) * (out != out)
    return where(chosen, g / sum(chosen * x.dtype.type(1)), 0.0)


def _median_of_all(ignore_nan: bool) -> Any:
    place = _middle(ignore_nan)

    def forward(x: Any) -> Any:
        flat = np.reshape(x, -1)
        return flat[place(flat, dim=0)[0]] if flat.size else x.dtype.type(np.nan)

    return forward


def _all_middle(name: str, doc: str, ignore_nan: bool) -> Any:
    return define(
        name, doc, formula="out = sort(x)[(n-1) // 2]", tensor_method=False, grad_name="MedianBackward0",
        torch=name.removesuffix("_all"),
        forward=_median_of_all(ignore_nan),
        vjp=[_shared],
        shape=shapes.scalar,
        samples=[((2, 3),), ((),), ((4,),)],
    )  # fmt: skip


_median_all = _all_middle("median_all", "Median of all elements, the lower of two; equal ones share.", False)
_nanmedian_all = _all_middle("nanmedian_all", "Median of all elements that are not NaN.", True)


@method
@in_either_words
def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements, or along a dim with the indices where it is; the lower of the two in the middle."""
    return _median_all(input) if dim is None else median_along(input, dim, keepdim)


@method
@in_either_words
def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not NaN, of all or along a dim with the indices where it is."""
    return _nanmedian_all(input) if dim is None else nanmedian_along(input, dim, keepdim)


INTERPOLATIONS: Final[dict[str, Any]] = {
    "linear": (np.floor, np.ceil, None),
    "lower": (np.floor, None, None),
    "higher": (np.ceil, None, None),
    "nearest": (np.round, None, None),
    "midpoint": (np.floor, np.ceil, 0.5),
}
"""For each way to interpolate: from a place in the order to that below and that above, and how far to go between."""


def _quantile(input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Any:
    name = "nanquantile" if ignore_nan else "quantile"
    parts = q if isinstance(q, Tensor) else Tensor(np.asarray(q, input.dtype))
    wanted = parts.array
    if input.dtype.kind != "f":
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype, not {input.dtype}")
    if isinstance(q, Tensor) and q.dtype != input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor: {q.dtype}, {input.dtype}")
    if wanted.ndim > 1 or not ((wanted >= 0) & (wanted <= 1)).all():
        raise RuntimeError(f"{name}() q must be a number or a vector of numbers in the range [0, 1]")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(f"{name}() interpolation must be one of {', '.join(INTERPOLATIONS)}, not {interpolation!r}")
    rank = len(input.shape)
    rows = reshape(input, (-1,)) if dim is None or not rank else movedim(input, one(dim, rank), -1)
    if not rows.shape[-1]:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    ordered = sort(rows, -1).values
    unknown = np.sum(ordered.array != ordered.array, -1, keepdims=True)
    last = rows.shape[-1] - 1
    places = reshape(parts, (-1,)) * Tensor(np.maximum(last - unknown, 0).astype(input.dtype))
    if not ignore_nan:  # NaN is last in order, and the result as soon as there is one
        places = where(Tensor(unknown != 0), float(last), reshape(parts, (-1,)) * last)
    below, beyond, between = INTERPOLATIONS[interpolation]
    out = gather(ordered, -1, Tensor(below(places.array).astype(np.int64)))
    if beyond is not None:
        above = gather(ordered, -1, Tensor(beyond(places.array).astype(np.int64)))
        weight = places - Tensor(below(places.array)) if between is None else between
        out = out + (above - out) * weight
    out = movedim(out, -1, 0)
    if keepdim:
        kept = shapes.reduced(tuple(input.shape), dim=dim, keepdim=True)
        out = reshape(out, (-1, *kept))
    return out if wanted.ndim else getitem(out, 0)


def _quantiles(x: Any, q: Any, *, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    return (*np.shape(q), *shapes.reduced(x, dim=dim, keepdim=keepdim))


_HALVES = [((2, 5), 0.3, {}), ((2, 5), 0.3, {"dim": 1}), ((5, 2), 0.5, {"dim": 0, "keepdim": True}),
           ((2, 4), 0.4, {"dim": -1, "interpolation": "nearest"}),
           ((2, 4), 0.4, {"dim": 1, "interpolation": "midpoint"})]  # fmt: skip


@composite("Quantiles of all elements, or along a dim.", formula="out = sort(x)[q · (n-1)]", tensor_method=True,
           samples=_HALVES, shape=_quantiles)  # fmt: skip
def quantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The elements below which lies a part q of all, or of those along a dim; several q are dim 0 of the result."""
    return _quantile(input, q, dim, keepdim, interpolation, ignore_nan=False)


@composite("Quantiles of the elements that are not NaN.", formula="out = sort(x)[q · (n-1)]", tensor_method=True,
           samples=_HALVES, shape=_quantiles)  # fmt: skip
def nanquantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """As `quantile`, of the elements that are not NaN."""
    return _quantile(input, q, dim, keepdim, interpolation, ignore_nan=True)
