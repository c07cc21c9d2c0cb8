"""Softmax, losses, normalization and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.words.elementwise import larger, smaller
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import axes, of_kinds, op, pair, tensor
from graphscope.static.words.told_shapes import like


def _dim(x: Any, axis: Any, older: Any, default: int = -1) -> int:
    if axis is not None and older is not None:
        raise StaticError("axis and dim are both given", hint="give axis")
    chosen = axis if older is None else older
    return axes(default if chosen is None else chosen, x.ndim)[0]


@offer("nn.softmax", "math.softmax", type="Softmax")
def softmax(logits: Any, axis: Any = None, name: Any = None, dim: Any = None) -> Any:
    """exp(logits) over its sum along a dim."""
    x = of_kinds(logits, "f")
    return op("softmax", x, _dim(x, axis, dim))


@offer("nn.log_softmax", "math.log_softmax", type="LogSoftmax")
def log_softmax(logits: Any, axis: Any = None, name: Any = None, dim: Any = None) -> Any:
    """The logarithm of `softmax`."""
    x = of_kinds(logits, "f")
    return op("log_softmax", x, _dim(x, axis, dim))


def _logits_and_labels(labels: Any, logits: Any) -> tuple[Any, Any]:
    if labels is None or logits is None:
        raise StaticError("labels and logits are both needed", hint="f(labels=truth, logits=guess)")
    x = of_kinds(logits, "f")
    return x, tensor(labels)


def _cross_entropy(labels: Any, logits: Any, dim: int) -> Any:
    x = of_kinds(logits, "f")
    truth = op("to", tensor(labels), x.dtype)
    return op("neg", op("sum", op("mul", truth, op("log_softmax", x, dim)), dim))


@offer(
    "nn.softmax_cross_entropy_with_logits",
    type="Reshape",
    node="softmax_cross_entropy_with_logits_sg",
    inside="Reshape_2",
)
def softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, dim: int = -1, name: Any = None, axis: Any = None
) -> Any:
    """-Σ labels · log softmax(logits), for each row; no gradient goes to the labels."""
    x, truth = _logits_and_labels(labels, logits)
    return _cross_entropy(op("detach", truth), x, dim if axis is None else axis)


@offer("nn.softmax_cross_entropy_with_logits_v2", type="Reshape", node="softmax_cross_entropy_with_logits",
       inside="Reshape_2")  # fmt: skip
def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: Any = None, dim: Any = None
) -> Any:
    """-Σ labels · log softmax(logits), for each row."""
    x = of_kinds(logits, "f")
    return _cross_entropy(labels, x, _dim(x, axis, dim))


@offer("nn.sparse_softmax_cross_entropy_with_logits", type="SparseSoftmaxCrossEntropyWithLogits",
       node="SparseSoftmaxCrossEntropyWithLogits", inside="{last}")  # fmt: skip
def sparse_softmax_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: Any = None) -> Any:
    """As `softmax_cross_entropy_with_logits`, of labels that are the numbers of classes."""
    x, truth = _logits_and_labels(labels, logits)
    index = op("to", of_kinds(truth, "iu"), np.dtype(np.int64))
    if index.ndim != x.ndim - 1:
        raise StaticError(
            f"{index.ndim} dims of labels do not fit {x.ndim} dims of logits", hint="a number for each row"
        )
    own = op("gather", op("log_softmax", x, -1), x.ndim - 1, op("unsqueeze", index, -1))
    return op("neg", op("squeeze", own, -1))


@offer("nn.sigmoid_cross_entropy_with_logits", type="AddV2", node="logistic_loss")
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: Any = None) -> Any:
    """The cross entropy of independent yes-or-no answers."""
    x = of_kinds(logits, "f")
    truth = tensor(labels, x.dtype)
    positive = op("ge", x, 0)
    hinge = op("sub", op("where", positive, x, 0.0), op("mul", x, truth))
    return op("add", hinge, op("log1p", op("exp", op("where", positive, op("neg", x), x))))


@offer("nn.weighted_cross_entropy_with_logits", type="AddV2", node="logistic_loss")
def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: Any = None, targets: Any = None
) -> Any:
    """As `sigmoid_cross_entropy_with_logits`, with a weight of the yes."""
    x = of_kinds(logits, "f")
    truth = tensor(targets if labels is None else labels, x.dtype)
    weight = op("add", op("mul", truth, pos_weight - 1), 1)
    soft = op("add", op("log1p", op("exp", op("neg", op("abs", x)))), op("relu", op("neg", x)))
    return op("add", op("mul", op("sub", 1, truth), x), op("mul", weight, soft))


# Biases and normalization ---------------------------------------------------------------------------------------------


@offer("nn.bias_add", type="BiasAdd")
def bias_add(value: Any, bias: Any, data_format: Any = None, name: Any = None) -> Any:
    """A bias for each channel, which is the last dim."""
    x = of_kinds(value, "fi")
    added = tensor(bias, x.dtype)
    if data_format not in (None, "NHWC", "N...C"):
        raise StaticError(f"data_format={data_format!r} is not here", hint="channels come last: NHWC")
    if added.ndim != 1 or (x.shape[-1] is not None and added.shape[0] not in (None, x.shape[-1])):
        raise StaticError(
            f"a bias of shape {tuple(added.shape)} does not fit {x.shape[-1]} channels", hint="one for each channel"
        )
    return op("add", x, added)


@offer("nn.xw_plus_b", type="BiasAdd", node="xw_plus_b")
def xw_plus_b(x: Any, weights: Any, biases: Any, name: Any = None) -> Any:
    """x·weights + biases."""
    rows = of_kinds(x, "f")
    return bias_add(op("matmul", rows, tensor(weights, rows.dtype)), biases)


@offer("nn.relu_layer", type="Relu", node="relu_layer")
def relu_layer(x: Any, weights: Any, biases: Any, name: Any = None) -> Any:
    """relu(x·weights + biases)."""
    return op("relu", xw_plus_b(x, weights, biases))


@offer("nn.batch_normalization", type="AddV2", node="batchnorm")
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: Any = None
) -> Any:
    """(x - mean)·scale/√(variance + epsilon) + offset."""
    values = of_kinds(x, "f")
    if isinstance(variance, list | tuple):
        raise StaticError("the variance of batch_normalization is a list", hint="tf.constant([...])")
    factor = op("rsqrt", op("add", tensor(variance, values.dtype), variance_epsilon))
    if scale is not None:
        factor = op("mul", factor, tensor(scale, values.dtype))
    moved = op("mul", tensor(mean, values.dtype), factor)
    shift = op("neg", moved) if offset is None else op("sub", tensor(offset, values.dtype), moved)
    return op("add", op("mul", values, factor), shift)


@offer("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize", type="Mul", node="l2_normalize")
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: Any = None, dim: Any = None) -> Any:
    """X over its euclidean norm along dims."""
    values = of_kinds(x, "f")
    chosen = axes(dim if axis is None else axis, values.ndim)
    total = op("sum", op("mul", values, values), chosen, True)
    return op("mul", values, op("rsqrt", op("clamp", total, epsilon)))


@offer("nn.lrn", "nn.local_response_normalization", type="LRN")
def lrn(
    input: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, name: Any = None
) -> Any:
    """Each element over a power of what is around it in the channels."""
    x = of_kinds(input, "f")
    count = x.shape[-1]
    near = np.abs(np.subtract.outer(np.arange(count), np.arange(count))) <= depth_radius
    around = op("matmul", op("mul", x, x), Tensor(near.astype(x.dtype)))
    return op("div", x, op("pow", op("add", op("mul", around, alpha), bias), beta))


# Clipping -------------------------------------------------------------------------------------------------------------


@offer("clip_by_value", type="Maximum", node="clip_by_value")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: Any = None) -> Any:
    """Each element, or the bound that it goes beyond."""
    x = of_kinds(t, "fi")
    least, most = (_bound(x, each) for each in (clip_value_min, clip_value_max))
    return larger(smaller(x, most), least)


def _bound(x: Any, bound: Any) -> Any:
    return pair(x, bound)[1]


@offer("clip_by_norm", type="Identity", node="clip_by_norm")
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: Any = None) -> Any:
    """The tensor, made smaller where its norm is larger than this."""
    x = of_kinds(t, "f")
    dims = tuple(range(x.ndim)) if axes is None else tuple(each % x.ndim for each in axes)
    total = op("sum", op("mul", x, x), dims, True)
    there = op("gt", total, 0)
    safe = op("where", there, total, op("add", op("mul", total, 0), 1))
    norm = op("where", there, op("sqrt", safe), total)
    return op("div", op("mul", x, clip_norm), _at_least(norm, clip_norm))


def _at_least(x: Any, least: Any) -> Any:
    return larger(x, _bound(x, least))


@offer("clip_by_average_norm", type="Mul", node="clip_by_average_norm")
def clip_by_average_norm(t: Any, clip_norm: Any, name: Any = None) -> Any:
    """As `clip_by_norm`, of the norm over the number of elements."""
    x = of_kinds(t, "f")
    norm = op("div", op("sqrt", op("sum", op("mul", x, x))), x.numel())
    return op("div", op("mul", x, clip_norm), _at_least(norm, clip_norm))


@offer("clip_by_global_norm", type="Identity", node="clip_by_global_norm")
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: Any = None) -> Any:
    """The tensors, made smaller together where the norm of all is larger than this; and that norm."""
    given = [None if each is None else of_kinds(each, "f") for each in t_list]
    parts = [op("sum", op("mul", x, x)) for x in given if x is not None]
    norm = op("sqrt", op("sum", op("stack", parts, 0))) if use_norm is None else tensor(use_norm)
    scale = op("mul", smaller(op("reciprocal", norm), 1.0 / clip_norm), clip_norm)
    return [None if x is None else op("mul", x, scale) for x in given], norm


# Dropout --------------------------------------------------------------------------------------------------------------


@offer("nn.dropout", type="SelectV2", node="dropout", inside="SelectV2", shape=like("x"))
def dropout(
    x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: Any = None, name: Any = None, rate: Any = None
) -> Any:
    """Elements kept with a probability, larger for it; the others are 0."""
    values = of_kinds(x, "f")
    if keep_prob is not None and rate is not None:
        raise StaticError("keep_prob and rate are both given", hint="give rate, which is 1 - keep_prob")
    if keep_prob is None and rate is None:
        raise StaticError("dropout needs to know how much", hint="tf.nn.dropout(x, keep_prob=0.5), or rate=0.5")
    kept = keep_prob if rate is None else 1 - rate
    if isinstance(kept, int | float) and not 0 < kept <= 1:
        raise StaticError(f"elements can't be kept with probability {kept}", hint="rate is at least 0 and below 1")
    if noise_shape is not None or seed is not None:
        raise StaticError("dropout takes neither noise_shape nor seed here", hint="gs.manual_seed(0) makes runs alike")
    if isinstance(kept, int | float) and kept == 1:
        return op("clone", values)
    chosen = op("bernoulli", op("add", op("mul", op("detach", values), 0), kept))
    return op("mul", op("div", values, kept), chosen)
