"""Whether gradients are what finite differences say they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.gradients import grad
from graphscope.engine.tensor import Tensor

_STEP: Final = 1e-6
_RELATIVE: Final = 1e-5
_ABSOLUTE: Final = 1e-6


def gradcheck(function: Callable[..., Any], inputs: Sequence[Any], *, seed: int = 0) -> bool:
    """Compare the gradients of `function(*inputs)` with central differences, along a random direction of its output.

    Args:
        function: Takes `inputs` and returns a tensor.
        inputs: Those that require grad are checked; they must be float64.
        seed: Of the random direction.

    Returns:
        True.

    Raises:
        ValueError: An input that requires grad is not float64.
        AssertionError: A gradient is wrong; the message says which, and by how much.
    """
    wanted = [value for value in inputs if isinstance(value, Tensor) and value.requires_grad]
    for value in wanted:
        if value.data.dtype != np.float64:
            raise ValueError(f"gradcheck needs float64 inputs, not {value.data.dtype}: differences are too coarse")
    out = function(*inputs)
    direction = np.asarray(np.random.default_rng(seed).standard_normal(out.data.shape))[()]
    found = grad(out, wanted, Tensor(direction), allow_unused=True)
    for number, (value, gradient) in enumerate(zip(wanted, found, strict=True)):
        got = np.zeros(value.data.shape) if gradient is None else np.asarray(gradient.data)
        expected = _differences(function, inputs, value, direction)
        if not np.allclose(got, expected, rtol=_RELATIVE, atol=_ABSOLUTE):
            worst = np.max(np.abs(got - expected))
            raise AssertionError(
                f"gradient {number}, of an input of shape {value.data.shape}, is off by up to {worst:.3g}:\n"
                f"backward    {got.tolist()}\ndifferences {expected.tolist()}"
            )
    return True


def gradgradcheck(function: Callable[..., Any], inputs: Sequence[Any], *, seed: int = 0) -> bool:
    """As `gradcheck`, of the gradients themselves: second order.

    Raises:
        ValueError: As `gradcheck`.
        AssertionError: As `gradcheck`.
    """
    wanted = [value for value in inputs if isinstance(value, Tensor) and value.requires_grad]
    numbers = np.random.default_rng(seed + 1)
    shape = function(*inputs).data.shape
    cotangent = Tensor(np.asarray(numbers.standard_normal(shape))[()], True)
    directions = [Tensor(np.asarray(numbers.standard_normal(value.data.shape))[()]) for value in wanted]

    def gradients(*_: Any) -> Any:
        found = grad(function(*inputs), wanted, cotangent, create_graph=True, allow_unused=True)
        total = (cotangent * 0.0).sum()
        for gradient, direction in zip(found, directions, strict=True):
            if gradient is not None:
                total = total + (gradient * direction).sum()
        return total

    return gradcheck(gradients, [cotangent, *wanted], seed=seed)


def _differences(function: Callable[..., Any], inputs: Sequence[Any], value: Tensor, direction: Any) -> np.ndarray:
    original = value.data
    result = np.zeros(original.shape)
    for place in np.ndindex(original.shape):
        ends = []
        for sign in (1, -1):
            moved = np.array(original)
            moved[place] += sign * _STEP
            value.data = moved[()]
            ends.append(_along(function, inputs, direction))
        result[place] = (ends[0] - ends[1]) / (2 * _STEP)
    value.data = original
    return result


def _along(function: Callable[..., Any], inputs: Sequence[Any], direction: Any) -> float:
    return float(np.sum(function(*inputs).data * direction))
