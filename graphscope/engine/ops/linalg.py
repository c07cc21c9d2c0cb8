"""Linear algebra: products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.calls import define

__all__ = [
    "matmul",
    "mm",
]


def _mm(x: Any, y: Any) -> Any:
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError("mm takes two matrices; matmul takes vectors and batches too")
    return x.dot(y)


def _matmul(x: Any, y: Any) -> Any:
    return x.dot(y) if x.ndim == 2 == y.ndim else np.matmul(x, y)  # dot is far cheaper to call


def _matmul_left(g: Any, x: Any, y: Any) -> Any:
    if g.__class__ is np.ndarray and x.ndim == 2 == y.ndim:
        return g.dot(y.T)
    if x.ndim == 1:
        return g * y if y.ndim == 1 else (y @ g[..., None])[..., 0]
    return g[..., None] * y if y.ndim == 1 else g @ y.mT


def _matmul_right(g: Any, x: Any, y: Any) -> Any:
    if g.__class__ is np.ndarray and x.ndim == 2 == y.ndim:
        return x.T.dot(g)
    if x.ndim == 1:
        return g * x if y.ndim == 1 else x[:, None] * g[..., None, :]
    return (x.mT @ g[..., None])[..., 0] if y.ndim == 1 else x.mT @ g


mm = define(
    "mm", "Product of two matrices.", formula="out = x · y", core_dims=2,
    forward=_mm,
    vjp=[lambda g, y: g @ y.T,
         lambda g, x: x.T @ g],
    samples=[((2, 3), (3, 4))],
)  # fmt: skip

matmul = define(
    "matmul", "Product of matrices, vectors, or batches of matrices.", formula="out = x @ y", aliases=("__matmul__",),
    core_dims=2,
    forward=_matmul,
    vjp=[_matmul_left,
         _matmul_right],
    samples=[((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((5, 2, 3), (3, 4)),
             ((5, 2, 3), (5, 3, 4))],
)  # fmt: skip
