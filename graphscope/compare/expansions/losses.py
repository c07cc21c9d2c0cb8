"""Losses: each element, then what is left of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.compare.expansions.activations import log_softmax
from graphscope.compare.expansions.part import Array, Part, Parts, reduced


def mse_loss(
    input: Array, target: Array, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Parts:
    """`(x - target)^2`."""
    yield Part("difference", input - target)
    yield from reduced(np.square(input - target), reduction)


def l1_loss(
    input: Array, target: Array, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Parts:
    """`|x - target|`."""
    yield Part("difference", input - target)
    yield from reduced(np.abs(input - target), reduction)


def smooth_l1_loss(
    input: Array,
    target: Array,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Parts:
    """`(x - target)^2 / (2 beta)` near to the target, `|x - target| - beta / 2` else."""
    apart = np.abs(input - target)
    yield Part("difference", input - target)
    near = 0.5 * apart * apart / beta if beta else apart
    yield from reduced(np.where(apart < beta, near, apart - 0.5 * beta), reduction, beta=beta)


def huber_loss(input: Array, target: Array, reduction: str = "mean", delta: float = 1.0, *_: Any) -> Parts:
    """`(x - target)^2 / 2` near to the target, `delta (|x - target| - delta / 2)` else."""
    apart = np.abs(input - target)
    yield Part("difference", input - target)
    far = delta * (apart - 0.5 * delta)
    yield from reduced(np.where(apart <= delta, 0.5 * apart * apart, far), reduction, delta=delta)


def binary_cross_entropy(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Parts:
    """`-(target log(x) + (1 - target) log(1 - x))`, logarithms not below -100."""
    log, rest = np.maximum(np.log(input), -100), np.maximum(np.log1p(-input), -100)
    yield Part("log", log)
    yield Part("log(1 - x)", rest)
    each = -(target * log + (1 - target) * rest)
    yield from reduced(each if weight is None else each * weight, reduction)


def binary_cross_entropy_with_logits(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Array | None = None,
) -> Parts:
    """The same of `sigmoid(x)`."""
    zero = np.asarray(0, input.dtype)
    log, rest = -np.logaddexp(zero, -input), -np.logaddexp(zero, input)
    yield Part("log of sigmoid", log)
    yield Part("log(1 - sigmoid)", rest)
    each = -(target * log * (1 if pos_weight is None else pos_weight) + (1 - target) * rest)
    yield from reduced(each if weight is None else each * weight, reduction)


def kl_div(
    input: Array,
    target: Array,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Parts:
    """`target (log(target) - x)`."""
    if log_target:
        each = np.exp(target) * (target - input)
    else:
        each = np.where(target > 0, target * np.log(np.where(target > 0, target, 1)), 0) - target * input
    count = input.shape[0] if reduction == "batchmean" and input.ndim else None
    yield from reduced(each.astype(input.dtype), reduction, count, log_target=log_target)


def nll_loss(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Parts:
    """`-x[target]`, times the weight of the class."""
    each, count = _picked(input, target, weight, ignore_index)
    yield from reduced(each, reduction, count, ignore_index=ignore_index)


def cross_entropy(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Parts:
    """`-log_softmax(x)[target]`, of classes or of their probabilities."""
    axis = 1 if input.ndim > 1 else 0
    for part in log_softmax(input, axis):
        yield part
    logs = part.value
    classes = input.shape[axis]
    scaled = logs if weight is None else logs * weight.reshape(-1, *[1] * (input.ndim - 1 - axis))
    if target.dtype.kind == "f":
        smooth = target * (1 - label_smoothing) + label_smoothing / classes
        each = -(scaled * smooth.astype(logs.dtype)).sum(axis)
        yield from reduced(each, reduction, label_smoothing=label_smoothing)
        return
    each, count = _picked(logs, target, weight, ignore_index)
    if label_smoothing:
        yield Part("of the target", each)
        even = np.where(target == ignore_index, 0, -scaled.sum(axis))
        yield Part("of all classes", even)
        each = ((1 - label_smoothing) * each + label_smoothing / classes * even).astype(logs.dtype)
    yield from reduced(each, reduction, count, ignore_index=ignore_index, label_smoothing=label_smoothing)


def _picked(logs: Array, target: Array, weight: Array | None, ignore_index: int) -> tuple[Array, Any]:
    """Minus the element of the target's class times its weight, and the sum of these weights."""
    axis = 1 if logs.ndim > 1 else 0
    used = target != ignore_index
    place = np.where(used, target, 0)
    each = -np.take_along_axis(logs, np.expand_dims(place, axis), axis).squeeze(axis)
    weights = np.where(used, 1 if weight is None else weight[place], 0).astype(logs.dtype)
    return np.where(used, each * weights, 0).astype(logs.dtype), weights.sum()
