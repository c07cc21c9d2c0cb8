"""Ops of networks: the linear layer, softmax, and the losses."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from graphscope.engine import shapes
from graphscope.engine.calls import define
from graphscope.engine.ops.elementwise import exp, sign
from graphscope.engine.ops.index import put
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import expand
from graphscope.engine.tensor import Tensor

__all__ = [
    "log_softmax",
    "softmax",
]

REDUCTIONS: Final = ("mean", "sum", "none")


def _softmax(x: Any, *, dim: int) -> Any:
    powers = np.exp(x - np.maximum.reduce(x, axis=dim, keepdims=True, initial=-np.inf))
    return powers / np.add.reduce(powers, axis=dim, keepdims=True)


def _log_softmax(x: Any, *, dim: int) -> Any:
    shifted = x - np.maximum.reduce(x, axis=dim, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=dim, keepdims=True))


def _to_softmax(x: Any, dim: int = -1) -> Any:
    return (x,), {"dim": dim}


softmax = define(
    "softmax", "Exponentials, scaled so that they sum to 1 along a dim.", formula="out = e^x / Σ e^x",
    prepare=_to_softmax,
    forward=_softmax,
    vjp=[lambda g, out, *, dim: out * (g - sum(g * out, dim, True))],
    shape=shapes.same,
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": 0})],
)  # fmt: skip

log_softmax = define(
    "log_softmax", "Logarithm of softmax, computed without overflow.", formula="out = x - ln Σ e^x",
    prepare=_to_softmax,
    forward=_log_softmax,
    vjp=[lambda g, out, *, dim: g - exp(out) * sum(g, dim, True)],
    shape=shapes.same,
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": 0})],
)  # fmt: skip


def _linear(x: Any, y: Any, z: Any = None) -> Any:
    out = np.matmul(x, y.T)
    if z is not None:
        out += z
    return out


def _to_linear(input: Any, weight: Any, bias: Any = None) -> Any:
    return (input, weight) if bias is None else (input, weight, bias), {}


def _linear_shape(x: Any, y: Any, z: Any = ()) -> Any:
    return shapes.matmul(x, y[::-1])


def _linear_weight_rule(g: Any, x: Any) -> Any:
    if len(g.shape) == 1:
        return g.reshape(-1, 1) * x
    return g.reshape(-1, g.shape[-1]).T @ x.reshape(-1, x.shape[-1])


linear = define(
    "linear", "Linear map of the last dim: x times the transposed weight y, plus the bias z.",
    formula="out = x · yᵀ + z", tensor_method=False, grad_name="AddmmBackward0",
    prepare=_to_linear,
    forward=_linear,
    vjp=[lambda g, y: g @ y,
         _linear_weight_rule,
         lambda g: g],
    shape=_linear_shape,
    samples=[((2, 3), (4, 3), (4,)), ((2, 3), (4, 3)), ((3,), (4, 3), (4,)), ((5, 2, 3), (4, 3), (4,))],
)  # fmt: skip


def _picked(classes: Any, total: int) -> tuple[Any, ...]:
    """The index of the element of each sample's class; the classes are dim 1, or dim 0 of a single sample."""
    if total == 1:
        return (classes,)
    if total == 2:
        return np.arange(classes.size), classes
    first, *rest = np.ogrid[tuple(slice(size) for size in classes.shape)]
    return (first, classes, *rest)


def _nll_shape(x: Any, y: Any, *, reduction: str, _from: Any) -> Any:
    return y if reduction == "none" else ()


def _loss_shape(x: Any, y: Any, *, reduction: str, _from: Any) -> Any:
    return shapes.broadcast(x, y) if reduction == "none" else ()


def _nll_loss(x: Any, y: Any, *, reduction: str, _from: Any) -> Any:
    if y.dtype.kind not in "iu" or y.shape != (_from[:1] + _from[2:] if len(_from) > 1 else ()):
        raise ValueError(f"the target must be class numbers: integers, one for each sample, not {y.dtype}{y.shape}")
    losses = -x[_picked(y, len(_from))]
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=None)
    return total if reduction == "sum" else total / losses.dtype.type(y.size)


def _nll_loss_rule(g: Any, y: Any, *, reduction: str, _from: Any) -> Any:
    classes = y.data if isinstance(y, Tensor) else y
    g = -g / classes.size if reduction == "mean" else -g
    return put(g if reduction == "none" else expand(g, classes.shape), _picked(classes, len(_from)), _from)


def _to_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction!r} is no valid value for reduction: choose among {', '.join(REDUCTIONS)}")
    return (input, target), {"reduction": reduction, "_from": input.shape}


nll_loss = define(
    "nll_loss", "Negative logarithm of each sample's probability for its class y, from log-probabilities x.",
    formula="out = -mean x[i, y_i]", tensor_method=False, promotes=False,
    prepare=_to_loss,
    forward=_nll_loss,
    vjp=[_nll_loss_rule,
         None],
    shape=_nll_shape,
    samples=[((3, 4), np.array([1, 3, 0])), ((3, 4), np.array([1, 3, 3]), {"reduction": "sum"}),
             ((3, 4), np.array([1, 3, 0]), {"reduction": "none"}), ((4,), np.array(2)),
             ((2, 3, 2), np.array([[0, 2], [1, 1]]))],
)  # fmt: skip


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=None)
    return total if reduction == "sum" else total / losses.dtype.type(losses.size)


def _share(g: Any, x: Any, y: Any, reduction: str) -> Any:
    """The cotangent of each sample's loss."""
    if reduction != "mean":
        return g
    return g / math.prod(np.broadcast_shapes(x.shape, y.shape))


def _squared(x: Any, y: Any, *, reduction: str, _from: Any) -> Any:
    difference = x - y
    return _reduced(difference * difference, reduction)


mse_loss = define(
    "mse_loss", "Squared differences.", formula="out = mean (x - y)²", tensor_method=False,
    prepare=_to_loss,
    forward=_squared,
    vjp=[lambda g, x, y, *, reduction: _share(g, x, y, reduction) * 2 * (x - y),
         lambda g, x, y, *, reduction: _share(g, x, y, reduction) * 2 * (y - x)],
    shape=_loss_shape,
    samples=[((2, 3), (2, 3)), ((2, 3), (2, 3), {"reduction": "sum"}), ((2, 3), (2, 3), {"reduction": "none"}),
             ((), ())],
)  # fmt: skip

l1_loss = define(
    "l1_loss", "Absolute differences.", formula="out = mean |x - y|", tensor_method=False,
    prepare=_to_loss,
    forward=lambda x, y, *, reduction, _from: _reduced(np.abs(x - y), reduction),
    vjp=[lambda g, x, y, *, reduction: _share(g, x, y, reduction) * sign(x - y),
         lambda g, x, y, *, reduction: _share(g, x, y, reduction) * sign(y - x)],
    shape=_loss_shape,
    samples=[((2, 3), (2, 3)), ((2, 3), (2, 3), {"reduction": "sum"}), ((2, 3), (2, 3), {"reduction": "none"})],
)  # fmt: skip
