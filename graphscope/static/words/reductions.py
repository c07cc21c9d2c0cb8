"""Sums, means and extremes over dims, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import axes, of_dtype, of_kinds, op, tensor

_Computation = Callable[[Any, tuple[int, ...], bool], Any]

_ARGUMENTS: Final = "input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None"


def _dims(x: Any, axis: Any, keepdims: Any, older_axis: Any, older_keep: Any) -> tuple[tuple[int, ...], bool]:
    """The dims that go, and whether they stay as 1; each may be told by an older name."""
    if axis is not None and older_axis is not None:
        raise StaticError("axis and reduction_indices are both given", hint="give axis")
    if keepdims is not None and older_keep is not None:
        raise StaticError("keepdims and keep_dims are both given", hint="give keepdims")
    chosen = older_axis if axis is None else axis
    return axes(chosen, x.ndim), bool(older_keep if keepdims is None else keepdims)


def _over(ours: str, x: Any, dims: tuple[int, ...], keep: bool) -> Any:
    """One dim after the other, from behind."""
    for dim in sorted(dims, reverse=True):
        x = op(ours, x, dim, keep)
    return x


def _reduction(kinds: str, compute: _Computation) -> Callable[..., Any]:
    """What TensorFlow's arguments ask for, computed from a tensor, the dims that go, and whether they stay as 1."""

    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Any = None, reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:  # fmt: skip
        x = of_kinds(input_tensor, kinds)
        dims, keep = _dims(x, axis, keepdims, reduction_indices, keep_dims)
        return compute(x, dims, keep)

    reduce.__doc__ = compute.__doc__
    return reduce


def _of_dtype(x: Any, dtype: Any) -> Any:
    """TensorFlow keeps the dtype of what it reduces."""
    return x if x.dtype == dtype or dtype is None else op("to", x, dtype)


def _by_one_op(ours: str, several: bool) -> _Computation:
    def compute(x: Any, dims: tuple[int, ...], keep: bool) -> Any:
        if not dims:
            return op("clone", x)
        if len(dims) == x.ndim and not keep and ours not in ("amax", "amin"):
            return _of_dtype(op(ours, x), x.dtype)
        return _of_dtype(op(ours, x, dims, keep) if several else _over(ours, x, dims, keep), x.dtype)

    compute.__doc__ = f"`{ours}` over the dims `axis` (all when it is None), which stay as 1 with `keepdims`."
    return compute


def _mean(x: Any, dims: tuple[int, ...], keep: bool) -> Any:
    """The mean over the dims `axis`; of integers, the whole number towards 0 of it."""
    if not dims:
        return op("clone", x)
    if x.dtype.kind in "fc":
        return op("mean", x) if len(dims) == x.ndim and not keep else op("mean", x, dims, keep)
    total = _of_dtype(op("sum", x, dims, keep), x.dtype)
    count = op("sum", op("add", op("mul", x, 0), 1), dims, keep)
    return op("div_trunc", total, _of_dtype(count, x.dtype))


def _log_sum_exp(x: Any, dims: tuple[int, ...], keep: bool) -> Any:
    """Log Σ exp(x) over the dims `axis`, without overflow."""
    return op("logsumexp", x, dims, keep)


_REDUCTIONS: Final = """
Sum   sum        fiuc  several  reduce_sum
Prod  prod       fiuc  one      reduce_prod
Max   amax       fiu   several  reduce_max
Min   amin       fiu   several  reduce_min
All   all        b     one      reduce_all
Any   any        b     one      reduce_any
"""
"""A type of TensorFlow's, the engine's op, kinds of dtypes, whether it takes several dims, the name."""

for _type, _ours, _kinds, _several, _name in map(str.split, _REDUCTIONS.strip().splitlines()):
    _reduce = _reduction(_kinds, _by_one_op(_ours, _several == "several"))
    offer(_name, f"math.{_name}", type=_type, arguments=_ARGUMENTS)(_reduce)
for _name, _type, _kinds, _compute in (
    ("reduce_mean", "Mean", "fiuc", _mean),
    ("reduce_logsumexp", "ReduceLogSumExp", "f", _log_sum_exp),
):
    offer(_name, f"math.{_name}", type=_type, arguments=_ARGUMENTS)(_reduction(_kinds, _compute))


@offer("math.reduce_variance", type="Mean", node="reduce_variance")
def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """The mean of the squares of the distances from the mean."""
    x = of_kinds(input_tensor, "f")
    dims = axes(axis, x.ndim)
    away = op("sub", x, op("mean", x, dims, True))
    return op("mean", op("mul", away, away), dims, keepdims)


@offer("math.reduce_std", type="Sqrt", node="reduce_std")
def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """The root of `math.reduce_variance`."""
    return op("sqrt", reduce_variance(input_tensor, axis, keepdims))


@offer("math.reduce_euclidean_norm", type="EuclideanNorm")
def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """The root of the sum of the squares."""
    x = of_kinds(input_tensor, "f")
    return op("sqrt", op("sum", op("mul", x, x), axes(axis, x.ndim), keepdims))


# Where ----------------------------------------------------------------------------------------------------------------


def _extreme(ours: str) -> Callable[..., Any]:
    def where(
        input: Any, axis: Any = None, name: Any = None, dimension: Any = None, output_type: Any = np.int64
    ) -> Any:
        x = of_kinds(input, "fiu")
        (dim,) = axes(0 if axis is None and dimension is None else dimension if axis is None else axis, x.ndim)
        return _of_dtype(op(ours, x, dim), of_dtype(output_type))

    where.__doc__ = f"`{ours}` along a dim, the first unless it is told."
    return where


for _name, _ours, _type in (("argmax", "argmax", "ArgMax"), ("argmin", "argmin", "ArgMin")):
    offer(
        _name, f"math.{_name}", type=_type, arguments="input, axis=None, name=None, dimension=None, output_type='int64'"
    )(_extreme(_ours))


def _old_extreme(ours: str) -> Callable[..., Any]:
    def where(input: Any, dimension: Any, output_type: Any = np.int64, name: Any = None) -> Any:
        x = of_kinds(input, "fiu")
        return _of_dtype(op(ours, x, axes(dimension, x.ndim)[0]), of_dtype(output_type))

    return where


for _name, _ours, _type in (("arg_max", "argmax", "ArgMax"), ("arg_min", "argmin", "ArgMin")):
    offer(_name, type=_type, arguments="input, dimension, output_type='int64', name=None")(_old_extreme(_ours))


def _cumulative(ours: str, neutral: int) -> Callable[..., Any]:
    def along(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Any = None) -> Any:
        x = of_kinds(x, "fiuc")
        (dim,) = axes(axis, x.ndim)
        x = op("flip", x, (dim,)) if reverse else x
        found = _of_dtype(op(ours, x, dim), x.dtype)
        if exclusive:
            count = x.shape[dim]
            edge = op("add", op("mul", op("select", x, dim, 0), 0), neutral)
            found = op("cat", [op("unsqueeze", edge, dim), found], dim).narrow(dim, 0, count)
        return op("flip", found, (dim,)) if reverse else found

    along.__doc__ = f"`{ours}` along a dim; `exclusive`: without the element itself."
    return along


offer("cumsum", "math.cumsum", type="Cumsum", arguments="x, axis=0, exclusive=False, reverse=False, name=None")(
    _cumulative("cumsum", 0)
)
offer("cumprod", "math.cumprod", type="Cumprod", arguments="x, axis=0, exclusive=False, reverse=False, name=None")(
    _cumulative("cumprod", 1)
)


@offer("count_nonzero", "math.count_nonzero", type="Sum", node="count_nonzero")
def count_nonzero(
    input_tensor: Any = None, axis: Any = None, keepdims: Any = None, dtype: Any = np.int64, name: Any = None,
    reduction_indices: Any = None, keep_dims: Any = None, input: Any = None,
) -> Any:  # fmt: skip
    """How many elements are not 0."""
    x = tensor(input if input_tensor is None else input_tensor)
    dims, keep = _dims(x, axis, keepdims, reduction_indices, keep_dims)
    here = x if x.dtype.kind == "b" else op("ne", x, 0)
    wanted = of_dtype(dtype)
    return _of_dtype(op("sum", op("to", here, wanted), dims, keep), wanted)


@offer("norm", "linalg.norm", type="Squeeze", node="norm")
def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: Any = None, keep_dims: Any = None
) -> Any:
    """A norm of vectors, or of all elements: euclidean, of a number, or the largest with `np.inf`."""
    x = of_kinds(tensor, "f")
    dims, keep = _dims(x, axis, keepdims, None, keep_dims)
    if axis is not None and len(dims) > 1 and ord not in ("euclidean", "fro"):
        raise StaticError(f"norms of matrices by ord={ord!r} are not here", hint="ord='euclidean', or one axis")
    if ord in ("euclidean", "fro", 2):
        return op("sqrt", op("sum", op("mul", x, x), dims, keep))
    if ord == np.inf:
        return op("amax", op("abs", x), dims, keep)
    if not isinstance(ord, int | float) or ord <= 0:
        raise StaticError(f"ord={ord!r} is no norm", hint="ord='euclidean', a number above 0, or np.inf")
    total = op("sum", op("pow", op("abs", x), ord), dims, keep)
    return total if ord == 1 else op("pow", total, 1 / ord)


@offer("global_norm", "linalg.global_norm", type="Sqrt", node="global_norm")
def global_norm(t_list: Any, name: Any = None) -> Any:
    """The root of the sum of the squares of all elements of all tensors."""
    parts = [op("sum", op("mul", x, x)) for x in (of_kinds(each, "f") for each in t_list if each is not None)]
    return op("sqrt", op("sum", op("stack", parts, 0)))


@offer("nn.l2_loss", type="L2Loss")
def l2_loss(t: Any, name: Any = None) -> Any:
    """Half the sum of the squares."""
    x = of_kinds(t, "f")
    return op("div", op("sum", op("mul", x, x)), 2)


@offer("nn.zero_fraction", "math.zero_fraction", type="Mean", node="zero_fraction")
def zero_fraction(value: Any, name: Any = None) -> Any:
    """Which part of the elements is 0."""
    return op("mean", op("to", op("eq", tensor(value), 0), np.dtype(np.float32)))


@offer("nn.moments", type="Mean", node="moments")
def moments(x: Any, axes: Any, shift: Any = None, name: Any = None, keep_dims: Any = None, keepdims: Any = None) -> Any:
    """Mean and variance over these dims."""
    values = of_kinds(x, "fiu")
    dims, keep = _dims(values, axes, keepdims, None, keep_dims)
    mean = _mean(values, dims, True)
    away = op("sub", values, mean)
    variance = _mean(op("mul", away, away), dims, keep)
    return (mean if keep else _mean(values, dims, False)), variance
