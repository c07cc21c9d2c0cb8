"""Rules of normalisation, softmax and attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.compare.error_rules.sizes import SCALAR, Array, Rule, norms, top
from graphscope.compare.error_rules.sums import products
from graphscope.compare.operation import Operand, Operation
from graphscope.compare.rounding import Allowed

_BIASED: Final = 1024
"""A sum of so many squares, added one by one to a sum that grows, is too small or too large by one unit of roundoff."""


def normalised(axes: Callable[[Operation, Array], tuple[int, ...]], weighs: int = 2, centred: bool = True) -> Rule:
    """`(x - mean) / deviation`: errors are divided by the deviation; of the mean as far as it is large beside it.

    The variance has the condition `1 + (mean / deviation)^2` (Higham, section 1.9). Where statistics of many rows are
    rounded independently, the result has a slope of a part of a roundoff at most.

    Args:
        axes: Those of which the mean is taken.
        weighs: The place of the weight; the bias is next to it.
        centred: Whether a mean is subtracted.
    """

    def rule(call: Operation) -> Allowed:
        x = call.operand(0)
        value = x.value if x.value.dtype == np.float64 else x.value.astype(np.float32, copy=False)
        value = _in_groups(call, value)
        where = axes(call, value)
        given = _given(call)
        if given is None:
            mean = value.mean(where, keepdims=True) if centred else np.zeros(1, value.dtype)
            variance = np.square(value - mean).mean(where, keepdims=True)
        else:
            mean, variance = (each.value.reshape(1, -1, *[1] * (value.ndim - 2)) for each in given)
        terms = value.size / max(variance.size, 1)
        eps = call.operand(99, "eps")
        deviation = np.sqrt(variance + (eps if isinstance(eps, float) else 1e-12))
        weight, bias = (call.operand(weighs + place, name) for place, name in enumerate(("weight", "bias")))
        scale, shift = top(weight, 1.0), top(bias, 0.0)
        far = np.abs(mean) / deviation
        part = call.sums * (4 + math.sqrt(terms) / 2) * (1 + np.minimum(far * far, 1e3)) + 4 * call.unit
        bound = part * shift + scale * (
            4 * call.sums * (1 + math.sqrt(terms) / 8) * (far + 0.5) + 4 * x.largest / deviation
        )
        part = part + 8 * np.minimum(x.spread / deviation, 1)
        if given is not None:
            part = part + 4 * given[1].largest / (deviation * deviation)
            bound = bound + 2 * scale * (given[0].largest + given[1].largest * far) / deviation
        if isinstance(weight, Operand) and weight.largest:
            bound = bound + weight.largest * (top(call.value, 0.0) / max(scale, 1e-30) + shift)
        if isinstance(bias, Operand):
            bound = bound + 2 * bias.largest
        few, one_by_one = 0.0, 0.0
        if (
            terms != value.shape[-1]
        ):  # rows share a variance, which is summed in one accumulator where channels are last
            few, one_by_one = 4 / math.sqrt(variance.size), terms / _BIASED
        slope = (0.5 + few + one_by_one) * call.unit + float(np.mean(np.minimum(x.spread / deviation, 1)))
        return Allowed(_spread_out(bound, call), _spread_out(part, call), call.slope(slope, 1.0))

    return rule


def softmax(call: Operation) -> Allowed:
    """`exp(x - max) / sum`: relative errors are the absolute ones of x, and those of `x - max` (Blanchard, 2021)."""
    x = call.operand(0)
    terms = max(x.shape, default=1)
    finite = np.where(np.isfinite(call.value) & (call.value > 0), call.value, 1)
    part = call.sums * (16 + math.sqrt(terms)) + 2 * call.unit + math.expm1(min(4 * x.largest, 30))
    return Allowed(4 * call.sums, part - 4 * call.sums * np.log(finite), call.slope(SCALAR * call.unit + x.spread))


def log_softmax(call: Operation) -> Allowed:
    """`x - log of sum of exp(x)`: what is subtracted may be as large as x is, though the difference is small."""
    x = call.operand(0)
    axis = call.operand(1, "dim", default=-1)
    terms = max(x.shape, default=1)
    highest = np.abs(x.value.max(axis, keepdims=True))
    bound = 4 * call.sums * (4 + math.sqrt(terms) + np.where(np.isfinite(highest), highest, 0)) + 4 * x.largest
    return Allowed(bound, 8 * call.unit, call.slope(SCALAR * call.unit))


def attention(call: Operation) -> Allowed:
    """A softmax of products, and a mean of values weighed by it: errors of scores are relative ones of the weights."""
    q, k, v = (call.operand(place, name) for place, name in enumerate(("query", "key", "value")))
    scale = call.operand(99, "scale", default=1 / math.sqrt(q.shape[-1]))
    terms = q.shape[-1]
    across, column = (float(norms(each.value, -1).max(initial=0)) for each in (q, k))
    score = abs(scale) * float(products(call, q, k, across, column, terms))
    mask = call.operand(3, "attn_mask")
    score += mask.largest if isinstance(mask, Operand) else 0.0
    score += call.sums * 8 * (1 + abs(scale) * across * column)
    part = 2 * math.expm1(min(score, 30)) + call.sums * (8 + math.sqrt(k.shape[-2]) / 2) + 4 * call.unit
    largest = float(np.abs(v.value).max(initial=0))
    return Allowed(part * largest + 2 * v.largest, 4 * call.unit, call.slope(2 * SCALAR * call.unit + score))


def _given(call: Operation) -> tuple[Operand, Operand] | None:
    """Mean and variance that are not those of the input."""
    batch = call.node.op == "batch_norm"
    own = call.operand(5, "training", "use_input_stats", default=not batch)
    mean, variance = call.operand(1, "running_mean"), call.operand(2, "running_var")
    if own or not (batch or call.node.op == "instance_norm") or not isinstance(mean, Operand):
        return None
    return (mean, variance) if isinstance(variance, Operand) else None


def _in_groups(call: Operation, value: Array) -> Array:
    """The channels of each group in one row."""
    return value.reshape(len(value), call.operand(1, "num_groups"), -1) if call.node.op == "group_norm" else value


def _spread_out(bound: Any, call: Operation) -> Any:
    """What there is of each group of channels as it lies in the result."""
    if np.ndim(bound) == 0:
        return float(bound)
    if call.node.op == "group_norm":
        channels = call.shape[1] // bound.shape[1]
        return bound.repeat(channels, 1).reshape(*bound.shape[:1], call.shape[1], *[1] * (len(call.shape) - 2))
    return bound


def last_axes(call: Operation, value: Array) -> tuple[int, ...]:
    """The axes of the shape that is normalised."""
    return tuple(range(-len(call.operand(1, "normalized_shape")), 0))
