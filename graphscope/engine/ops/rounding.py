"""Rounding and bounds, elementwise: whole numbers, fractions, clamps, what replaces nan and infinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, selection, shapes
from graphscope.engine.core.calls import define, elementwise
from graphscope.engine.core.formulas import in_one_pass
from graphscope.engine.core.fused import fused
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.comparison import isfinite
from graphscope.engine.ops.flat_rules import nothing
from graphscope.engine.ops.index import where

__all__ = [
    "ceil", "clamp", "clamp_max", "clamp_min", "clip", "fix", "floor", "frac", "nan_to_num", "relu", "round", "trunc",
]  # fmt: skip

_MANY: Final = 1 << 12
"""Above so many elements NumPy clips at both ends sooner than it compares with one number."""


def between(x: Any, low: Any, high: Any) -> Any:
    """Elements below one number become it, those above another become that; None is no bound."""
    if x.dtype.kind == "f" and x.size > _MANY:
        return np.clip(x, -np.inf if low is None else low, np.inf if high is None else high)
    out = x if low is None else np.maximum(x, low)
    return out if high is None else np.minimum(out, high)


def _rounding(name: str, forward: Callable[..., Any], doc: str, *aliases: str) -> Any:
    return define(
        name, doc, aliases=aliases, forward=dtypes.only("if", forward), vjp=[nothing],
        shape=shapes.same, samples=[((2, 3),), ((),), ("integers", (3,))],
    )  # fmt: skip


floor = _rounding("floor", np.floor, "Largest whole number that is no larger.")
ceil = _rounding("ceil", np.ceil, "Smallest whole number that is no smaller.")
trunc = _rounding("trunc", np.trunc, "Whole part: rounded towards 0.", "fix")
_round = _rounding(
    "round", lambda x: np.rint(x) if x.dtype.kind == "f" else x.copy(), "Nearest whole number; of two, the even one."
)  # fmt: skip
fix = trunc

_round_to = define(
    "round_to", "Rounded to so many decimals; of two equally near, the even one.", formula="out = round(x, decimals)",
    torch="round", grad_name="RoundBackward1", tensor_method=False,
    prepare=lambda input, decimals: ((input,), {"decimals": decimals}),
    forward=dtypes.only("f", lambda x, *, decimals: np.round(x, decimals)),
    vjp=[nothing],
    shape=shapes.same,
    samples=[((2, 3), {"decimals": 1}), ((), {"decimals": 2}), ((2, 3), {"decimals": -1})],
)  # fmt: skip


def rounded(whole: Callable[..., Any], to_decimals: Callable[..., Any]) -> Callable[..., Any]:
    """`round`, by the ops for whole numbers and for decimals."""

    def round(input: Any, *, decimals: int = 0) -> Any:
        """The nearest whole number, or the nearest of so many decimals; of two, the even one."""
        return whole(input) if decimals == 0 else to_decimals(input, decimals)

    return round


round = rounded(_round, _round_to)
setattr(Tensor, "round", round)  # noqa: B010


def _frac(x: Any) -> Any:
    if x.dtype.kind != "f":
        raise TypeError(f"integers have no fraction; the tensor is {x.dtype}")
    return x - np.trunc(x)


frac = define(
    "frac", "Fraction: what rounding towards 0 leaves off.",
    **elementwise(_frac, lambda g: g),
)  # fmt: skip

relu = define(
    "relu", "Rectifier: what is negative becomes 0.",
    forward=in_one_pass("relu", dtypes.only("if", lambda x: between(x, 0, None))),
    vjp=[fused(lambda g, out: where(out <= 0, 0.0, g),
               in_one_pass("relu_rule", lambda g, out: selection.choose(out <= 0, 0.0, g, g.dtype)))],
    shape=shapes.same,
    samples=[((2, 3),), ((),), ("integers", (3,))],
)  # fmt: skip


clamp_min = define(
    "clamp_min", "Elements of x below y become y.",
    forward=dtypes.only("bif", lambda x, y: np.maximum(x, dtypes.element(y, x.dtype))),
    vjp=[lambda g, x, y: where(x >= y, g, 0.0),
         lambda g, x, y: where(x < y, g, 0.0)],
    shape=shapes.broadcast,
    samples=[((2, 3), 0.1), ((2, 3), (3,)), ((), ())],
)  # fmt: skip

clamp_max = define(
    "clamp_max", "Elements of x above y become y.",
    forward=dtypes.only("bif", lambda x, y: np.minimum(x, dtypes.element(y, x.dtype))),
    vjp=[lambda g, x, y: where(x <= y, g, 0.0),
         lambda g, x, y: where(x > y, g, 0.0)],
    shape=shapes.broadcast,
    samples=[((2, 3), 0.1), ((2, 3), (3,)), ((), ())],
)  # fmt: skip


def _clamp(x: Any, *, min: Any, max: Any) -> Any:
    if x.dtype.kind in "iub" and (isinstance(min, float) or isinstance(max, float)):
        x = x.astype(dtypes.get_default_dtype())
    return between(x, dtypes.element(min, x.dtype), dtypes.element(max, x.dtype))


def _clamp_rule(g: Any, x: Any, *, min: Any, max: Any) -> Any:
    inside = x <= max if min is None else x >= min if max is None else (x >= min) & (x <= max)
    return where(inside, g, 0.0)


_clamp_to_numbers = define(
    "clamp", "Elements below min become min, those above max become max.", formula="out = min(max(x, min), max)",
    prepare=lambda input, min=None, max=None: ((input,), {"min": min, "max": max}), tensor_method=False,
    forward=dtypes.only("bif", _clamp),
    vjp=[_clamp_rule],
    shape=shapes.same,
    samples=[((2, 3), {"min": -0.5, "max": 0.5}), ((2, 3), {"min": 0.1}), ((), {"max": 0.2}),
             ("integers", (3,), {"min": 0})],
)  # fmt: skip


def _clamp_between(x: Any, y: Any, z: Any) -> Any:
    return np.minimum(np.maximum(x, y), z)


_clamp_to_tensors = define(
    "clamp_to", "Elements of x below y become y, those above z become z.", formula="out = min(max(x, y), z)",
    torch="clamp", grad_name="ClampBackward1", tensor_method=False,
    forward=dtypes.only("if", _clamp_between),
    vjp=[lambda g, x, y, z: where((x >= y) & (x <= z), g, 0.0),
         lambda g, x, y, z: where((y < z) & (x < y), g, 0.0),
         lambda g, x, y, z: where((x > z) | (z < y), g, 0.0)],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3), (2, 3)), ((2, 3), (3,), ()), ((), (), ())],
)  # fmt: skip


def clamping(
    to_numbers: Callable[..., Any],
    to_least: Callable[..., Any],
    to_most: Callable[..., Any],
    between: Callable[..., Any],
) -> Callable[..., Any]:
    """`clamp`, by the ops for bounds that are numbers, a tensor below, a tensor above, and tensors on both sides."""

    def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
        """Elements below `min` become `min`, those above `max` become `max`; both are numbers or tensors.

        Raises:
            RuntimeError: Neither is given.
        """
        if min is None and max is None:
            raise RuntimeError("clamp: give a min, a max, or both")
        if not isinstance(min, Tensor) and not isinstance(max, Tensor):
            return to_numbers(input, min, max)
        if min is None:
            return to_most(input, max)
        return to_least(input, min) if max is None else between(input, min, max)

    return clamp


clamp = clip = clamping(_clamp_to_numbers, clamp_min, clamp_max, _clamp_to_tensors)
for _name in ("clamp", "clip"):
    setattr(Tensor, _name, clamp)


def _nan_to_num(x: Any, *, nan: float | None, posinf: float | None, neginf: float | None) -> Any:
    if x.dtype.kind != "f" or np.isfinite(x).all():
        return x.copy()
    return np.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


nan_to_num = define(
    "nan_to_num", "Numbers in the place of nan and infinities; by default 0 and the largest that there are.",
    prepare=lambda input, nan=None, posinf=None, neginf=None: (
        (input,), {"nan": nan, "posinf": posinf, "neginf": neginf}),
    forward=_nan_to_num,
    vjp=[lambda g, x: where(isfinite(x), g, 0.0)],
    shape=shapes.same,
    samples=[((2, 3), {}), (np.array([1.0, np.nan, np.inf, -np.inf]), {"nan": 2.0, "posinf": 3.0}), ((), {})],
)  # fmt: skip
