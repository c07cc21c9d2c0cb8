"""The product over dims; its gradient needs no division by what may be 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, loops, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.ops.cumulative import cumprod
from graphscope.engine.ops.gathering import raw
from graphscope.engine.ops.pad import moved
from graphscope.engine.ops.rearrange import flip
from graphscope.engine.ops.reduce import spread, to_reduction
from graphscope.engine.ops.shape import reshape

__all__ = [
    "prod",
]


def _prod(x: Any, *, dim: Any, keepdim: bool, _from: Any, dtype: Any = dtypes.int64) -> Any:
    wider = dtype if x.dtype.kind in "biu" else x.dtype
    if x.dtype.kind == "f" and x.size > 4096 and x.flags.c_contiguous and dim in (None, -1, x.ndim - 1):
        rows = x.reshape(1, -1) if dim is None else x
        out = loops.products(rows) if loops.fits(rows) else _halved(rows)
        kept = shapes.reduced(_from, dim=dim, keepdim=keepdim)
        return out.reshape(kept)[()]
    return np.prod(x, axis=dim, keepdims=keepdim, dtype=wider)


def _halved(x: Any) -> Any:
    """The product over the last dim: one half times the other, again and again, which NumPy does many at a time."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        product = x[..., :half] * x[..., half : 2 * half]
        if x.shape[-1] % 2:
            product[..., 0] *= x[..., -1]
        x = product
    return x


def _all_others(x: Any, dim: int) -> Any:
    """For each element along a dim the product of all others."""
    before = moved(cumprod(x, dim), dim, 1, 1.0)
    after = flip(moved(cumprod(flip(x, dim), dim), dim, 1, 1.0), dim)
    return before * after


def _prod_rule(g: Any, x: Any, out: Any, *, dim: Any, keepdim: bool, _from: Any) -> Any:
    if not _from:
        return g
    if np.all(raw(x)):
        return spread(g * out, _from, dim, keepdim) / x
    others = _all_others(reshape(x, (-1,)) if dim is None else x, 0 if dim is None else dim % len(_from))
    return spread(g, _from, dim, keepdim) * reshape(others, _from)


def _to_product(input: Any, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if isinstance(dim, tuple | list):
        raise TypeError(f"prod: dim is one integer, not {dim}: multiply over one dim after the other")
    return to_reduction(input, dim, keepdim, dtype=dtype)


prod = define(
    "prod", "Product over a dim, or of all elements.",
    prepare=_to_product,
    forward=_prod, accumulates=True,
    vjp=[_prod_rule],
    shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True}), ((), {}), ((0,), {})],
)  # fmt: skip
