"""How an op is made that chooses elements along a dim: it gives them, and says where they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphscope.engine.core import along, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.fused import fused
from graphscope.engine.core.row_sums import pick_along
from graphscope.engine.ops.gathering import gathered
from graphscope.engine.ops.shape import reshape


def _choose(place: Callable[..., Any], x: Any, dim: int, keepdim: bool, attrs: dict[str, Any]) -> tuple[Any, Any]:
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


def _returned_on_arrays(g: Any, residuals: Any, *, dim: int, keepdim: bool, _from: tuple[int, ...]) -> Any:
    out = along.added(g[0], residuals, dim, _from)
    return _returned(g, residuals, dim=dim, keepdim=keepdim, _from=_from) if out is None else out


def one_each(x: Any, *, dim: int, keepdim: bool, **_: Any) -> list[Any]:
    """The shape rule where one element is chosen."""
    return [shapes.reduced(x, dim=dim, keepdim=keepdim)] * 2


def as_many(x: Any, *, dim: int, k: int | None = None, **_: Any) -> list[Any]:
    """The shape rule where k elements are chosen, or (without k) as many as there are."""
    return [x if not x or k is None else shapes.resized(x, dim, k)] * 2


def choice(
    name: str,
    doc: str,
    *,
    place: Callable[..., Any],
    prepare: Any,
    samples: Sequence[Any],
    at_once: Callable[..., Any] | None = None,
    **more: Any,
) -> Any:
    """Define an op of two outputs, values and indices.

    Args:
        name: Its name.
        doc: What it computes, in one sentence.
        place: From an array and the attributes of the call to the indices along `dim`, which stays.
        prepare: Turns the arguments of a call into (inputs, attributes); `dim`, `keepdim` and `_from` are among these.
        samples: For the tests.
        at_once: From (array, dim, keepdim) to values and indices, in one go; or to None, where it cannot.
        **more: What else `op.register` takes.
    """

    def forward(x: Any, *, dim: int, keepdim: bool, _from: tuple[int, ...], **attrs: Any) -> Any:
        if not x.ndim:
            return (x.copy(), np.int64(0)), np.int64(0)
        out = None if at_once is None else at_once(x, dim, keepdim)
        if out is None:
            out = _choose(place, x, dim, keepdim, attrs)
        return out, out[1]

    return define(
        name, doc, outputs=("values", "indices"), residuals=True, prepare=prepare, samples=samples,
        forward=forward,
        vjp=[fused(_returned, _returned_on_arrays)],
        **{"shape": one_each, "tensor_method": False, **more},
    )  # fmt: skip
