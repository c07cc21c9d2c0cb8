"""Comparisons and questions about single elements: the results are booleans and have no gradient."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.tensor import Tensor, method

__all__ = [
    "eq", "ge", "greater", "greater_equal", "gt", "is_complex", "is_floating_point", "is_nonzero", "is_signed",
    "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "le", "less", "less_equal", "lt", "ne",
    "not_equal", "signbit",
]  # fmt: skip


def _comparison(name: str, symbol: str, forward: Callable[..., Any], alias: str | None) -> Any:
    return define(
        name, f"Whether x {symbol} y, elementwise.",
        aliases=(f"__{name}__", *([alias] if alias else [])), forward=forward, vjp=[None, None],
        shape=shapes.broadcast, samples=[((2, 3), (2, 3)), ((2, 1), (3,)), ((), 0.5), ("integers", (3,), (3,))],
    )  # fmt: skip


lt = less = _comparison("lt", "<", operator.lt, "less")
le = less_equal = _comparison("le", "≤", operator.le, "less_equal")
gt = greater = _comparison("gt", ">", operator.gt, "greater")
ge = greater_equal = _comparison("ge", "≥", operator.ge, "greater_equal")
eq = _comparison("eq", "=", operator.eq, None)
ne = not_equal = _comparison("ne", "≠", operator.ne, "not_equal")

_SPECIAL = np.array([0.0, -0.0, 1.5, np.nan, np.inf, -np.inf])


def _predicate(name: str, doc: str, forward: Callable[..., Any], **formula: Any) -> Any:
    return define(
        name, doc, forward=forward, vjp=[None], shape=shapes.same,
        samples=[(_SPECIAL,), ((),), ("integers", (3,))], **formula,
    )  # fmt: skip


isnan = _predicate("isnan", "Whether an element is nan.", np.isnan)
isinf = _predicate("isinf", "Whether an element is infinite.", np.isinf)
isfinite = _predicate("isfinite", "Whether an element is neither infinite nor nan.", np.isfinite)
isposinf = _predicate("isposinf", "Whether an element is infinity.", lambda x: x == np.inf, formula="out = x = ∞")
isneginf = _predicate(
    "isneginf", "Whether an element is negative infinity.", lambda x: x == -np.inf, formula="out = x = -∞"
)
isreal = _predicate("isreal", "Whether an element is real.", lambda x: np.isreal(x), formula="out = im x = 0")  # noqa: PLW0108
signbit = _predicate(
    "signbit", "Whether an element has a minus sign; -0 has one.",
    lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0, formula="out = x < 0",
)  # fmt: skip


def _isclose(x: Any, y: Any, *, rtol: float, atol: float, equal_nan: bool) -> Any:
    if x.dtype != y.dtype:
        raise TypeError(f"the first is {x.dtype}, the second {y.dtype}: convert one of them")
    x, y = (value.astype(np.int64) if value.dtype.kind in "iub" else value for value in (x, y))
    close = (x == y) | (np.isfinite(y) & (np.abs(x - y) <= atol + np.abs(rtol * y)))
    return close | (np.isnan(x) & np.isnan(y)) if equal_nan else close


isclose = define(
    "isclose", "Whether two elements are close to each other.", formula="out = |x - y| ≤ atol + rtol · |y|",
    promotes=False,
    prepare=lambda input, other, rtol=1e-5, atol=1e-8, equal_nan=False: (
        (input, other), {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}),
    forward=_isclose,
    vjp=[None, None],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3), {}), ((2, 3), (3,), {"atol": 0.5}), (_SPECIAL, _SPECIAL, {"equal_nan": True}),
             ((), (), {}), ("integers", (3,), (3,), {"rtol": 0.5})],
)  # fmt: skip


@method
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is floating."""
    return bool(input.array.dtype.kind == "f")


@method
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return bool(input.array.dtype.kind == "c")


@method
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return bool(input.array.dtype.kind in "ifc")


@method
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0.

    Raises:
        RuntimeError: There are several elements, or none.
    """
    if input.array.size != 1:
        raise RuntimeError(
            f"is_nonzero: the tensor has {input.array.size} elements, and only one element is zero or not; "
            "ask any() or all() first"
        )
    return bool(input.array.item())
