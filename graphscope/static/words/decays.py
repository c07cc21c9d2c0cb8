"""Learning rates that fall with the step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import of_kinds, op, tensor


def _parts(learning_rate: Any, global_step: Any, decay_steps: Any, staircase: bool) -> tuple[Any, Any]:
    """The rate, and how many times so many steps have been taken."""
    if global_step is None:
        raise StaticError("a rate that falls needs a global_step", hint="tf.train.get_or_create_global_step()")
    rate = of_kinds(learning_rate, "f")
    times = op("div", op("to", tensor(global_step), np.dtype(rate.dtype)), decay_steps)
    return rate, op("floor", times) if staircase else times


@offer("train.exponential_decay", type="Mul", node="ExponentialDecay")
def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Any:
    """Rate · decay_rate^(step / decay_steps)."""
    rate, times = _parts(learning_rate, global_step, decay_steps, staircase)
    return op("mul", rate, op("pow", tensor(decay_rate, rate.dtype), times))


@offer("train.natural_exp_decay", type="Mul", node="ExponentialTimeDecay")
def natural_exp_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Any:
    """Rate · e^(-decay_rate · step / decay_steps)."""
    rate, times = _parts(learning_rate, global_step, decay_steps, staircase)
    return op("mul", rate, op("exp", op("mul", times, -decay_rate)))


@offer("train.inverse_time_decay", type="RealDiv", node="InverseTimeDecay")
def inverse_time_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Any:
    """Rate / (1 + decay_rate · step / decay_steps)."""
    rate, times = _parts(learning_rate, global_step, decay_steps, staircase)
    return op("div", rate, op("add", op("mul", times, decay_rate), 1.0))


@offer("train.polynomial_decay", type="AddV2", node="PolynomialDecay")
def polynomial_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: float = 0.0001, power: float = 1.0,
    cycle: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """From the rate down to `end_learning_rate` in so many steps."""
    if cycle:
        raise StaticError("polynomial_decay takes no cycle here", hint="leave it out")
    rate, times = _parts(learning_rate, global_step, decay_steps, False)
    left = op("pow", op("sub", 1.0, op("clamp", times, None, 1.0)), power)
    return op("add", op("mul", op("sub", rate, end_learning_rate), left), end_learning_rate)


@offer("train.cosine_decay", type="Mul", node="CosineDecay")
def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: Any = None) -> Any:
    """From the rate down to alpha · rate along half a cosine."""
    rate, times = _parts(learning_rate, global_step, decay_steps, False)
    half = op("mul", op("add", op("cos", op("mul", op("clamp", times, None, 1.0), math.pi)), 1.0), 0.5)
    return op("mul", rate, op("add", op("mul", half, 1 - alpha), alpha))


@offer("train.piecewise_constant", "train.piecewise_constant_decay", type="Identity", node="PiecewiseConstant")
def piecewise_constant(x: Any, boundaries: Any, values: Any, name: Any = None) -> Any:
    """The first value up to the first boundary, the second up to the second, and so on."""
    if len(values) != len(boundaries) + 1:
        raise StaticError(f"{len(boundaries)} boundaries have {len(values)} values", hint="give one value more")
    step = tensor(x)
    found = op("add", op("mul", op("to", step, np.dtype(np.float32)), 0.0), values[-1])
    for boundary, value in reversed(list(zip(boundaries, values[:-1], strict=True))):
        found = op("where", op("le", step, boundary), value, found)
    return found
