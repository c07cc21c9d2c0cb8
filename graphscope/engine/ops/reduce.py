"""Reductions: sums, means, extremes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine import dtypes
from graphscope.engine.calls import define
from graphscope.engine.ops.shape import expand, reshape
from graphscope.engine.tensor import Tensor

__all__ = [
    "all",
    "any",
    "mean",
    "sum",
]


def _axis(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list) else dim


def to_reduction(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The arguments of a reduction, as people write them."""
    if dtype is not None:
        x = x.to(dtype) if isinstance(x, Tensor) else x.astype(dtype)
    return (x,), {"dim": _axis(dim), "keepdim": keepdim, "_from": x.shape}


def spread(g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """A cotangent of a reduction, repeated along the dims that were reduced."""
    if not keepdim and shape:
        dims = range(len(shape)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
        reduced = {d % len(shape) for d in dims}
        g = reshape(g, tuple(1 if i in reduced else size for i, size in enumerate(shape)))
    return expand(g, shape)


def _count(shape: tuple[int, ...], dim: Any) -> int:
    if dim is None:
        return math.prod(shape)
    return math.prod(shape[d] for d in (dim if isinstance(dim, tuple) else (dim,)))


def _sum(x: Any, *, dim: Any, keepdim: bool, _from: Any = None) -> Any:
    if x.dtype.kind in "biu":
        return np.sum(x, axis=dim, keepdims=keepdim, dtype=dtypes.int64)
    total: Any = np.add.reduce  # NumPy's stubs know keepdims only as a literal
    return total(x, axis=dim, keepdims=keepdim) if x.ndim else x


def _mean(x: Any, *, dim: Any, keepdim: bool, _from: Any = None) -> Any:
    if x.dtype.kind != "f":
        raise TypeError(f"mean: a mean of {x.dtype} is no {x.dtype}; convert it first, with x.float()")
    return _sum(x, dim=dim, keepdim=keepdim) / x.dtype.type(_count(x.shape, dim))


total = define(
    "sum", "Sum of all elements.", formula="out = Σ x", tensor_method=False, reduces=True, wrapped=True,
    forward=lambda x: np.add.reduce(x, None) if x.dtype.kind in "fc" else np.sum(x, dtype=dtypes.int64),
    vjp=[lambda g: g],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

sum_dim = define(
    "sum_dim", "Sum over the given dims.", formula="out = Σ x", grad_name="SumBackward1", tensor_method=False,
    prepare=to_reduction,
    forward=_sum,
    vjp=[lambda g, *, dim, keepdim, _from: spread(g, _from, dim, keepdim)],
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": -1, "keepdim": True}), ((2, 3), {"dim": (0, 1)})],
)  # fmt: skip


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over the given dims, or over all. Sums of integers and booleans are int64."""
    if dim is None and not keepdim and dtype is None:
        return total(input)
    return sum_dim(input, dim, keepdim, dtype=dtype)


setattr(Tensor, "sum", sum)  # noqa: B010

mean = define(
    "mean", "Mean over the given dims, or over all.", formula="out = Σ x / n",
    grad_name=lambda attrs: "MeanBackward0" if attrs["dim"] is None else "MeanBackward1",
    prepare=to_reduction,
    forward=_mean,
    vjp=[lambda g, *, dim, keepdim, _from: spread(g / _count(_from, dim), _from, dim, keepdim)],
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True})],
)  # fmt: skip


def _to_verdict(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return (x,), {"dim": _axis(dim), "keepdim": keepdim}


def _any(x: Any, *, dim: Any, keepdim: bool) -> Any:
    return np.any(x, axis=dim, keepdims=keepdim)


def _all(x: Any, *, dim: Any, keepdim: bool) -> Any:
    return np.all(x, axis=dim, keepdims=keepdim)


any = define(
    "any", "Whether some element is not 0, over the given dims or over all.", formula="out = ∃ x",
    prepare=_to_verdict,
    forward=_any,
    vjp=[None],
    samples=[((2, 3), {}), ((2, 3), {"dim": 1})],
)  # fmt: skip

all = define(
    "all", "Whether no element is 0, over the given dims or over all.", formula="out = ∀ x",
    prepare=_to_verdict,
    forward=_all,
    vjp=[None],
    samples=[((2, 3), {}), ((2, 3), {"dim": 1})],
)  # fmt: skip
