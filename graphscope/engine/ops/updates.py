"""Ops of optimizers: they bring a running mean up to date, or a parameter, in one write each."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.ops.elementwise import sqrt
from graphscope.engine.ops.inplace import define_in_place

__all__: list[str] = []


def _blend(x: Any, y: Any, *, keep: float, add: float, out: Any = None) -> Any:
    if out is None:
        return x * keep + y * add
    np.multiply(out, keep, out=out)
    out += y if add == 1 else y * add
    return out


def _blend_square(x: Any, y: Any, *, keep: float, add: float, out: Any = None) -> Any:
    if out is None:
        return x * keep + y * y * add
    square = y * add
    square *= y
    np.multiply(out, keep, out=out)
    out += square
    return out


def _scaled_step(x: Any, y: Any, z: Any, *, step: float, scale: float, eps: float, out: Any = None) -> Any:
    change = np.sqrt(z)
    change /= scale
    change += eps
    change = y / change if out is None else np.divide(y, change, out=change)
    change *= step
    return np.subtract(x, change, out=out)


blend_: Any = define_in_place(
    "blend_", "Bring a running mean up to date.",
    _blend, [lambda g, *, keep: g * keep, lambda g, *, add: g * add],
    formula="x ← keep · x + add · y",
    samples=[((2, 3), (2, 3), {"keep": 0.9, "add": 0.1}), ((), (), {"keep": 0.9, "add": 0.1})],
)  # fmt: skip

blend_square_: Any = define_in_place(
    "blend_square_", "Bring a running mean of squares up to date.",
    _blend_square, [lambda g, *, keep: g * keep, lambda g, y, *, add: g * y * (2 * add)],
    formula="x ← keep · x + add · y²",
    samples=[((2, 3), (2, 3), {"keep": 0.9, "add": 0.1}), ((), (), {"keep": 0.9, "add": 0.1})],
)  # fmt: skip

scaled_step_: Any = define_in_place(
    "scaled_step_", "Take a step along a running mean, each element scaled by the root of its mean square.",
    _scaled_step,
    [lambda g: g,
     lambda g, z, *, step, scale, eps: g * -step / (sqrt(z) / scale + eps),
     lambda g, y, z, *, step, scale, eps:
        g * y * (step / (2 * scale)) / (sqrt(z) * (sqrt(z) / scale + eps) * (sqrt(z) / scale + eps))],
    formula="x ← x - step · y / (√z / scale + eps)",
    samples=[("positive", (2, 3), (2, 3), (2, 3), {"step": 0.1, "scale": 0.5, "eps": 1e-8}),
             ("positive", (), (), (), {"step": 0.1, "scale": 0.5, "eps": 1e-8})],
)  # fmt: skip
