"""Powers, roots, exponentials and logarithms, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.buffers import reuse
from graphscope.engine.core.calls import define, elementwise
from graphscope.engine.core.formulas import in_one_pass
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.flat_rules import nothing
from graphscope.engine.ops.index import where

__all__ = [
    "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "logit", "pow", "rsqrt", "sigmoid", "sqrt",
    "xlogy",
]  # fmt: skip

_LN2 = math.log(2)
_LN10 = math.log(10)


def _power(x: Any, y: Any) -> Any:
    if getattr(x, "dtype", None) == np.bool_ and getattr(y, "dtype", x.dtype) == np.bool_:
        raise TypeError("it takes numbers, not booleans")
    if y.__class__ is int or y.__class__ is float:  # NumPy has short ways for 2, 1, 0, -1 and 0.5
        if y == 3:
            return np.multiply(square := x * x, x, out=reuse(square))
        if y == 4:
            return np.multiply(square := x * x, square, out=reuse(square))
    if getattr(y, "dtype", dtypes.bool_).kind == "i" and np.result_type(x, y).kind == "i" and (y < 0).any():
        whole = np.where(y < 0, 0, y)
        return np.where((y < 0) & (np.abs(x) != 1), 0, x ** np.where(y < 0, y & 1, whole))[()]
    return x**y


def _base_rule(g: Any, x: Any, y: Any) -> Any:
    if isinstance(y, int | float):
        return nothing(g) if y == 0 else g * _slope(x, y - 1) * y
    return where(y == 0, 0.0, g * y * pow(x, y - 1))


def _slope(x: Any, y: Any) -> Any:
    if isinstance(x, Tensor):
        return pow(x, y)  # by 1, too: as in PyTorch, a second derivative wants x unchanged
    return x if y == 1 else _power(x, y)


def _exponent_rule(g: Any, x: Any, y: Any, out: Any) -> Any:
    if isinstance(x, int | float):
        return g * out * math.log(x) if x > 0 else where(y >= 0, 0.0, g * -math.inf) if x == 0 else g * math.nan
    return where((x == 0) & (y >= 0), 0.0, g * out * log(x))


pow: Any = define(
    "pow", "Power, elementwise, with broadcasting.", aliases=("__pow__",),
    forward=_power,
    vjp=[_base_rule,
         _exponent_rule],
    shape=shapes.broadcast,
    samples=[("positive", (2, 3), (2, 3)), ("positive", (2, 3), (3,)), ((2, 3), 2), ((2, 3), 3), ((2, 3), 4),
             ("positive", (2, 3), -0.5), ((3,), 0), ("positive", (), ()), ("positive", 1.5, (2, 3))],
)  # fmt: skip


def _rsqrt(x: Any) -> Any:
    out = np.sqrt(x)
    return np.divide(1, out, out=reuse(out))


sqrt = define(
    "sqrt", "Square root.", floating=True,
    **elementwise(np.sqrt, lambda g, out: g / (out * 2), "positive"),
)  # fmt: skip

rsqrt = define(
    "rsqrt", "1 divided by the square root.", floating=True,
    **elementwise(_rsqrt, lambda g, out: g * (out * out * out) * -0.5, "positive"),
)  # fmt: skip

exp = define("exp", "Exponential.", floating=True, **elementwise(np.exp, lambda g, out: g * out))

exp2 = define("exp2", "Power of 2.", floating=True, **elementwise(np.exp2, lambda g, out: g * out * _LN2))

expm1 = define(
    "expm1", "Exponential less 1, exact near 0.", floating=True,
    **elementwise(np.expm1, lambda g, out: g * (out + 1)),
)  # fmt: skip

log: Any = define(
    "log", "Natural logarithm.", floating=True,
    **elementwise(np.log, lambda g, x: g / x, "positive"),
)  # fmt: skip

log2 = define(
    "log2", "Logarithm to base 2.", floating=True,
    **elementwise(np.log2, lambda g, x: g / (x * _LN2), "positive"),
)  # fmt: skip

log10 = define(
    "log10", "Logarithm to base 10.", floating=True,
    **elementwise(np.log10, lambda g, x: g / (x * _LN10), "positive"),
)  # fmt: skip

log1p = define(
    "log1p", "Logarithm of 1 + x, exact near 0.", floating=True,
    **elementwise(np.log1p, lambda g, x: g / (x + 1), "positive"),
)  # fmt: skip


def _sigmoid(x: Any) -> Any:
    out = np.negative(x)
    out = np.exp(out, out=reuse(out))
    out = np.add(out, 1, out=reuse(out))
    return np.divide(1, out, out=reuse(out))


sigmoid = define(
    "sigmoid", "Logistic function.", floating=True,
    **elementwise(in_one_pass("sigmoid", _sigmoid), lambda g, out: g * out * (1.0 - out)),
)  # fmt: skip


def _logit(x: Any, *, eps: float | None) -> Any:
    x = x if eps is None else np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def _logit_rule(g: Any, x: Any, *, eps: float | None) -> Any:
    slope = g / (x * (1.0 - x) + 0.0)  # of -0 and 0 the same
    if eps is None:
        return where((x >= 0) & (x <= 1), slope, math.nan)
    return where((x >= eps) & (x <= 1 - eps), slope, 0.0)


logit = define(
    "logit", "Inverse of the logistic function; `eps` keeps x so far from 0 and 1.", formula="out = ln (x / (1 - x))",
    prepare=lambda input, eps=None: ((input,), {"eps": eps}),
    floating=True,
    forward=_logit,
    vjp=[_logit_rule],
    shape=shapes.same,
    samples=[("fraction", (2, 3), {}), ("fraction", (2, 3), {"eps": 0.2}), ("fraction", (), {})],
)  # fmt: skip


def _logaddexp(x: Any, y: Any) -> Any:
    larger = np.maximum(x, y)
    distance = np.abs(x - y)
    if not np.isfinite(distance).all():  # infinities of one sign, and nan
        distance = np.where(x == y, 0, distance).astype(larger.dtype)[()]
    out = np.exp(-distance)
    out = np.log1p(out, out=reuse(out))
    return np.add(out, larger, out=reuse(out))


logaddexp = define(
    "logaddexp", "Logarithm of a sum of exponentials.",
    forward=dtypes.only("f", _logaddexp),
    vjp=[lambda g, x, y: g / (exp(y - x) + 1),
         lambda g, x, y: g / (exp(x - y) + 1)],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((2, 1), (3,)), ((), ())],
)  # fmt: skip


def _xlogy(x: Any, y: Any) -> Any:
    y = y if hasattr(y, "dtype") else x.dtype.type(y)
    return np.where((x == 0) & ~np.isnan(y), np.result_type(x, y).type(0), x * np.log(y))[()]


xlogy = define(
    "xlogy", "x times the logarithm of y; 0 where x is 0.",
    floating=True, forward=_xlogy,
    vjp=[lambda g, x, y: where((x == 0) & (y <= 0), 0.0, g * log(y)),
         lambda g, x, y: g * x / y],
    shape=shapes.broadcast,
    samples=[("positive", (2, 3), (2, 3)), ("positive", (2, 1), (3,)), ("positive", (), ()), ("positive", 2.0, (3,))],
)  # fmt: skip
