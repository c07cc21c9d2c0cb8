"""Triangles and diagonals of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import one
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.shape import reshape

__all__ = ["diag", "diag_embed", "diagflat", "diagonal", "tril", "triu"]


def _to_triangle(input: Any, diagonal: int = 0) -> Any:
    if len(input.shape) < 2:
        raise RuntimeError(f"tril and triu: input tensor must have at least 2 dimensions, not {len(input.shape)}")
    return (input,), {"diagonal": diagonal}


tril: Any = define(
    "tril", "The lower triangle of matrices, zeros above; `diagonal` 1 takes one diagonal more.",
    prepare=_to_triangle,
    forward=lambda x, *, diagonal: np.tril(x, diagonal),
    vjp=[lambda g, *, diagonal: tril(g, diagonal)],
    shape=shapes.same,
    samples=[((3, 3),), ((2, 3), {"diagonal": 1}), ((2, 3, 2), {"diagonal": -1})],
)  # fmt: skip

triu: Any = define(
    "triu", "The upper triangle of matrices, zeros below; `diagonal` 1 takes one diagonal less.",
    prepare=_to_triangle,
    forward=lambda x, *, diagonal: np.triu(x, diagonal),
    vjp=[lambda g, *, diagonal: triu(g, diagonal)],
    shape=shapes.same,
    samples=[((3, 3),), ((2, 3), {"diagonal": 1}), ((2, 3, 2), {"diagonal": -1})],
)  # fmt: skip


def _two_dims(rank: int, dim1: int, dim2: int) -> tuple[int, int]:
    first, second = one(dim1, rank), one(dim2, rank)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


def _to_diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    first, second = _two_dims(len(input.shape), dim1, dim2)
    return (input,), {"offset": offset, "dim1": first, "dim2": second, "_from": tuple(input.shape)}


def _view_diagonal(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    """`np.diagonal`, but it can be written to."""
    rows, columns = x.shape[dim1], x.shape[dim2]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    start = tuple(
        slice(max(-offset, 0), None) if place == dim1 else slice(max(offset, 0), None) if place == dim2 else slice(None)
        for place in range(x.ndim)
    )
    part = x[start] if length else x
    rest = [place for place in range(x.ndim) if place not in (dim1, dim2)]
    shape = (*(x.shape[place] for place in rest), length)
    strides = (*(x.strides[place] for place in rest), x.strides[dim1] + x.strides[dim2])
    return np.lib.stride_tricks.as_strided(part, shape, strides)


def _placed(x: Any, *, offset: int, dim1: int, dim2: int, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, x.dtype)
    _view_diagonal(out, offset, dim1, dim2)[...] = x
    return out


def _diagonal_shape(x: Any, *, offset: int, dim1: int, dim2: int, **_: Any) -> Any:
    rest = tuple(size for place, size in enumerate(x) if place not in (dim1 % len(x), dim2 % len(x)))
    if None in (x[dim1], x[dim2]):
        return (*rest, None)
    return (*rest, max(min(x[dim1] + min(offset, 0), x[dim2] - max(offset, 0)), 0))


diagonal: Any = define(
    "diagonal", "The diagonal of the matrices of two dims, as the new last dim.",
    view=True,
    prepare=_to_diagonal,
    forward=lambda x, *, offset, dim1, dim2, _from: _view_diagonal(x, offset, dim1, dim2),
    vjp=[lambda g, *, offset, dim1, dim2, _from: placed_diagonal(g, offset, dim1, dim2, _from)],
    shape=_diagonal_shape,
    samples=[((3, 3),), ((2, 3), {"offset": 1}), ((2, 3, 2), {"offset": -1, "dim1": -1, "dim2": 1}),
             ((2, 2), {"offset": 5})],
)  # fmt: skip

placed_diagonal: Any = define(
    "placed_diagonal", "A diagonal put into a tensor of zeros: what diagonal takes back.",
    formula="out[i, i + offset] = x[i]", tensor_method=False, grad_name="DiagonalScatterBackward0",
    prepare=lambda x, offset, dim1, dim2, shape: (
        (x,), {"offset": offset, "dim1": dim1, "dim2": dim2, "shape": tuple(shape)}),
    forward=_placed,
    vjp=[lambda g, *, offset, dim1, dim2: diagonal(g, offset, dim1, dim2)],
    shape=shapes.given,
    samples=[((2,), {"offset": 1, "dim1": 0, "dim2": 1, "shape": (2, 3)})],
)  # fmt: skip


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the last dim on their diagonal, zeros elsewhere."""
    rank = len(input.shape) + 1
    first, second = _two_dims(rank, dim1, dim2)
    size = input.shape[-1] + abs(offset)
    rest = iter(input.shape[:-1])
    shape = tuple(size if place in (first, second) else next(rest) for place in range(rank))
    return placed_diagonal(input, offset, first, second, shape)


def diag(input: Any, diagonal: int = 0) -> Any:
    """Of a vector the matrix with it on a diagonal; of a matrix a copy of its diagonal.

    Raises:
        RuntimeError: It is neither.
    """
    if len(input.shape) == 1:
        return diag_embed(input, diagonal)
    if len(input.shape) == 2:
        return _diagonal_of(input, diagonal)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {len(input.shape)}D")


def _diagonal_of(input: Any, offset: int) -> Any:
    out = diagonal(input, offset)
    return out.clone() if isinstance(out, Tensor) else out.copy()


def diagflat(input: Any, offset: int = 0) -> Any:
    """The matrix with all elements, in a row, on a diagonal."""
    return diag_embed(reshape(input, (-1,)), offset)


for _function in (diag, diag_embed, diagflat):
    setattr(Tensor, _function.__name__, _function)
