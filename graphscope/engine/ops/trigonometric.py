"""Trigonometric and hyperbolic functions and their inverses, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define, elementwise
from graphscope.engine.ops.exponential import rsqrt
from graphscope.engine.ops.index import where

__all__ = [
    "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan",
    "atan2", "atanh", "cos", "cosh", "deg2rad", "hypot", "rad2deg", "sin", "sinc", "sinh", "tan", "tanh",
]  # fmt: skip

sin = define("sin", "Sine.", floating=True, **elementwise(np.sin, lambda g, x: g * cos(x)))

cos: Any = define("cos", "Cosine.", floating=True, **elementwise(np.cos, lambda g, x: -g * sin(x)))

tan = define("tan", "Tangent.", floating=True, **elementwise(np.tan, lambda g, out: g * (out * out + 1)))

asin = define(
    "asin", "Inverse sine.", floating=True, aliases=("arcsin",),
    **elementwise(np.arcsin, lambda g, x: g * rsqrt(1 - x * x), "unit"),
)  # fmt: skip

acos = define(
    "acos", "Inverse cosine.", floating=True, aliases=("arccos",),
    **elementwise(np.arccos, lambda g, x: -g * rsqrt(1 - x * x), "unit"),
)  # fmt: skip

atan = define(
    "atan", "Inverse tangent.", floating=True, aliases=("arctan",),
    **elementwise(np.arctan, lambda g, x: g / (x * x + 1)),
)  # fmt: skip


def _sphere(x: Any, y: Any) -> Any:
    """1 / (x² + y²), and 0 where both are 0: there the angle has no slope."""
    squares = x * x + y * y
    return where(squares == 0, 0.0, 1 / squares)


atan2 = define(
    "atan2", "Angle of the point (y, x), in all four quadrants.", aliases=("arctan2",),
    floating=True, forward=np.arctan2,
    vjp=[lambda g, x, y: g * (y * _sphere(x, y)),
         lambda g, x, y: g * (-x * _sphere(x, y))],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ()), ((), (2,))],
)  # fmt: skip

hypot = define(
    "hypot", "Length of the hypotenuse.",
    forward=dtypes.only("f", np.hypot),
    vjp=[lambda g, x, out: g * (x / out),
         lambda g, y, out: g * (y / out)],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip

sinh = define("sinh", "Hyperbolic sine.", floating=True, **elementwise(np.sinh, lambda g, x: g * cosh(x)))

cosh: Any = define(
    "cosh", "Hyperbolic cosine.", floating=True,
    **elementwise(np.cosh, lambda g, x: g * sinh(x)),
)  # fmt: skip

tanh = define(
    "tanh", "Hyperbolic tangent.", floating=True,
    **elementwise(np.tanh, lambda g, out: g - g * out * out),
)  # fmt: skip

asinh = define(
    "asinh", "Inverse hyperbolic sine.", formula="out = arsinh x", floating=True, aliases=("arcsinh",),
    **elementwise(np.arcsinh, lambda g, x: g * rsqrt(x * x + 1)),
)  # fmt: skip

acosh = define(
    "acosh", "Inverse hyperbolic cosine.", formula="out = arcosh x", floating=True, aliases=("arccosh",),
    **elementwise(np.arccosh, lambda g, x: g * rsqrt(x * x - 1), "above 1"),
)  # fmt: skip

atanh = define(
    "atanh", "Inverse hyperbolic tangent.", formula="out = artanh x", floating=True, aliases=("arctanh",),
    **elementwise(np.arctanh, lambda g, x: g / (1 - x * x), "unit"),
)  # fmt: skip


def _sinc(x: Any) -> Any:
    angle = x * x.dtype.type(math.pi)
    return np.where(x == 0, x.dtype.type(1), np.sin(angle) / angle)[()]


def _sinc_rule(g: Any, x: Any) -> Any:
    angle = x * math.pi
    return where(x == 0, 0.0, g * ((angle * cos(angle) - sin(angle)) / (angle * x)))


sinc = define(
    "sinc", "Sine of πx divided by πx; 1 at 0.", formula="out = sin πx / πx", floating=True,
    **elementwise(_sinc, _sinc_rule),
)  # fmt: skip


def _scaled(name: str, doc: str, formula: str, factor: float) -> Any:
    return define(
        name, doc, formula=formula, floating=True, forward=lambda x: x * factor, vjp=[lambda g: g * factor],
        shape=shapes.same, samples=[((2, 3),), ((),)],
    )  # fmt: skip


deg2rad = _scaled("deg2rad", "Radians of an angle in degrees.", "out = x · π / 180", math.pi / 180)
rad2deg = _scaled("rad2deg", "Degrees of an angle in radians.", "out = x · 180 / π", 180 / math.pi)

arccos, arccosh, arcsin, arcsinh = acos, acosh, asin, asinh
arctan, arctan2, arctanh = atan, atan2, atanh
