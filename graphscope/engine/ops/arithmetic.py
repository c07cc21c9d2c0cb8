"""Arithmetic, elementwise and with broadcasting: sums, differences, products, and what is made of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.tensor import Tensor, method

__all__ = ["add", "addcdiv", "addcmul", "lerp", "mul", "multiply", "rsub", "square", "sub", "subtract"]

PAIRS: Final = [((2, 3), (2, 3)), ((2, 3), (3,)), ((), (4,)), ((2, 1), (1, 3)), ((0, 3), (3,))]
"""Samples of any op of two tensors."""


_add = define(
    "add", "Sum, elementwise, with broadcasting.", aliases=("__add__", "__radd__"),
    forward=lambda x, y: x + y,
    vjp=[lambda g: g,
         lambda g: g],
    shape=shapes.broadcast,
    samples=PAIRS,
)  # fmt: skip


def _scaled(x: Any, y: Any, alpha: float) -> Any:
    return y * factor(alpha, y.dtype if hasattr(y, "dtype") else x.dtype)


def factor(alpha: Any, dtype: Any) -> Any:
    """What the second part of a sum of some dtype is multiplied by.

    Raises:
        TypeError: It is of another kind than the sum.
    """
    if (alpha.__class__ is bool and dtype.kind != "b") or (alpha.__class__ is float and dtype.kind in "biu"):
        raise TypeError(f"of a sum in {dtype} alpha is no {alpha.__class__.__name__}, as {alpha} is")
    return bool(alpha) if dtype.kind == "b" else dtypes.element(alpha, dtype)


_add_scaled = define(
    "add_scaled", "Sum of which the second part is scaled.", formula="out = x + alpha · y", torch="add",
    grad_name="AddBackward0", tensor_method=False,
    prepare=lambda x, y, alpha: ((x, y), {"alpha": alpha}),
    forward=lambda x, y, *, alpha: x + _scaled(x, y, alpha),
    vjp=[lambda g: g,
         lambda g, *, alpha: g * alpha],
    shape=shapes.broadcast,
    samples=[((2, 3), (3,), {"alpha": 0.5}), ((), (2,), {"alpha": -2})],
)  # fmt: skip

_sub = define(
    "sub", "Difference, elementwise, with broadcasting.", aliases=("__sub__",), takes_bool=False,
    forward=lambda x, y: x - y,
    vjp=[lambda g: g,
         lambda g: -g],
    shape=shapes.broadcast,
    samples=PAIRS,
)  # fmt: skip


_sub_scaled = define(
    "sub_scaled", "Difference of which the second part is scaled.", formula="out = x - alpha · y", torch="sub",
    grad_name="SubBackward0", tensor_method=False, takes_bool=False,
    prepare=lambda x, y, alpha: ((x, y), {"alpha": alpha}),
    forward=lambda x, y, *, alpha: x + _scaled(x, y, -alpha),
    vjp=[lambda g: g,
         lambda g, *, alpha: -g * alpha],
    shape=shapes.broadcast,
    samples=[((2, 3), (3,), {"alpha": 0.5}), ((), (2,), {"alpha": -2})],
)  # fmt: skip


@method
def add(input: Any, other: Any, *, alpha: float = 1) -> Any:
    """Sum, elementwise, with broadcasting; `alpha` scales what is added."""
    return _add(input, other) if alpha == 1 else _add_scaled(input, other, alpha)


@method
def sub(input: Any, other: Any, *, alpha: float = 1) -> Any:
    """Difference, elementwise, with broadcasting; `alpha` scales what is subtracted. Booleans are refused."""
    return _sub(input, other) if alpha == 1 else _sub_scaled(input, other, alpha)


def rsub(input: Any, other: Any, *, alpha: float = 1) -> Any:
    """`other` less `alpha` times `input`."""
    return sub(other, input, alpha=alpha)


mul = define(
    "mul", "Product, elementwise, with broadcasting.",
    aliases=("__mul__", "__rmul__", "multiply"),
    forward=lambda x, y: x * y,
    vjp=[lambda g, y: g * y,
         lambda g, x: g * x],
    shape=shapes.broadcast,
    samples=PAIRS,
)  # fmt: skip


def unchanged(x: Any) -> Any:
    """The input of a rule that is differentiated: saved, so that no write to it passes unseen, as in PyTorch."""
    return x**1 if isinstance(x, Tensor) else x


square = define(
    "square", "Square.", grad_name="PowBackward0",
    forward=lambda x: np.square(x) if x.dtype.kind != "b" else x.astype(dtypes.int64),
    vjp=[lambda g, x: g * (unchanged(x) * 2)],
    shape=shapes.same,
    samples=[((2, 3),), ((),), ("integers", (3,))],
)  # fmt: skip


def _to_addc(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    return (input, tensor1, tensor2), {"value": value}


def _plus(x: Any, y: Any, value: float) -> Any:
    return x + (y if value == 1 else y * dtypes.wide_element(value, y.dtype))


addcmul = define(
    "addcmul", "Product of two tensors, scaled and added to a third.",
    prepare=_to_addc,
    forward=dtypes.only("ifc", lambda x, y, z, *, value: _plus(x, y * z, value)),
    vjp=[lambda g: g,
         lambda g, z, *, value: g * (z * value),
         lambda g, y, *, value: g * (y * value)],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3), (2, 3)), ((3,), (2, 1), (3,), {"value": 0.5}), ((), (), ())],
)  # fmt: skip

addcdiv = define(
    "addcdiv", "Quotient of two tensors, scaled and added to a third.",
    prepare=_to_addc,
    forward=dtypes.only("fc", lambda x, y, z, *, value: _plus(x, y / z, value)),
    vjp=[lambda g: g,
         lambda g, z, *, value: g * (value / z),
         lambda g, y, z, *, value: -g * (y * value / (z * z))],
    shape=shapes.broadcast,
    samples=[("positive", (2, 3), (2, 3), (2, 3)), ("positive", (3,), (2, 1), (3,), {"value": 0.5})],
)  # fmt: skip


def _between(x: Any, y: Any, z: Any) -> Any:
    kinds = [value.dtype for value in (x, y, z) if hasattr(value, "dtype")]
    if len(set(kinds)) > 1:
        raise TypeError(f"start, end and weight must be of one dtype, not {', '.join(map(str, kinds))}")
    return x + z * (y - x)


lerp = define(
    "lerp", "Between x and y, by the weight z: x where it is 0, y where it is 1.",
    prepare=lambda input, end, weight: ((input, end, weight), {}),
    forward=dtypes.only("f", _between), promotes=False,
    vjp=[lambda g, z: g * (1 - z),
         lambda g, z: g * z,
         lambda g, x, y: g * (y - x)],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3), 0.3), ((2, 3), (3,), (2, 1)), ((), (), 0.7)],
)  # fmt: skip


multiply = mul
subtract = sub
setattr(Tensor, "subtract", sub)  # noqa: B010
