"""Activations of several steps, and softmax."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, Final

import numpy as np
from numpy.polynomial import chebyshev

from graphscope.compare.expansions.part import Array, Part, Parts


def softmax(input: Array, dim: int, *_: Any, **__: Any) -> Parts:
    """`exp(x - max) / sum of exp(x - max)`."""
    _shifted, powers, total = yield from _sum_of_powers(input, dim)
    yield Part("softmax", powers / total)


def log_softmax(input: Array, dim: int, *_: Any, **__: Any) -> Parts:
    """`x - max - log of sum of exp(x - max)`."""
    shifted, _powers, total = yield from _sum_of_powers(input, dim)
    yield Part("log of sum", np.log(total))
    yield Part("log_softmax", shifted - np.log(total))


def _sum_of_powers(input: Array, dim: int) -> Generator[Part, None, tuple[Array, Array, Array]]:
    """`x - max`, its powers, and their sum."""
    shifted = input - input.max(dim, keepdims=True)
    yield Part("shifted", shifted, {"dim": dim})
    powers = np.exp(shifted)
    yield Part("exp", powers)
    total = powers.sum(dim, keepdims=True)
    yield Part("sum", total, {"dim": dim})
    return shifted, powers, total


def logsumexp(input: Array, dim: Any, keepdim: bool = False) -> Parts:
    """`max + log of sum of exp(x - max)`."""
    axes = tuple(dim) if isinstance(dim, list | tuple) else dim
    largest = input.max(axes, keepdims=True)
    powers = np.exp(input - np.where(np.isfinite(largest), largest, 0))
    yield Part("exp", powers, {"dim": dim})
    total = powers.sum(axes, keepdims=keepdim)
    yield Part("sum", total, {"dim": dim, "keepdim": keepdim})
    largest = np.where(np.isfinite(largest), largest, 0)
    yield Part("logsumexp", np.log(total) + (largest if keepdim else largest.reshape(total.shape)))


def gelu(input: Array, approximate: str = "none") -> Parts:
    """`x * Phi(x)`, with the error function or with tanh."""
    if approximate == "tanh":
        inner = input + 0.044715 * input**3
        yield Part("x + 0.044715 x^3", inner, {"approximate": approximate})
        scaled = math.sqrt(2 / math.pi) * inner
        yield Part("* sqrt(2 / pi)", scaled)
        curve = np.tanh(scaled)
        yield Part("tanh", curve)
    else:
        scaled = input / np.asarray(math.sqrt(2), input.dtype)
        yield Part("x / sqrt(2)", scaled, {"approximate": approximate})
        curve = (1 - _erfc(scaled)).astype(input.dtype)
        yield Part("erf", curve)
    yield Part("1 + curve", 1 + curve)
    yield Part("gelu", np.asarray(0.5 * input * _one_more(input, curve, approximate), input.dtype))


def silu(input: Array, *_: Any) -> Parts:
    """`x * sigmoid(x)`."""
    curve = sigmoid(input)
    yield Part("sigmoid", curve)
    yield Part("silu", input * curve)


def glu(input: Array, dim: int = -1) -> Parts:
    """One half times the sigmoid of the other."""
    first, second = np.split(input, 2, dim)
    curve = sigmoid(second)
    yield Part("sigmoid", curve, {"dim": dim})
    yield Part("glu", first * curve)


def softplus(input: Array, beta: float = 1.0, threshold: float = 20.0) -> Parts:
    """`log(1 + exp(beta x)) / beta`; x itself above the threshold."""
    scaled = input * np.asarray(beta, input.dtype)
    powers = np.exp(np.minimum(scaled, threshold, dtype=input.dtype))
    yield Part("exp", powers, {"beta": beta, "threshold": threshold})
    yield Part("log(1 + exp)", np.log1p(powers))
    yield Part("softplus", np.where(scaled > threshold, input, np.log1p(powers) / np.asarray(beta, input.dtype)))


def mish(input: Array, *_: Any) -> Parts:
    """`x * tanh(softplus(x))`."""
    soft = np.logaddexp(input, np.asarray(0, input.dtype))
    yield Part("softplus", soft)
    yield Part("tanh", np.tanh(soft))
    yield Part("mish", input * np.tanh(soft))


def sigmoid(x: Array) -> Array:
    """`1 / (1 + exp(-x))`."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)), x.dtype)


def _one_more(x: Array, curve: Array, approximate: str) -> Array:
    """`1 + curve`, to full precision where the curve is near to -1."""
    return 1 + curve if approximate == "tanh" else _erfc(-x.astype(np.float64) / math.sqrt(2))


_FARTHEST: Final = 26.0
"""The complementary error function is 0 beyond, in float64."""


def _scaled_erfc(t: Array) -> Array:
    """`exp(x^2) erfc(x)` of `t = 2 / (2 + x)`, from a continued fraction where x is large."""
    x = 2 / t - 2
    return np.array([math.exp(each * each) * math.erfc(each) for each in x])


_FIRST: Final = 2 / (2 + _FARTHEST)
_CURVE: Final = chebyshev.Chebyshev.interpolate(_scaled_erfc, 28, domain=(_FIRST, 1.0))


def _erfc(x: Array) -> Array:
    """The complementary error function: `exp(-x^2)` times a polynomial in `2 / (2 + |x|)`, as smooth as it can be."""
    far = np.minimum(np.abs(x, dtype=np.float64), _FARTHEST)
    found = np.exp(-far * far) * _CURVE(2 / (2 + far))
    return np.asarray(np.where(x < 0, 2 - found, found))
