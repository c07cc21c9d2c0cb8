"""Division, elementwise and with broadcasting: quotients, rounded ones, remainders, common divisors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define, elementwise
from graphscope.engine.core.fused import in_blocks
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.arithmetic import PAIRS
from graphscope.engine.ops.flat_rules import nothing, refused

__all__ = ["div", "divide", "floor_divide", "fmod", "reciprocal", "remainder", "true_divide"]


_div = define(
    "div", "Quotient, elementwise, with broadcasting; of integers too it is floating.",
    aliases=("__truediv__",), floating=True,
    forward=lambda x, y: x / y,
    vjp=[lambda g, y: g / y,
         lambda g, x, y: -g * (x / y / y)],  # as PyTorch: the result may be written over
    shape=shapes.broadcast,
    samples=PAIRS,
)  # fmt: skip


def _whole(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A division of which integers have no result by 0."""

    def divide(x: Any, y: Any) -> Any:
        if getattr(x, "dtype", dtypes.bool_).kind in "iu" and np.asarray(y).dtype.kind in "iu" and not np.all(y):
            raise RuntimeError("ZeroDivisionError: an integer is divided by 0; floating numbers would give inf or nan")
        return forward(x, y)

    return dtypes.only("if", divide)


_MANY: Final = 1 << 12
_EXACT: Final = 1 << 29
"""Up to this quotient, two numbers of single precision divide exactly enough in double precision."""


def _soon(forward: Callable[..., Any], finish: Callable[..., Any]) -> Callable[..., Any]:
    """A division of floating numbers that NumPy does one by one: many of single precision go by double precision.

    `finish` takes both and their quotient, in double precision; the remainder is exact in it.
    """

    def kernel(out: Any, x: Any, y: Any) -> None:
        wide, by = x.astype(np.float64), y.astype(np.float64)
        quotient = wide / by
        if (np.abs(quotient) < _EXACT).all() and np.isfinite(by).all():
            out[...] = finish(wide, by, quotient)
        else:
            forward(x, y, out=out)

    def divide(x: Any, y: Any) -> Any:
        if getattr(x, "size", 0) < _MANY or x.dtype != np.float32:
            return forward(x, y)
        if getattr(y, "dtype", x.dtype) != x.dtype or np.ndim(y) > x.ndim:
            return forward(x, y)
        if np.shape(y) != x.shape:
            x, y = np.broadcast_arrays(x, np.asarray(y, x.dtype))
        return in_blocks(kernel, x, y)

    return divide


_floor_quotient = _soon(np.floor_divide, lambda x, y, quotient: np.floor(quotient))
_floor_remainder = _soon(np.remainder, lambda x, y, quotient: x - np.floor(quotient) * y)
_trunc_remainder = _soon(np.fmod, lambda x, y, quotient: x - np.trunc(quotient) * y)


def _truncated(x: Any, y: Any) -> Any:
    if np.result_type(x, y).kind == "f":
        return np.trunc(x / y)
    return (x - np.fmod(x, y)) // y


floor_divide = define(
    "floor_divide", "Quotient, rounded down.", aliases=("__floordiv__",),
    forward=_whole(_floor_quotient),
    vjp=[refused, refused],
    shape=shapes.broadcast,
    samples=[((2, 3), (3,)), ("integers", (2, 3), (3,)), ((2, 3), 0.25), ("integers", (), 2)],
)  # fmt: skip

_div_floor = define(
    "div_floor", "Quotient, rounded down; its gradient is 0.", formula="out = ⌊x / y⌋", torch=None,
    grad_name="DivBackward1", tensor_method=False,
    forward=_whole(_floor_quotient),
    vjp=[nothing, nothing],
    shape=shapes.broadcast,
    samples=[((2, 3), (3,)), ((), ())],
)  # fmt: skip

_div_trunc = define(
    "div_trunc", "Quotient, rounded towards 0; its gradient is 0.", formula="out = trunc(x / y)", torch=None,
    grad_name="DivBackward1", tensor_method=False,
    forward=_whole(_truncated),
    vjp=[nothing, nothing],
    shape=shapes.broadcast,
    samples=[((2, 3), (3,)), ("integers", (2, 3), (3,)), ((), ())],
)  # fmt: skip


def dividing(forms: dict[str | None, Callable[..., Any]]) -> Callable[..., Any]:
    """`div`, by an op for each rounding mode."""

    def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
        """Quotient, elementwise, with broadcasting; `rounding_mode` is None, `floor` or `trunc`.

        Raises:
            RuntimeError: There is no such rounding mode, or an integer is divided by 0 under one.
        """
        if rounding_mode not in forms:
            raise RuntimeError(f"div: rounding_mode is None, 'floor' or 'trunc', not {rounding_mode!r}")
        return forms[rounding_mode](input, other)

    return div


div = divide = true_divide = dividing({None: _div, "floor": _div_floor, "trunc": _div_trunc})
for _name in ("div", "divide", "true_divide"):
    setattr(Tensor, _name, div)

remainder: Any = define(
    "remainder", "Remainder of a division, with the sign of the divisor.",
    aliases=("__mod__",),
    forward=_whole(_floor_remainder),
    vjp=[lambda g: g,
         lambda g, x, y: -g * _div_floor(x, y)],
    shape=shapes.broadcast,
    samples=[("positive", (2, 3), (3,)), ((2, 3), 0.3), ("integers", (2, 3), (3,)), ("positive", (), ())],
)  # fmt: skip

fmod = define(
    "fmod", "Remainder of a division, with the sign of the dividend.",
    forward=_whole(_trunc_remainder),
    vjp=[lambda g: g,
         lambda g, x, y: -g * _div_trunc(x, y)],
    shape=shapes.broadcast,
    samples=[("positive", (2, 3), (3,)), ((2, 3), 0.3), ("integers", (2, 3), (3,)), ("positive", (), ())],
)  # fmt: skip

reciprocal = define(
    "reciprocal", "1 divided by each element.", floating=True,
    **elementwise(lambda x: 1 / x, lambda g, out: -g * (out * out), "positive"),
)  # fmt: skip
