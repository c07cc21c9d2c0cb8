"""Smooth activations: gelu, silu, mish, softplus and their kin, computed block by block within the cache."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define, elementwise
from graphscope.engine.core.formulas import in_one_pass
from graphscope.engine.core.fused import fused, in_blocks
from graphscope.engine.ops.exponential import exp, sigmoid
from graphscope.engine.ops.index import getitem, where
from graphscope.engine.ops.joining import cat
from graphscope.engine.ops.signs import abs as absolute
from graphscope.engine.ops.special import error_function
from graphscope.engine.ops.trigonometric import tanh

__all__: list[str] = []

_TAIL: Final = 1 / math.sqrt(2 * math.pi)
_TANH: Final = (math.sqrt(2 / math.pi), 0.044715)
_SLOPE: Final = (
    0.797884941,
    0.0363330844,
    -3.25947462e-05,
    -5.5306316e-05,
    3.96477298e-06,
    -1.32266263e-07,
    1.75627692e-09,
)
"""Coefficients of p: tanh(x · p(x²)) is erf(x / √2) to 6e-8, which is float32's own precision."""


def _cumulative32(out: Any, x: Any, square: Any) -> None:
    """2 Φ(x) - 1, in single precision."""
    np.multiply(x, x, out=square)
    np.multiply(square, _SLOPE[-1], out=out)
    for coefficient in _SLOPE[-2:0:-1]:
        out += coefficient
        out *= square
    out += _SLOPE[0]
    out *= x
    np.tanh(out, out=out)


def _centred(out: Any, x: Any, square: Any) -> None:
    """2 Φ(x) - 1, in the precision of x."""
    if x.dtype == np.float32:
        _cumulative32(out, x, square)
    else:
        out[...] = error_function(x * math.sqrt(0.5))


def _normal_kernel(out: Any, x: Any, square: Any) -> None:
    _centred(out, x, square)
    out += 1
    out *= 0.5


cumulative: Any = define(
    "normal_cdf", "Probability that a standard normal number is below x.", formula="out = Φ(x)", tensor_method=False,
    floating=True,
    forward=in_one_pass("normal_cdf", partial(in_blocks, _normal_kernel, buffers=1)),
    vjp=[lambda g, x: g * exp(x * x * -0.5) * _TAIL],
    shape=shapes.same,
    samples=[((2, 3),), ((),)],
)  # fmt: skip


def _gelu_kernel(out: Any, x: Any, half: Any) -> None:
    _centred(out, x, half)
    np.multiply(x, 0.5, out=half)
    out *= half
    out += half


def _gelu_tanh_kernel(out: Any, x: Any, half: Any) -> None:
    scale, cubic = _TANH
    np.multiply(x, x, out=out)
    out *= cubic * scale
    out += scale
    out *= x
    np.tanh(out, out=out)
    np.multiply(x, 0.5, out=half)
    out *= half
    out += half


_gelu_exact = in_one_pass("gelu", dtypes.only("f", partial(in_blocks, _gelu_kernel, buffers=1)))
_gelu_by_tanh = in_one_pass("gelu_tanh", dtypes.only("f", partial(in_blocks, _gelu_tanh_kernel, buffers=1)))


def _gelu(x: Any, *, approximate: str) -> Any:
    return _gelu_exact(x) if approximate == "none" else _gelu_by_tanh(x)


def _gelu_rule(g: Any, x: Any, *, approximate: str) -> Any:
    return g * (cumulative(x) + x * exp(x * x * -0.5) * _TAIL) if approximate == "none" else _gelu_tanh_rule(g, x)


def _gelu_tanh_rule(g: Any, x: Any) -> Any:
    scale, cubic = _TANH
    level = tanh((x + x * x * x * cubic) * scale)
    return g * 0.5 * (1.0 + level + x * (1.0 - level * level) * (scale + 3 * scale * cubic * (x * x)))


def _gelu_gradient_kernel(out: Any, g: Any, x: Any, square: Any) -> None:
    _centred(out, x, square)
    np.multiply(x, x, out=square)
    square *= -0.5
    np.exp(square, out=square)
    out += 1
    out *= 0.5
    square *= x
    square *= _TAIL
    out += square
    out *= g


_gelu_exact_gradient = in_one_pass("gelu_rule", partial(in_blocks, _gelu_gradient_kernel, buffers=1))
_gelu_tanh_gradient = in_one_pass("gelu_tanh_rule", _gelu_tanh_rule)


def _gelu_on_arrays(g: Any, x: Any, *, approximate: str) -> Any:
    return _gelu_exact_gradient(g, x) if approximate == "none" else _gelu_tanh_gradient(g, x)


def _to_gelu(input: Any, approximate: str = "none") -> Any:
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"gelu: approximate is {approximate!r}; it must be either 'none' or 'tanh'")
    return (input,), {"approximate": approximate}


gelu = define(
    "gelu", "x times the probability that a standard normal number is below x; or its approximation by tanh.",
    tensor_method=False,
    prepare=_to_gelu,
    forward=_gelu,
    vjp=[fused(_gelu_rule, _gelu_on_arrays)],
    shape=shapes.same,
    samples=[((2, 3),), ((2, 3), {"approximate": "tanh"}), ((),)],
)  # fmt: skip


def logistic_kernel(out: Any, x: Any) -> None:
    """1 / (1 + e^-x)."""
    np.negative(x, out=out)
    np.exp(out, out=out)
    out += 1
    np.divide(1, out, out=out)


def _silu_kernel(out: Any, x: Any) -> None:
    np.negative(x, out=out)
    np.exp(out, out=out)
    out += 1
    np.divide(x, out, out=out)


def _silu_rule(g: Any, x: Any) -> Any:
    s = sigmoid(x)
    return g * s * (1.0 + x * (1.0 - s))


def _silu_gradient_kernel(out: Any, g: Any, x: Any, s: Any) -> None:
    logistic_kernel(s, x)
    np.subtract(1, s, out=out)
    out *= x
    out += 1
    out *= s
    out *= g


silu = define(
    "silu", "x times the logistic function of x.", tensor_method=False,
    forward=in_one_pass("silu", dtypes.only("f", partial(in_blocks, _silu_kernel))),
    vjp=[fused(_silu_rule, in_one_pass("silu_rule", partial(in_blocks, _silu_gradient_kernel, buffers=1)))],
    shape=shapes.same,
    samples=[((2, 3),), ((),)],
)  # fmt: skip


def _softplus_kernel(out: Any, x: Any, linear: Any, *, beta: float, threshold: float) -> None:
    """ln(1 + e^s) = max(s, 0) + ln(1 + e^-|s|), which overflows nowhere; linear beyond the threshold."""
    np.multiply(x, beta, out=linear)
    np.abs(linear, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    far = _beyond(linear, threshold)
    np.maximum(linear, 0, out=linear)
    out += linear
    if beta != 1:
        out /= beta
    if far is not None:
        np.copyto(out, x, where=far)


def _beyond(x: Any, threshold: float) -> Any:
    """Where elements are above a threshold; None where none is, which costs less to find out."""
    return None if np.maximum.reduce(x, axis=None, initial=-np.inf) <= threshold else x > threshold


def _softplus_rule(g: Any, x: Any, *, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return where(scaled > threshold, g, g * sigmoid(scaled))


def _softplus_gradient_kernel(out: Any, g: Any, x: Any, scaled: Any, *, beta: float, threshold: float) -> None:
    np.multiply(x, beta, out=scaled)
    logistic_kernel(out, scaled)
    out *= g
    far = _beyond(scaled, threshold)
    if far is not None:
        np.copyto(out, g, where=far)


softplus = define(
    "softplus", "A smooth rectifier; linear where beta · x is above a threshold.",
    tensor_method=False,
    prepare=lambda input, beta=1.0, threshold=20.0: ((input,), {"beta": beta, "threshold": threshold}),
    forward=in_one_pass("softplus", dtypes.only("f", partial(in_blocks, _softplus_kernel, buffers=1))),
    vjp=[fused(_softplus_rule,
               in_one_pass("softplus_rule", partial(in_blocks, _softplus_gradient_kernel, buffers=1)))],
    shape=shapes.same,
    samples=[((2, 3),), ((2, 3), {"beta": 2.0, "threshold": 0.5}), ((),)],
)  # fmt: skip


def _logsigmoid_kernel(out: Any, x: Any, low: Any) -> None:
    np.abs(x, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    np.minimum(x, 0, out=low)
    np.subtract(low, out, out=out)


def _logsigmoid_rule(g: Any, x: Any) -> Any:
    return g * sigmoid(-x)


logsigmoid = define(
    "logsigmoid", "Logarithm of the logistic function, computed without overflow.",
    tensor_method=False, grad_name="LogSigmoidBackward0",
    forward=in_one_pass("logsigmoid", dtypes.only("f", partial(in_blocks, _logsigmoid_kernel, buffers=1))),
    vjp=[fused(_logsigmoid_rule, in_one_pass("logsigmoid_rule", _logsigmoid_rule))],
    shape=shapes.same,
    samples=[((2, 3),), ((),)],
)  # fmt: skip


def _mish_level(x: Any) -> Any:
    return tanh(softplus(x, 1.0, math.inf))


def _mish_rule(g: Any, x: Any) -> Any:
    level = _mish_level(x)
    return g * (level + x * sigmoid(x) * (1.0 - level * level))


mish = define(
    "mish", "x times the hyperbolic tangent of softplus of x.",
    tensor_method=False,
    forward=in_one_pass("mish", dtypes.only("f", lambda x: x * _mish_level(x))),
    vjp=[fused(_mish_rule, in_one_pass("mish_rule", _mish_rule))],
    shape=shapes.same,
    samples=[((2, 3),), ((),)],
)  # fmt: skip


def _softsign_rule(g: Any, x: Any) -> Any:
    scale = absolute(x) + 1.0
    return g / scale - g * absolute(x) / (scale * scale)


softsign = define(
    "softsign", "x scaled into -1 to 1.", tensor_method=False, grad_name="DivBackward0",
    **elementwise(dtypes.only("if", dtypes.in_floating(lambda x: x / (1 + np.abs(x)))), _softsign_rule),
)  # fmt: skip


def _half(x: Any, dim: int, second: bool) -> Any:
    size = x.shape[dim] // 2
    part = slice(size, None) if second else slice(size)
    return getitem(x, (slice(None),) * (dim % len(x.shape)) + (part,))


def _to_glu(input: Any, dim: int = -1) -> Any:
    if not input.shape:
        raise RuntimeError("glu: a tensor of no dims has no halves")
    if not -len(input.shape) <= dim < len(input.shape):
        raise IndexError(f"glu: dim {dim} is out of range for a tensor of shape {tuple(input.shape)}")
    if input.shape[dim] % 2:
        raise RuntimeError(f"glu: dim {dim} of shape {tuple(input.shape)} is odd: it must have two halves")
    return (input,), {"dim": dim}


def _glu_rule(g: Any, x: Any, *, dim: int) -> Any:
    gate = sigmoid(_half(x, dim, True))
    return cat([g * gate, g * _half(x, dim, False) * gate * (1.0 - gate)], dim)


def _glu_shape(x: Any, *, dim: int) -> Any:
    return shapes.resized(x, dim, None if x[dim] is None else x[dim] // 2)


glu = define(
    "glu", "One half of a dim, let through by the logistic function of the other half.",
    tensor_method=False,
    prepare=_to_glu,
    forward=dtypes.only("f", lambda x, *, dim: _half(x, dim, False) * sigmoid(_half(x, dim, True))),
    vjp=[_glu_rule],
    shape=_glu_shape,
    samples=[((2, 4),), ((4, 3), {"dim": 0}), ((2, 2, 3), {"dim": -2})],
)  # fmt: skip
