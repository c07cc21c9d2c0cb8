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

__all__ = ["median", "quantile"]


def _middle(x: Any, *, dim: int) -> Any:
    size = x.shape[dim]
    if not size:
        raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size")
    unknown = (x != x).sum(dim, keepdims=True)
    if not unknown.any():
        return np.take(np.argpartition(x, (size - 1) // 2, dim), [(size - 1) // 2], dim)
    # NaN is last in order, and the result as soon as there is one
    return np.take_along_axis(order(x, dim), np.where(unknown, size - unknown, (size - 1) // 2), dim)


def _to_middle(input: Any, dim: int, keepdim: bool = False) -> Any:
    return (input,), {"dim": one(dim, len(input.shape)), "keepdim": keepdim, "_from": tuple(input.shape)}


_ALONG = [((2, 3), {"dim": 1}), ((4, 2), {"dim": 0, "keepdim": True}), ((), {"dim": 0})]

median_along = choice(
    "median", "Median along a dim, the lower of the two in the middle, and where it is.",
    place=_middle, prepare=_to_middle, samples=_ALONG,
)  # fmt: skip


def _shared(g: Any, x: Any, out: Any) -> Any:
    """Shared equally by all elements that are the median."""
    chosen = (x == out) + (x != x) * (out != out)
    return where(chosen, g / sum(chosen * x.dtype.type(1)), 0.0)


def _middle_of_all(x: Any) -> Any:
    flat = np.reshape(x, -1)
    return flat[_middle(flat, dim=0)[0]] if flat.size else x.dtype.type(np.nan)


_median_all = define(
    "median_all", "Median of all elements, the lower of two; equal ones share.", formula="out = sort(x)[(n-1) // 2]",
    tensor_method=False, grad_name="MedianBackward0", torch="median",
    forward=_middle_of_all,
    vjp=[_shared],
    shape=shapes.scalar,
    samples=[((2, 3),), ((),), ((4,),)],
)  # fmt: skip


@method
@in_either_words
def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements, or along a dim with the indices where it is; the lower of the two in the middle."""
    return _median_all(input) if dim is None else median_along(input, dim, keepdim)


INTERPOLATIONS: Final[dict[str, Any]] = {
    "linear": (np.floor, np.ceil, None),
    "lower": (np.floor, None, None),
    "higher": (np.ceil, None, None),
    "nearest": (np.round, None, None),
    "midpoint": (np.floor, np.ceil, 0.5),
}
"""For each way to interpolate: from a place in the order to that below and that above, and how far to go between."""


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
    parts = q if isinstance(q, Tensor) else Tensor(np.asarray(q, input.dtype))
    wanted = parts.array
    if input.dtype.kind != "f":
        raise RuntimeError(f"quantile() input tensor must be either float or double dtype, not {input.dtype}")
    if isinstance(q, Tensor) and q.dtype != input.dtype:
        raise RuntimeError(f"quantile() q tensor must be same dtype as the input tensor: {q.dtype}, {input.dtype}")
    if wanted.ndim > 1 or not ((wanted >= 0) & (wanted <= 1)).all():
        raise RuntimeError("quantile() q must be a number or a vector of numbers in the range [0, 1]")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of {', '.join(INTERPOLATIONS)}, not {interpolation!r}"
        )
    rank = len(input.shape)
    rows = reshape(input, (-1,)) if dim is None or not rank else movedim(input, one(dim, rank), -1)
    if not rows.shape[-1]:
        raise RuntimeError("quantile() input tensor must be non-empty")
    ordered = sort(rows, -1).values
    unknown = np.sum(ordered.array != ordered.array, -1, keepdims=True)
    last = rows.shape[-1] - 1
    # NaN is last in order, and the result as soon as there is one
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
