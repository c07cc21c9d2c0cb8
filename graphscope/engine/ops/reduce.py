"""Reductions that add, multiply or count."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dims, dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import in_our_words
from graphscope.engine.core.sums import sums
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.shape import expand

__all__ = ["all", "any", "count_nonzero", "mean", "nansum", "sum"]


_MANY: Final = 1 << 14
"""So many elements are worth looking for a quicker way to sum them."""


def to_reduction(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The arguments of a reduction, as people write them."""
    if dtype is not None and dtype != input.dtype:
        input = input.to(dtype) if isinstance(input, Tensor) else input.astype(dtype)
    shape = input.shape
    attrs = {"dim": reduced_dims(dim, len(shape)), "keepdim": keepdim, "_from": shape}
    if dtype is not None and np.dtype(dtype).kind in "biu":
        attrs["dtype"] = np.dtype(dtype)
    return (input,), attrs


def reduced_dims(dim: Any, rank: int) -> Any:
    """None for all dims, one dim, or a tuple of several, checked."""
    if dim is None:
        return None
    if dim.__class__ is int and -rank <= dim < rank:
        return dim
    found = dims.several(dim, rank)
    return None if len(found) == rank else found[0] if len(found) == 1 else found


def spread(g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """A cotangent of a reduction, repeated along the dims that were reduced."""
    bare = not isinstance(g, Tensor)
    if bare and not g.shape:
        return g  # it is spread when it arrives
    if not keepdim and shape:
        kept = [1] * len(shape) if dim is None else list(shape)
        for place in dim if isinstance(dim, tuple) else () if dim is None else (dim,):
            kept[place] = 1
        g = g.reshape(tuple(kept))
    if bare and math.prod(shape) < _MANY:  # a copy costs less than NumPy's broadcast_to
        out = np.empty(shape, g.dtype)
        out[...] = g
        return out
    return expand(g, shape)


def count(shape: tuple[int, ...], dim: Any) -> int:
    """How many elements go into each element of a reduction."""
    if dim is None:
        return math.prod(shape)
    return math.prod(shape[d] for d in (dim if isinstance(dim, tuple) else (dim,)))


def _sum(x: Any, *, dim: Any, keepdim: bool, _from: Any = None, dtype: Any = dtypes.int64) -> Any:
    if x.dtype.kind in "biu":
        return np.sum(x, axis=dim, keepdims=keepdim, dtype=dtype)
    if not x.ndim:
        return x.copy()
    if x.size >= _MANY and x.flags.c_contiguous:
        places = dims.several(dim, x.ndim)
        return sums(x, places).reshape(shapes.reduced(x.shape, dim=dim, keepdim=keepdim))[()]
    total: Any = np.add.reduce  # NumPy's stubs know keepdims only as a literal
    return total(x, axis=dim, keepdims=keepdim)


def _total(x: Any) -> Any:
    if x.dtype.kind == "f" and x.size < _MANY:
        return np.add.reduce(x, None)
    return _sum(x, dim=None, keepdim=False)


def _mean(x: Any, *, dim: Any, keepdim: bool, _from: Any = None) -> Any:
    if x.dtype.kind in "biu":
        raise TypeError(f"mean: a mean of {x.dtype} is no {x.dtype}; convert it first, with x.float()")
    return _sum(x, dim=dim, keepdim=keepdim) / x.dtype.type(count(x.shape, dim))


total = define(
    "sum", "Sum of all elements.", tensor_method=False, reduces=True, wrapped=True,
    forward=_total, accumulates=True,
    vjp=[lambda g: g],
    shape=shapes.scalar,
    samples=[((2, 3),), ((),), ((0,),)],
)  # fmt: skip

sum_dim = define(
    "sum_dim", "Sum over the given dims.", formula="out = Σ x", element="Σ x[dim]",
    grad_name="SumBackward1", tensor_method=False,
    prepare=to_reduction,
    forward=_sum, accumulates=True,
    vjp=[lambda g, *, dim, keepdim, _from: spread(g, _from, dim, keepdim)],
    shape=shapes.reduced,
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": -1, "keepdim": True}), ((2, 3), {"dim": (0, 1)}),
             ((2, 0), {"dim": 1}), ((), {"dim": 0}), ((2, 3, 2), {"dim": (0, -1), "keepdim": True})],
)  # fmt: skip


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **numpy: Any) -> Any:
    """Sum over the given dims, or over all. Sums of integers and booleans are int64."""
    if dim is None and not keepdim and dtype is None and not numpy:
        return total(input)
    words = in_our_words(numpy)
    return sum_dim(input, words.pop("dim", dim), words.pop("keepdim", keepdim), dtype=dtype, **words)


setattr(Tensor, "sum", sum)  # noqa: B010

mean = define(
    "mean", "Mean over the given dims, or over all.",
    grad_name=lambda attrs: "MeanBackward0" if attrs["dim"] is None else "MeanBackward1",
    prepare=to_reduction,
    forward=_mean, accumulates=True,
    vjp=[lambda g, *, dim, keepdim, _from: spread(g / count(_from, dim), _from, dim, keepdim)],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True}), ((), {}),
             ((2, 3, 2), {"dim": (0, -1)})],
)  # fmt: skip

nansum = define(
    "nansum", "Sum over the given dims, or over all, in which NaN counts as 0.",
    prepare=to_reduction,
    forward=lambda x, *, dim, keepdim, _from: _sum(np.nan_to_num(x, posinf=np.inf, neginf=-np.inf), dim=dim,
                                                   keepdim=keepdim), accumulates=True,
    vjp=[lambda g, x, *, dim, keepdim, _from: spread(g, _from, dim, keepdim) * (x == x)],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((), {})],
)  # fmt: skip


def _verdict(over: Any) -> Any:
    def forward(x: Any, *, dim: Any, keepdim: bool, _from: Any) -> Any:
        out = over(x, axis=dim, keepdims=keepdim)
        return out.astype(x.dtype) if x.dtype.type is np.uint8 else out  # as PyTorch has it

    return forward


any = define(
    "any", "Whether some element is not 0, over the given dims or over all.",
    prepare=to_reduction,
    forward=_verdict(np.any),
    vjp=[None],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((0,), {}), ((), {"dim": 0})],
)  # fmt: skip

all = define(
    "all", "Whether no element is 0, over the given dims or over all.",
    prepare=to_reduction,
    forward=_verdict(np.all),
    vjp=[None],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((0,), {}), ((), {"dim": 0})],
)  # fmt: skip

count_nonzero = define(
    "count_nonzero", "How many elements are not 0, over the given dims or over all.",
    prepare=lambda input, dim=None: ((input,), {"dim": reduced_dims(dim, len(input.shape))}),
    forward=lambda x, *, dim: np.int64(np.count_nonzero(x)) if dim is None else np.count_nonzero(x, axis=dim),
    vjp=[None],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": (0, 1)})],
)  # fmt: skip
