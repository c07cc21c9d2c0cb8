"""Tensors put together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import one
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.dim_order import atleast_1d, atleast_2d
from graphscope.engine.ops.index import getitem
from graphscope.engine.ops.shape import expand, reshape

__all__ = [
    "cat", "column_stack", "concat", "concatenate", "hstack", "meshgrid", "stack", "vstack",
]  # fmt: skip


def _to_joined(tensors: Any, dim: int = 0) -> Any:
    tensors = tuple(tensors)
    if not tensors:
        raise ValueError("cat: expected a non-empty list of Tensors")
    sizes = [tensor.array.shape if isinstance(tensor, Tensor) else tensor.shape for tensor in tensors]
    if () in sizes:
        raise RuntimeError("cat: zero-dimensional tensors cannot be concatenated; use stack")
    rank = max(map(len, sizes))
    dim = one(dim, rank)
    ends = accumulate([shape[dim] if len(shape) == rank else 0 for shape in sizes])
    return tensors, {"dim": dim, "_ends": (0, *ends)}


def _joined(*arrays: Any, dim: int, _ends: tuple[int, ...]) -> Any:
    full = [array for array in arrays if array.shape != (0,)]  # PyTorch lets these be, whatever the rank of the others
    return np.concatenate(full or arrays, dim)


def _cat_rule(g: Any, *, dim: int, _ends: tuple[int, ...], position: int) -> Any:
    span = slice(_ends[position], _ends[position + 1])
    if span.start == span.stop and len(g.shape) > 1:
        return reshape(getitem(g, (0,) * (len(g.shape) - 1) + (slice(0, 0),)), (0,)) if g.shape[dim] else g
    return g[(slice(None),) * dim + (span,)]


cat = define(
    "cat", "Tensors joined along a dim that they have.", formula="out = [x; y; ...]", tensor_method=False,
    prepare=_to_joined,
    forward=_joined,
    vjp=[_cat_rule],
    shape=shapes.joined,
    samples=[([(2, 3), (2, 3)],), ([(2, 3), (2, 1)], {"dim": 1}), ([(3,)],), ([(1, 2)] * 5,),
             ([(2, 3), (2, 4)], {"dim": -1}), ([(2, 3), (0, 3)],),
             ([(3, 1, 1), (3, 0, 1)], {"dim": -2})],
)  # fmt: skip

concat = concatenate = cat


def _stack_rule(g: Any, *, dim: int, position: int) -> Any:
    return g[(slice(None),) * dim + (position,)]


def _to_stacked(tensors: Any, dim: int = 0) -> Any:
    tensors = tuple(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    return tensors, {"dim": one(dim, len(tensors[0].shape) + 1)}


stack = define(
    "stack", "Tensors of one shape, put together along a new dim.", formula="out = [x, y, ...]", tensor_method=False,
    prepare=_to_stacked,
    forward=lambda *arrays, dim: np.stack(arrays, dim),
    vjp=[_stack_rule],
    shape=shapes.stacked,
    samples=[([(2, 3), (2, 3)],), ([(2,), (2,), (2,)], {"dim": -1}), ([(), ()],), ([(2,)] * 5,)],
)  # fmt: skip


def _listed(tensors: Any) -> list[Any]:
    if not tensors:
        raise RuntimeError("expected a non-empty list of tensors")
    return list(tensors)


def hstack(tensors: Sequence[Any]) -> Any:
    """Tensors joined side by side: along dim 1, vectors along their only dim."""
    parts = [atleast_1d(tensor) for tensor in _listed(tensors)]
    return cat(parts, 0 if len(parts[0].shape) == 1 else 1)


def vstack(tensors: Sequence[Any]) -> Any:
    """Tensors joined one under the other: along dim 0, vectors as rows."""
    return cat([atleast_2d(tensor) for tensor in _listed(tensors)], 0)


def column_stack(tensors: Sequence[Any]) -> Any:
    """Vectors as columns of a matrix; matrices side by side."""
    return cat([reshape(one, (-1, 1)) if len(one.shape) < 2 else one for one in _listed(tensors)], 1)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Any, ...]:
    """Grids of coordinates: each vector repeated along the dims of all others, as views.

    Args:
        *tensors: Vectors, or a sequence of them.
        indexing: `ij`: the first vector goes along dim 0. `xy`: along dim 1, as for pictures.

    Raises:
        RuntimeError: A tensor has more than one dim, or the indexing is neither.
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing must be one of 'xy' or 'ij', not {indexing!r}")
    if any(len(tensor.shape) > 1 for tensor in given):
        raise RuntimeError("meshgrid: expected scalar or 1D tensors")
    sizes = [prod(tensor.shape) for tensor in given]
    order = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        order[:2] = [1, 0]
    shape = tuple(sizes[place] for place in order)
    return tuple(
        expand(reshape(tensor, tuple(-1 if which == place else 1 for which in order)), shape)
        for place, tensor in enumerate(given)
    )
