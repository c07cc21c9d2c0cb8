"""Norms of vectors and matrices.

Where a norm has a corner its gradient is PyTorch's: 0 at 0, equal shares among equal maxima (`norm_backward` in
`FunctionsManual.cpp`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.decompositions import svdvals
from graphscope.engine.ops.exponential import pow as power
from graphscope.engine.ops.extremes import amax, amin
from graphscope.engine.ops.index import where
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import permute, reshape
from graphscope.engine.ops.signs import abs as absolute
from graphscope.engine.ops.signs import sign

__all__ = ["norm"]


def dims_of(x: Any, dim: Any) -> tuple[int, ...]:
    """The dims that are meant, counted from the left; None is all.

    Raises:
        IndexError: There is no such dim.
    """
    rank = len(x.shape)
    dims = tuple(range(rank)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    for each in dims:
        if not -max(rank, 1) <= each < max(rank, 1):
            raise IndexError(f"dim {each} is out of range for a tensor of shape {tuple(x.shape)}")
    return tuple(each % rank for each in dims) if rank else ()


# NumPy's stubs know keepdims only as a literal.
_add: Any = np.add.reduce
_maximum: Any = np.maximum.reduce
_minimum: Any = np.minimum.reduce


def _vector_norm(x: Any, *, ord: float, dim: tuple[int, ...], keepdim: bool, _all: bool) -> Any:
    size = np.abs(x) if ord != 2 else x
    if ord == math.inf:
        return _maximum(size, axis=dim, keepdims=keepdim)
    if ord == -math.inf:
        return _minimum(size, axis=dim, keepdims=keepdim)
    if ord == 0:
        return _add(x != 0, axis=dim, keepdims=keepdim, dtype=x.dtype)
    if ord == 1:
        return _add(size, axis=dim, keepdims=keepdim)
    if ord == 2:
        return np.sqrt(_add(x * x, axis=dim, keepdims=keepdim))
    return _add(size**ord, axis=dim, keepdims=keepdim) ** (1.0 / ord)


def _spread(value: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """A value for each norm, in a shape that broadcasts over the elements."""
    if keepdim or not x.shape:
        return value
    return reshape(value, tuple(1 if place in dim else size for place, size in enumerate(x.shape)))


def _norm_rule(g: Any, x: Any, out: Any, *, ord: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    g, out = _spread(g, x, dim, keepdim), _spread(out, x, dim, keepdim)
    if ord == 0:
        return x * 0.0
    if ord == 1:
        return sign(x) * g
    if ord == 2:
        return where(out == 0, 0.0, x * (g / where(out == 0, 1.0, out)))
    if ord in (math.inf, -math.inf):
        size = absolute(x)
        equal = where((size == out) + (out != out), 1.0, 0.0)  # or nan, which differs from itself
        share = equal * sign(x) if not x.shape else equal * sign(x) / sum(equal, dim, True)
        return share * g
    safe = where(out == 0, 1.0, out)
    if ord < 2:
        size = absolute(x)
        slope = where(x == 0, 0.0, power(where(x == 0, 1.0, size), ord - 1)) * sign(x)
    else:
        slope = x * power(absolute(x), ord - 2)
    return where(out == 0, 0.0, slope * g * power(safe, 1 - ord))


def _to_vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if dtype is not None:
        x = x.to(dtype) if isinstance(x, Tensor) else x.astype(dtype)
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"vector_norm: the input is {x.dtype}; it must be floating: convert it with x.float()")
    if x.dtype.kind == "c":
        x = absolute(x)
    dims = dims_of(x, dim if dim != () and dim != [] else None)
    if (ord == math.inf or ord < 0) and any(x.shape[each] == 0 for each in dims):
        raise RuntimeError(f"vector_norm: a dim of shape {tuple(x.shape)} is empty, and ord={ord} has no value there")
    return (x,), {"ord": ord, "dim": dims, "keepdim": keepdim, "_all": dim is None}


vector_norm = define(
    "linalg_vector_norm", "Norm of a vector of order ord, along dims or of all elements.",
    tensor_method=False, torch="linalg.vector_norm",
    prepare=_to_vector_norm,
    forward=_vector_norm, accumulates=True,
    vjp=[_norm_rule],
    shape=lambda x, *, ord, dim, keepdim, _all=False: shapes.reduced(x, dim=dim, keepdim=keepdim) if dim else x,
    samples=[((2, 3),), ((2, 3), {"ord": 1, "dim": -1}), ((2, 3), {"ord": 3, "dim": (0, 1), "keepdim": True}),
             ((2, 3), {"ord": float("inf"), "dim": 0}), ((2, 3), {"ord": 1.5}),
             ((2, 3), {"ord": float("-inf")}), ((),), ((0,),)],
)  # fmt: skip


def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Norm of a matrix: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf.

    Raises:
        RuntimeError: There is no norm of this order.
    """
    if dtype is not None:
        A = A.to(dtype)  # noqa: N806
    if len(A.shape) < 2:
        raise RuntimeError(f"matrix_norm: the input has {len(A.shape)} dims; it must have at least 2 to be a matrix")
    rows, columns = dims_of(A, dim)
    if rows == columns:
        raise RuntimeError(f"matrix_norm: dims must be different, not {rows} and {columns}")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord in (1, -1, math.inf, -math.inf):
        first, second = (rows, columns) if ord in (1, -1) else (columns, rows)
        sums = sum(absolute(A), first, True)
        found = (amax if ord > 0 else amin)(sums, second, True)
        return found if keepdim else _dropped(found, (rows, columns))
    if ord not in ("nuc", 2, -2):
        raise RuntimeError(f"matrix_norm: there is no norm of order {ord!r}: 'fro', 'nuc', 1, -1, 2, -2, inf and -inf")
    rest = [each for each in range(len(A.shape)) if each not in (rows, columns)]
    values = svdvals(permute(A, (*rest, rows, columns)))
    found = sum(values, -1) if ord == "nuc" else (amax if ord > 0 else amin)(values, -1)
    return reshape(found, shapes.reduced(tuple(A.shape), dim=(rows, columns), keepdim=True)) if keepdim else found


def _dropped(x: Any, dims: tuple[int, ...]) -> Any:
    return reshape(x, tuple(size for place, size in enumerate(x.shape) if place not in dims))


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Norm of a vector, or of a matrix where `ord` is given and there are two dims.

    Raises:
        RuntimeError: `ord` is given, `dim` is not, and the tensor has neither one nor two dims.
    """
    if dim is None and ord is not None and len(A.shape) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: without dim the input must have 1 or 2 dims, not {len(A.shape)}, if ord is given"
        )
    pair = (
        dim if dim is not None and not isinstance(dim, int) else tuple(range(len(A.shape))) if dim is None else (dim,)
    )
    if ord is not None and (len(pair) == 2 or isinstance(ord, str)):
        return matrix_norm(A, ord, pair, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Norm of order `p` of all elements, or along dims; 'nuc' is the sum of the singular values of a matrix."""
    if p == "nuc":
        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


setattr(Tensor, "norm", norm)  # noqa: B010
