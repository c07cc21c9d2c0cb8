"""Elementwise ops: arithmetic with broadcasting, powers, exponentials, activations, comparisons."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from graphscope.engine import dtypes
from graphscope.engine.calls import define

__all__ = [
    "abs",
    "add",
    "clamp",
    "cos",
    "div",
    "eq",
    "exp",
    "ge",
    "gt",
    "le",
    "log",
    "lt",
    "mul",
    "ne",
    "neg",
    "pow",
    "relu",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "sub",
    "tanh",
]


def _divide(x: Any, y: Any) -> Any:
    out = x / y
    if out.dtype is dtypes.float64 and not any(getattr(v, "dtype", dtypes.bool_).kind == "f" for v in (x, y)):
        return out.astype(dtypes.get_default_dtype())
    return out


add = define(
    "add", "Sum, elementwise, with broadcasting.", formula="out = x + y", aliases=("__add__", "__radd__"),
    forward=operator.add,
    vjp=[lambda g: g,
         lambda g: g],
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), (4,)), ((2, 1), (1, 3))],
)  # fmt: skip

sub = define(
    "sub", "Difference, elementwise, with broadcasting.", formula="out = x - y", aliases=("__sub__", "subtract"),
    forward=operator.sub,
    vjp=[lambda g: g,
         lambda g: -g],
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), (4,))],
)  # fmt: skip

mul = define(
    "mul", "Product, elementwise, with broadcasting.", formula="out = x · y",
    aliases=("__mul__", "__rmul__", "multiply"),
    forward=operator.mul,
    vjp=[lambda g, y: g * y,
         lambda g, x: g * x],
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), (4,)), ((2, 1), (1, 3))],
)  # fmt: skip

div = define(
    "div", "Quotient, elementwise, with broadcasting; of integers too it is floating.", formula="out = x / y",
    aliases=("__truediv__", "divide"),
    forward=_divide,
    vjp=[lambda g, y: g / y,
         lambda g, y, out: -g * out / y],
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), (4,))],
)  # fmt: skip

neg = define(
    "neg", "Negation.", formula="out = -x", aliases=("__neg__",),
    forward=operator.neg,
    vjp=[lambda g: -g],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

pow = define(
    "pow", "Power, elementwise, with broadcasting.", formula="out = x ^ y", aliases=("__pow__",),
    forward=operator.pow,
    vjp=[lambda g, x, y: g * y * x ** (y - 1),
         lambda g, x, out: g * out * log(x)],
    samples=[("positive", (2, 3), (2, 3)), ("positive", (2, 3), (3,))],
)  # fmt: skip

exp = define(
    "exp", "Exponential.", formula="out = e^x", floating=True,
    forward=np.exp,
    vjp=[lambda g, out: g * out],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

log: Any = define(
    "log", "Natural logarithm.", formula="out = ln x", floating=True,
    forward=np.log,
    vjp=[lambda g, x: g / x],
    samples=[("positive", (2, 3)), ("positive", ())],
)  # fmt: skip

sqrt = define(
    "sqrt", "Square root.", formula="out = √x", floating=True,
    forward=np.sqrt,
    vjp=[lambda g, out: g / (out * 2)],
    samples=[("positive", (2, 3)), ("positive", ())],
)  # fmt: skip

tanh = define(
    "tanh", "Hyperbolic tangent.", formula="out = tanh x", floating=True,
    forward=np.tanh,
    vjp=[lambda g, out: g - g * out * out],
    samples=[((2, 3),), ((),)],
)  # fmt: skip


def _sigmoid(x: Any) -> Any:
    return np.reciprocal(1 + np.exp(-x))


sigmoid = define(
    "sigmoid", "Logistic function.", formula="out = 1 / (1 + e^-x)", floating=True,
    forward=_sigmoid,
    vjp=[lambda g, out: g * out * (1.0 - out)],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

relu = define(
    "relu", "Rectifier: what is negative becomes 0.", formula="out = max(x, 0)",
    forward=lambda x: np.maximum(x, 0),
    vjp=[lambda g, out: g * (out > 0)],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

abs = define(
    "abs", "Absolute value; its gradient at 0 is 0.", formula="out = |x|", aliases=("__abs__",),
    forward=np.abs,
    vjp=[lambda g, x: g * sign(x)],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

sign: Any = define(
    "sign", "Sign: -1, 0 or 1.", formula="out = sgn x",
    forward=np.sign,
    vjp=[lambda g: g * 0],
    samples=[((2, 3),)],
)  # fmt: skip


sin = define(
    "sin", "Sine.", formula="out = sin x", floating=True,
    forward=np.sin,
    vjp=[lambda g, x: g * cos(x)],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

cos: Any = define(
    "cos", "Cosine.", formula="out = cos x", floating=True,
    forward=np.cos,
    vjp=[lambda g, x: -g * sin(x)],
    samples=[((2, 3),), ((),)],
)  # fmt: skip


def _to_clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    if min is None and max is None:
        raise RuntimeError("clamp: give a min, a max, or both")
    return (x,), {"min": min, "max": max}


def _clamp(x: Any, *, min: Any, max: Any) -> Any:
    return np.clip(x, min, max)


def _clamp_rule(g: Any, x: Any, *, min: Any, max: Any) -> Any:
    if min is None:
        return g * (x <= max)
    return g * (x >= min) if max is None else g * (x >= min) * (x <= max)


clamp = define(
    "clamp", "Elements below min become min, those above max become max.", formula="out = min(max(x, min), max)",
    prepare=_to_clamp,
    forward=_clamp,
    vjp=[_clamp_rule],
    samples=[((2, 3), {"min": -0.5, "max": 0.5}), ((2, 3), {"min": 0.1}), ((), {"max": 0.2})],
)  # fmt: skip


def _comparison(name: str, symbol: str, forward: Any) -> Any:
    return define(
        name,
        f"Whether x {symbol} y, elementwise.",
        formula=f"out = x {symbol} y",
        aliases=(f"__{name}__",),
        forward=forward,
        vjp=[None, None],
        samples=[((2, 3), (2, 3))],
    )


lt = _comparison("lt", "<", operator.lt)
le = _comparison("le", "≤", operator.le)
gt = _comparison("gt", ">", operator.gt)
ge = _comparison("ge", "≥", operator.ge)
eq = _comparison("eq", "=", operator.eq)
ne = _comparison("ne", "≠", operator.ne)
