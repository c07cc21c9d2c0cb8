"""Signs, elementwise: negation, absolute values, what has the sign of what."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define, elementwise
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops.flat_rules import nothing
from graphscope.engine.ops.index import where

__all__ = ["abs", "absolute", "copysign", "neg", "negative", "positive", "sgn", "sign"]

neg = define(
    "neg", "Negation; booleans are refused.", aliases=("__neg__", "negative"), takes_bool=False,
    **elementwise(operator.neg, lambda g: -g),
)  # fmt: skip

abs = define(
    "abs", "Absolute value; its gradient at 0 is 0.", aliases=("__abs__", "absolute"),
    forward=dtypes.only("ifc", np.abs),
    vjp=[lambda g, x: g * sgn(x)],
    shape=shapes.same,
    samples=[((2, 3),), ((),), ("integers", (3,)), ("complex", (2, 3))],
)  # fmt: skip


def _sign(x: Any) -> Any:
    if x.dtype.kind != "f":
        return x if x.dtype.kind == "b" else np.sign(x)
    return np.subtract(x > 0, x < 0, dtype=np.int8).astype(x.dtype)  # of nan 0, as in PyTorch; and sooner than np.sign


sign: Any = define(
    "sign", "Sign: -1, 0 or 1.",
    forward=_sign,
    vjp=[nothing],
    shape=shapes.same,
    samples=[((2, 3),), ((),), ("integers", (3,))],
)  # fmt: skip


def _direction(x: Any) -> Any:
    if x.dtype.kind != "c":
        return _sign(x)
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype)[()]


def _across(g: Any, x: Any, out: Any) -> Any:
    """The part of a cotangent across the direction: along it a complex number changes nothing of its own."""
    if x.dtype.kind != "c":
        return nothing(g)
    return (g - (g * out).real * out.conj()) / abs(x + (abs(x) == 0)) * (abs(x) != 0)


sgn: Any = define(
    "sgn", "The sign of real numbers; complex ones brought to an absolute value of 1, and 0 stays 0.",
    formula="out = x / |x|",
    forward=_direction,
    vjp=[_across],
    shape=shapes.same,
    samples=[((2, 3),), ("complex", (2, 3)), ("complex", ())],
)  # fmt: skip

copysign = define(
    "copysign", "The magnitude of x with the sign of y.", formula="out = |x| · sgn y",
    floating=True, forward=np.copysign,
    vjp=[lambda g, x, out: where(x == 0, 0.0, g * (out / x)),
         nothing],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((2, 3), -1.0), ((), ())],
)  # fmt: skip


@method
def positive(input: Tensor) -> Tensor:
    """The tensor itself.

    Raises:
        RuntimeError: It is boolean.
    """
    if input.array.dtype.kind == "b":
        raise RuntimeError("positive: booleans have no sign; convert them first, with x.int()")
    return input


absolute, negative = abs, neg
setattr(Tensor, "__pos__", positive)  # noqa: B010
