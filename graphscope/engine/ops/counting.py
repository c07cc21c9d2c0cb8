"""Counting and finding: how often numbers are there, members of a set, distinct elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import one
from graphscope.engine.core.tensor import method
from graphscope.engine.ops.flat_rules import refused

__all__ = ["bincount", "isin", "unique"]


def _bincount(x: Any, y: Any = None, *, minlength: int) -> Any:
    if x.dtype.kind not in "biu":
        raise NotImplementedError(f"bincount counts integers, not {x.dtype}: convert them first, with x.long()")
    if x.ndim != 1 or (x.size and x.min() < 0):
        raise RuntimeError(f"bincount only supports 1-d non-negative integral inputs, not shape {x.shape}")
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, but got {minlength}")
    if y is None:
        return np.bincount(x, minlength=minlength)
    if y.shape != x.shape:
        raise RuntimeError(f"bincount: weights of shape {y.shape} should be of the same length as input, {x.shape}")
    return np.bincount(x, y, minlength).astype(y.dtype if y.dtype.kind == "f" else dtypes.float64)


bincount = define(
    "bincount", "How often each number from 0 on is there, or the sum of the weights of each.",
    formula="out[n] = |{i: x[i] = n}|", promotes=False,
    prepare=lambda input, weights=None, minlength=0: (
        (input,) if weights is None else (input, weights), {"minlength": minlength}),
    forward=_bincount,
    vjp=[None, refused],
    shape=lambda *_, **attrs: (None,),
    samples=[(np.array([0, 3, 3, 1]),), (np.array([1, 1]), np.array([0.5, 2.0]), {"minlength": 4})],
)  # fmt: skip


def _to_member(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    return (elements, test_elements), {"invert": invert}


isin = define(
    "isin", "Whether each element is among others.", formula="out = x ∈ y", promotes=False, tensor_method=False,
    prepare=_to_member,
    forward=lambda x, y, *, invert: np.isin(x, y, invert=invert)[()],
    vjp=[None, None],
    shape=lambda x, y, **_: x,
    samples=[(np.array([[1, 2], [3, 4]]), np.array([2, 3])), (np.array([1, 2]), 2, {"invert": True})],
)  # fmt: skip


def _distinct(x: Any, part: int, dim: int | None) -> Any:
    rows = np.reshape(x, -1) if dim is None else x
    unique: Any = np.unique  # NumPy's stubs know these keywords only as literals
    found = unique(rows, return_inverse=part == 1, return_counts=part == 2, axis=dim, equal_nan=False)
    if part == 0:
        return found
    return found[1].reshape(x.shape if part == 1 and dim is None else -1)


_DISTINCT = [
    define(
        name, doc, formula="out = unique(x)", tensor_method=False,
        prepare=lambda input, dim=None: ((input,), {"dim": dim if dim is None else one(dim, len(input.shape))}),
        forward=lambda x, *, dim, part=part: _distinct(x, part, dim),
        vjp=[None],
        shape=lambda x, *, dim, part=part: x if part == 1 and dim is None
        else shapes.resized(x, dim, None) if part == 0 and dim is not None else (None,),
        samples=[(np.array([[3, 1, 1], [3, 3, 2]]), {}), (np.array([[3, 3], [1, 2], [3, 3]]), {"dim": 0})],
    )
    for part, (name, doc) in enumerate({
        "unique": "The distinct elements in order.",
        "unique_inverse": "Of each element its number among the distinct elements in order.",
        "unique_counts": "How often each of the distinct elements in order is there.",
    }.items())
]  # fmt: skip


@method
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or (along a dim) the distinct slices, in order.

    Returns:
        A tensor; or a tuple of it, of each element's number among them, and of how often each is there, as asked for.
    """
    wanted = (True, return_inverse, return_counts)
    found = tuple(op(input, dim) for op, wants in zip(_DISTINCT, wanted, strict=True) if wants)
    return found if len(found) > 1 else found[0]
