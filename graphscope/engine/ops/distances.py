"""Distances and similarities between vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.ops.extremes import maximum
from graphscope.engine.ops.linalg import constant
from graphscope.engine.ops.norms import vector_norm
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import expand, unsqueeze

__all__ = ["cdist", "cosine_similarity", "cross", "dist", "pairwise_distance"]


def _cross_dim(x: Any, y: Any, dim: int | None) -> int:
    shape = shapes.broadcast(x, y) if dim is not None else tuple(x)
    if dim is None:
        if 3 not in shape:
            raise RuntimeError(f"cross: no dim of shape {shape} has size 3")
        return shape.index(3)
    if not -len(shape) <= dim < len(shape):
        raise IndexError(f"cross: dim {dim} is out of range for shape {shape}")
    return dim


def _cross(x: Any, y: Any, *, dim: int) -> Any:
    if x.shape[dim] != 3 or y.shape[dim] != 3:
        raise ValueError(f"dim {dim} must have size 3 in both, not {x.shape[dim]} and {y.shape[dim]}")
    if x.dtype != y.dtype:
        raise ValueError(f"both must have one dtype, not {x.dtype} and {y.dtype}")
    x, y = np.broadcast_arrays(np.moveaxis(x, dim, 0), np.moveaxis(y, dim, 0))
    out = np.stack([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])
    return np.moveaxis(out, 0, dim)


def _to_cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    if len(input.shape) != len(other.shape):
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dims, not {input.shape} and {other.shape}"
        )
    return (input, other), {"dim": _cross_dim(input.shape, other.shape, dim)}


cross_product: Any = define(
    "linalg_cross", "Cross product of vectors of three elements.", formula="out = x × y", tensor_method=False,
    torch="linalg.cross", promotes=False,
    prepare=_to_cross,
    forward=dtypes.only("if", _cross),
    vjp=[lambda g, y, *, dim: cross_product(y, g, dim=dim),
         lambda g, x, *, dim: cross_product(g, x, dim=dim)],
    shape=shapes.broadcast,
    samples=[((3,), (3,)), ((2, 3), (2, 3)), ((3, 2), (3, 2), {"dim": 0}), ((2, 3), (1, 3))],
)  # fmt: skip


def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """Cross product of vectors of three elements, along `dim`, or the first dim of size 3.

    Raises:
        RuntimeError: The dim does not have size 3.
    """
    return cross_product(input, other, dim=_cross_dim(input.shape, other.shape, dim))


@composite(
    "Norm of the difference of two tensors.", formula="out = ‖x - y‖_p", tensor_method=True, shape=shapes.scalar,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,), {"p": 1}), ((3,), (3,), {"p": 3})],
)  # fmt: skip
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """Norm of order `p` of the difference of two tensors."""
    return vector_norm(input - other, p)


def _cdist_shape(x: Any, y: Any, **_: Any) -> Any:
    return (*shapes.broadcast(x[:-2], y[:-2]), x[-2], y[-2])


@composite(
    "Distances of each of some vectors to each of others.", formula="out[i, j] = ‖x[i] - y[j]‖_p", shape=_cdist_shape,
    samples=[((2, 3), (4, 3)), ((2, 2, 3), (2, 4, 3), {"p": 1.0}), ((2, 3), (4, 3), {"p": float("inf")})],
)  # fmt: skip
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = None) -> Any:
    """Distances of order `p` of each row of `x1` to each row of `x2`, in batches.

    Raises:
        RuntimeError: One has no rows, or they differ in length.
    """
    if len(x1.shape) < 2 or len(x2.shape) < 2:
        raise RuntimeError(f"cdist: both must have at least 2 dims, not shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"cdist: operands of shape {tuple(x1.shape)} and {tuple(x2.shape)} do not fit: "
            f"vectors have {x1.shape[-1]} elements in the first and {x2.shape[-1]} in the second"
        )
    return vector_norm(unsqueeze(x1, -2) - unsqueeze(x2, -3), p, -1)


def _last_gone(x: Any, y: Any, *, keepdim: bool = False, **_: Any) -> Any:
    out = shapes.broadcast(x, y)
    return (*out[:-1], 1) if keepdim else out[:-1]


@composite(
    "Distances of vectors, pair by pair.", formula="out = ‖x - y + eps‖_p", shape=_last_gone,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,), {"p": 1.0, "keepdim": True})],
)  # fmt: skip
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """Distances of order `p` of vectors along the last dim; `eps` keeps the gradient off its corner."""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


def _similarity_shape(x: Any, y: Any, *, dim: int = 1, **_: Any) -> Any:
    return vector_shape(x, y, dim=dim)


def vector_shape(x: Any, y: Any, *, dim: int = -1, **_: Any) -> Any:
    """The shape of what has one number for each pair of vectors along `dim`."""
    return shapes.without(shapes.broadcast(x, y), dim=dim)


@composite(
    "Cosine of the angle between vectors.", shape=_similarity_shape,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,), {"dim": -1}), ((2, 3), (2, 3), {"dim": 0})],
)  # fmt: skip
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Cosine of the angle between vectors along `dim`; norms below `eps` count as `eps`."""
    shape = shapes.broadcast(tuple(x1.shape), tuple(x2.shape))
    x1, x2 = (x if tuple(x.shape) == shape else expand(x, shape) for x in (x1, x2))
    return sum(_unit(x1, dim, eps) * _unit(x2, dim, eps), dim)


def _unit(x: Any, dim: int, eps: float) -> Any:
    return x / _at_least(vector_norm(x, 2, dim, True), eps)


def _at_least(length: Any, eps: float) -> Any:
    return maximum(length, constant(np.asarray(eps, length.dtype)[()], length))


@composite(
    "Vectors scaled to length 1.", shape=shapes.same,
    samples=[((2, 3),), ((2, 3), {"p": 1.0, "dim": 0}), ((2, 3), {"p": math.inf, "dim": -1})],
)  # fmt: skip
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """Vectors along `dim`, scaled so that their norm of order `p` is 1; norms below `eps` count as `eps`."""
    return input / _at_least(vector_norm(input, p, dim, True), eps)
