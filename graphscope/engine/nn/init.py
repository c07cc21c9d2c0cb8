"""How parameters begin: each function fills a tensor in place, outside the graph, and returns it."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core import generator as random
from graphscope.engine.nn.parameter import overwrite

GAINS: Final[dict[str, Callable[[Any], float]]] = {
    **dict.fromkeys(
        ("linear", "sigmoid", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3))), lambda _: 1.0
    ),
    "tanh": lambda _: 5 / 3,
    "relu": lambda _: math.sqrt(2),
    "leaky_relu": lambda slope: math.sqrt(2 / (1 + (0.01 if slope is None else slope) ** 2)),
    "selu": lambda _: 3 / 4,
}
"""By nonlinearity: what keeps the variance from layer to layer, given the parameter of the nonlinearity."""


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance of what passes a nonlinearity.

    Args:
        nonlinearity: Its name in `nn.functional`.
        param: Of `leaky_relu` the slope.

    Raises:
        ValueError: No factor is known, or the slope is no number.
    """
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}: choose among {', '.join(GAINS)}")
    if param is not None and (isinstance(param, bool) or not isinstance(param, int | float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return GAINS[nonlinearity](param)


def _generator(generator: Any) -> Any:
    """The engine's numbers, or those of a generator that was given."""
    if generator is None:
        return random.generator()
    return getattr(generator, "numbers", generator)


def _precision(tensor: Any) -> Any:
    return np.float64 if tensor.dtype == np.float64 else np.float32


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Fill with uniform numbers from a to b."""
    values = _generator(generator).random(tensor.shape, _precision(tensor))
    overwrite(tensor, values * (b - a) + a)
    return tensor


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Fill with normal numbers."""
    values = _generator(generator).standard_normal(tensor.shape, _precision(tensor))
    overwrite(tensor, values * std + mean)
    return tensor


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Fill with normal numbers; those outside a to b are drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    draw = _generator(generator)
    values = np.asarray(draw.standard_normal(tensor.shape) * std + mean)
    outside = (values < a) | (values > b)
    for _ in range(1000):
        if not outside.any():
            break
        values[outside] = draw.standard_normal(int(outside.sum())) * std + mean
        outside = (values < a) | (values > b)
    overwrite(tensor, np.clip(values, a, b))
    return tensor


def constant_(tensor: Any, val: float) -> Any:
    """Fill with one number."""
    overwrite(tensor, val)
    return tensor


def ones_(tensor: Any) -> Any:
    """Fill with 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Fill with 0."""
    return constant_(tensor, 0.0)


def eye_(tensor: Any) -> Any:
    """Make a matrix the identity.

    Raises:
        ValueError: The tensor has not two dims.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    overwrite(tensor, np.eye(*tensor.shape))
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    shape = tensor.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    modes = ("fan_in", "fan_out")
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(modes)}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform within ±gain·√(6 / (fan in + fan out)). Source: Glorot and Bengio, 2010."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal of deviation gain·√(2 / (fan in + fan out)). Source: Glorot and Bengio, 2010."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def _kaiming_deviation(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Uniform within ±gain·√(3 / fan). Source: He and others, 2015."""
    deviation = _kaiming_deviation(tensor, a, mode, nonlinearity)
    if deviation is None:
        return tensor
    bound = math.sqrt(3.0) * deviation
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Normal of deviation gain / √fan. Source: He and others, 2015."""
    deviation = _kaiming_deviation(tensor, a, mode, nonlinearity)
    return tensor if deviation is None else normal_(tensor, 0.0, deviation, generator)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Make it (semi-)orthogonal, its dims after the first taken as one. Source: Saxe and others, 2013.

    Raises:
        ValueError: It has fewer than two dims.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    numbers = _generator(generator).standard_normal((rows, tensor.numel() // rows))
    q, r = np.linalg.qr(numbers.T if rows < numbers.shape[1] else numbers)
    q = q * np.sign(np.diag(r))  # makes the distribution uniform
    overwrite(tensor, gain * (q.T if rows < numbers.shape[1] else q).reshape(tensor.shape))
    return tensor


def _older(function: Any) -> Any:
    """A function under its old name, without the underscore, which says so."""
    name = function.__name__.rstrip("_")

    @functools.wraps(function)
    def old(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return old


constant, eye, normal, uniform, orthogonal = map(_older, (constant_, eye_, normal_, uniform_, orthogonal_))
kaiming_normal, kaiming_uniform, xavier_normal, xavier_uniform = map(
    _older, (kaiming_normal_, kaiming_uniform_, xavier_normal_, xavier_uniform_)
)

_answer_for(__name__)
