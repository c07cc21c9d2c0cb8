"""What variables begin with: functions of a shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.sessions import functions
from graphscope.static.words.offering import shown
from graphscope.static.words.operands import of_dtype
from graphscope.static.words.tensors import as_shape

__all__ = [
    "constant_initializer", "glorot_normal_initializer", "glorot_uniform_initializer", "ones_initializer",
    "random_normal_initializer", "random_uniform_initializer", "truncated_normal_initializer",
    "variance_scaling_initializer", "zeros_initializer",
]  # fmt: skip

Initializer = Callable[..., Any]


def _initializer(draw: Callable[[tuple[int, ...], Any], Any], own: Any) -> Initializer:
    """A function of a shape, as TensorFlow calls it."""

    def start(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return shown(draw(as_shape(shape), of_dtype(own if dtype is None else dtype)))

    return start


def zeros_initializer(dtype: Any = np.float32) -> Initializer:
    """Zeros."""
    return _initializer(lambda shape, kind: functions.constant(np.zeros(shape, kind)), dtype)


def ones_initializer(dtype: Any = np.float32) -> Initializer:
    """Ones."""
    return _initializer(lambda shape, kind: functions.constant(np.ones(shape, kind)), dtype)


def constant_initializer(value: Any = 0, dtype: Any = np.float32, verify_shape: bool = False) -> Initializer:
    """A number everywhere, or these numbers."""

    def filled(shape: tuple[int, ...], kind: Any) -> Any:
        array = np.asarray(value, kind)
        if array.size not in (1, int(np.prod(shape))):
            raise StaticError(f"{array.size} numbers do not fill shape {shape}", hint="give one, or one for each")
        return functions.constant(np.broadcast_to(array.reshape(shape if array.size > 1 else ()), shape).copy())

    return _initializer(filled, dtype)


def random_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = np.float32
) -> Initializer:
    """Numbers of a normal distribution."""
    return _initializer(lambda shape, kind: functions.random_normal(shape, mean, stddev, kind, seed), dtype)


def truncated_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = np.float32
) -> Initializer:
    """As `random_normal_initializer`, without what is farther from the mean than two standard deviations."""
    return _initializer(lambda shape, kind: functions.truncated_normal(shape, mean, stddev, kind, seed), dtype)


def random_uniform_initializer(
    minval: float = 0.0, maxval: float | None = None, seed: int | None = None, dtype: Any = np.float32
) -> Initializer:
    """Numbers from `minval` to `maxval`, evenly distributed."""
    top = 1.0 if maxval is None else maxval
    return _initializer(lambda shape, kind: functions.random_uniform(shape, minval, top, kind, seed), dtype)


def variance_scaling_initializer(
    scale: float = 1.0,
    mode: str = "fan_in",
    distribution: str = "truncated_normal",
    seed: int | None = None,
    dtype: Any = np.float32,
) -> Initializer:
    """Numbers whose variance is `scale` over how many numbers come in (or go out, or the mean of both).

    Raises:
        StaticError: The mode or the distribution is none.
    """
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise StaticError(f"mode={mode!r} is none", hint="fan_in, fan_out or fan_avg")
    if distribution not in ("truncated_normal", "normal", "untruncated_normal", "uniform"):
        raise StaticError(
            f"distribution={distribution!r} is none", hint="truncated_normal, untruncated_normal or uniform"
        )

    def draw(shape: Sequence[int], kind: Any) -> Any:
        coming, going = _fans(shape)
        count = {"fan_in": coming, "fan_out": going, "fan_avg": (coming + going) / 2}[mode]
        variance = scale / max(1.0, count)
        if distribution == "uniform":
            limit = (3 * variance) ** 0.5
            return functions.random_uniform(shape, -limit, limit, kind, seed)
        if distribution == "untruncated_normal":
            return functions.random_normal(shape, 0.0, variance**0.5, kind, seed)
        return functions.truncated_normal(shape, 0.0, variance**0.5 / _CUT, kind, seed)

    return _initializer(draw, dtype)


_CUT = 0.87962566103423978
"""The width of a normal distribution of width 1 that is cut at 2."""


def glorot_uniform_initializer(seed: int | None = None, dtype: Any = np.float32) -> Initializer:
    """Evenly distributed within ±√(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    return variance_scaling_initializer(1.0, "fan_avg", "uniform", seed, dtype)


def glorot_normal_initializer(seed: int | None = None, dtype: Any = np.float32) -> Initializer:
    """Normally distributed, of the variance of `glorot_uniform_initializer`."""
    return variance_scaling_initializer(1.0, "fan_avg", "truncated_normal", seed, dtype)


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    """How many numbers come into an element of the result, and go out of one of the input."""
    if len(shape) < 2:
        return (float(shape[0]), float(shape[0])) if shape else (1.0, 1.0)
    around = float(np.prod(shape[:-2]))
    return shape[-2] * around, shape[-1] * around
