"""How an op is made that chooses elements along a dim: it gives them, and says where they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphscope.engine import shapes
from graphscope.engine.calls import define
from graphscope.engine.ops.gathering import gathered
from graphscope.engine.ops.shape import reshape
from graphscope.engine.rows import pick_along


def _choose(place: Callable[..., Any], x: Any, dim: int, keepdim: bool, attrs: dict[str, Any]) -> tuple[Any, Any]:
    if not x.ndim:
        return x.copy(), np.int64(0)
    indices = place(x, dim=dim, **attrs)
    values = pick_along(x, indices, dim)
    if keepdim:
        return values, indices
    shape = x.shape[:dim] + x.shape[dim + 1 :]
    return values.reshape(shape)[()], indices.reshape(shape)[()]


def _returned(g: Any, residuals: Any, *, dim: int, keepdim: bool, _from: tuple[int, ...]) -> Any:
    """The cotangents of the values, put back where the values were."""
    given, indices = g[0], residuals
    if not _from:
        return given
    if not keepdim:
        shape = (*_from[:dim], 1, *_from[dim + 1 :])
        given, indices = reshape(given, shape), reshape(indices, shape)
    return gathered(given, indices, dim, _from)


def one_each(x: Any, *, dim: int, keepdim: bool, **_: Any) -> list[Any]:
    """The shape rule where one element is chosen."""
    return [shapes.reduced(x, dim=dim, keepdim=keepdim)] * 2


def as_many(x: Any, *, dim: int, k: int | None = None, **_: Any) -> list[Any]:
    """The shape rule where k elements are chosen, or (without k) as many as there are."""
    return [x if not x or k is None else shapes.resized(x, dim, k)] * 2


def choice(
    name: str, doc: str, *, formula: str, place: Callable[..., Any], prepare: Any, samples: Sequence[Any], **more: Any
) -> Any:
    """Define an op of two outputs, values and indices.

    Args:
        name: Its name.
        doc: What it computes, in one sentence.
        formula: The same, as people write it.
        place: From an array and the attributes of the call to the indices along `dim`, which stays.
        prepare: Turns the arguments of a call into (inputs, attributes); `dim`, `keepdim` and `_from` are among these.
        samples: For the tests.
        **more: What else `op.register` takes.
    """

    def forward(x: Any, *, dim: int, keepdim: bool, _from: tuple[int, ...], **attrs: Any) -> Any:
        out = _choose(place, x, dim, keepdim, attrs)
        return out, out[1]

    return define(
        name, doc, formula=formula, outputs=("values", "indices"), residuals=True, prepare=prepare, samples=samples,
        forward=forward,
        vjp=[_returned],
        **{"shape": one_each, "tensor_method": False, **more},
    )  # fmt: skip
