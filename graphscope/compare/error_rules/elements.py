"""Rules of ops on each element, of those that only move elements, and of steps of optimizers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.compare.error_rules.sizes import SCALAR, Array, Rule, top
from graphscope.compare.operation import Operand, Operation
from graphscope.compare.rounding import Allowed


def moved(call: Operation) -> Allowed:
    """Elements are moved, chosen or repeated: nothing is rounded."""
    return Allowed(1.01 * call.largest, slope=call.slope(SCALAR * call.unit))


def converted(call: Operation) -> Allowed:
    """Elements are rounded to another dtype."""
    return Allowed(1.01 * call.largest, 2 * call.unit, call.slope(SCALAR * call.unit))


def arbitrary(call: Operation) -> Allowed:
    """Memory as it was found."""
    return Allowed(math.inf)


def dropped(call: Operation) -> Allowed:
    """Elements are left out, and the others divided by the part that is left."""
    left = max(1 - call.operand(1, "p", default=0.5), 1e-3)
    return Allowed(1.01 * call.largest / left, 4 * call.unit, call.slope(SCALAR * call.unit))


def added(call: Operation) -> Allowed:
    """A sum or difference of two: absolute errors are added, though little may be left of the terms (Higham, 1.7)."""
    factor = abs(float(call.operand(99, "alpha", default=1.0)))
    terms = max(1.0, factor) * sum(each.largest for each in call.tensors.values())
    if factor != 1:
        terms += call.unit * factor * max(top(each, 0.0) for each in call.tensors.values())
    return Allowed(1.01 * terms, 4 * call.unit, call.slope(SCALAR * call.unit))


def elementwise(*gains: Callable[..., Any], own: Callable[[Any, Any], Any] | None = None, units: float = 4) -> Rule:
    """An op on each element: `f(x + e) = f(x) + f'(x) e` (Higham, section 1.6).

    Args:
        gains: The derivative by each operand, of the operands and the result.
        own: What the op itself loses beside so many units of the result, in units: of the first operand and the result.
        units: These.
    """

    def rule(call: Operation) -> Allowed:
        places = [call.operand(place) for place in range(len(gains))]
        values = [each.value if isinstance(each, Operand) else each for each in places]
        bound: Any = 0.0 if own is None else call.unit * np.abs(own(values[0], call.value))
        for each, gain in zip(places, gains, strict=True):
            if isinstance(each, Operand) and each.largest:
                bound = bound + 1.1 * each.largest * np.abs(gain(*values, call.value))
        if isinstance(bound, Array) and bound.ndim > len(call.shape):
            raise ValueError("shapes that don't go together")
        return Allowed(bound, units * call.unit, call.slope(SCALAR * call.unit))

    return rule


def updated(call: Operation) -> Allowed:
    """A step of an optimizer. Where it divides by the size of the gradient, the error of an element is that of its
    gradient by the gradient, and where that is nothing but rounding, the whole step.
    """
    parameter, gradient = call.operand(0), call.operand(1)
    rate = abs(call.operand(99, "lr", default=1.0))
    momentum = call.operand(99, "momentum", default=0.0)
    if call.node.op == "SGD":
        bound: Any = rate * 8 * gradient.largest / max(1 - momentum, 1e-3)
    else:
        sizes = np.abs(gradient.value) + call.operand(99, "eps", default=0.0) + 1e-30
        largest = 2 / math.sqrt(max(1 - call.operand(99, "alpha", default=0.9375), 1e-6))
        bound = rate * np.minimum(largest, 16 * (gradient.largest + 4 * call.unit * gradient.size) / sizes)
    bound = bound + 2 * parameter.largest
    slope = float(np.mean(bound)) / parameter.size if parameter.size else math.inf
    return Allowed(bound, 4 * call.unit, call.slope(SCALAR * call.unit + slope))
