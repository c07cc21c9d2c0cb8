"""Losses of each element: a function of input and target, and its mean or sum."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.precision import accumulator
from graphscope.engine.ops.exponential import log, sigmoid
from graphscope.engine.ops.index import where
from graphscope.engine.ops.reduce import mean, sum
from graphscope.engine.ops.signs import abs as absolute
from graphscope.engine.ops.signs import sgn, sign
from graphscope.engine.ops.smooth_activations import logsigmoid

__all__ = ["binary_cross_entropy_with_logits"]

REDUCTIONS: Final = ("mean", "sum", "none")


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """What `reduction` says, or the two arguments that came before it.

    Raises:
        ValueError: There is no such reduction.
    """
    if size_average is not None or reduce is not None:
        return "none" if reduce is False else "sum" if size_average is False else "mean"
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction!r} is not a valid value for reduction: choose among {', '.join(REDUCTIONS)}")
    return reduction


def reduced(losses: Any, reduction: str) -> Any:
    """The mean or the sum of losses, or the losses themselves."""
    return losses if reduction == "none" else mean(losses) if reduction == "mean" else sum(losses)


def reduced_array(losses: Any, reduction: str) -> Any:
    """`reduced`, of an array."""
    if reduction == "none":
        return losses
    dtype = accumulator(losses.dtype)
    total = np.add.reduce(losses, axis=None, dtype=dtype)
    out = total if reduction == "sum" else total / dtype.type(losses.size)
    return out if dtype is losses.dtype else losses.dtype.type(out)


def loss_shape(*shapes_: Any, reduction: str = "mean", **_: Any) -> Any:
    """The shape of a loss of each element."""
    return shapes.broadcast(*shapes_) if reduction == "none" else ()


def _share(g: Any, x: Any, y: Any, reduction: str) -> Any:
    """The cotangent of each element's loss."""
    return g / max(math.prod(np.broadcast_shapes(x.shape, y.shape)), 1) if reduction == "mean" else g


def _to_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Any:
    return (input, target), {"reduction": reduction_of(size_average, reduce, reduction)}


_SAMPLES: Final[list[Any]] = [
    ((2, 3), (2, 3)), ((2, 3), (2, 3), {"reduction": "sum"}), ((2, 3), (2, 3), {"reduction": "none"}), ((), ())
]  # fmt: skip


def _squared(x: Any, y: Any, *, reduction: str) -> Any:
    difference = x - y
    return reduced_array(difference * difference, reduction)


mse_loss = define(
    "mse_loss", "Squared differences.", tensor_method=False,
    torch="nn.functional.mse_loss",
    prepare=_to_loss,
    forward=_squared,
    vjp=[lambda g, x, y, *, reduction: _share(g, x, y, reduction) * 2 * (x - y),
         lambda g, x, y, *, reduction: _share(g, x, y, reduction) * 2 * (y - x)],
    shape=loss_shape,
    samples=_SAMPLES,
)  # fmt: skip

l1_loss = define(
    "l1_loss", "Absolute differences.", tensor_method=False,
    torch="nn.functional.l1_loss",
    grad_name=lambda attrs: {"mean": "MeanBackward0", "sum": "SumBackward0"}.get(attrs["reduction"], "AbsBackward0"),
    prepare=_to_loss,
    forward=lambda x, y, *, reduction: reduced_array(np.abs(x - y), reduction),
    vjp=[lambda g, x, y, *, reduction: _share(g, x, y, reduction) * sgn(x - y),
         lambda g, x, y, *, reduction: _share(g, x, y, reduction) * sgn(y - x)],
    shape=loss_shape,
    samples=_SAMPLES,
)  # fmt: skip


def _huber(x: Any, y: Any, *, reduction: str, delta: float, scale: float) -> Any:
    size = np.abs(x - y)
    losses = np.where(size < delta, size * size * 0.5, delta * (size - 0.5 * delta)) * x.dtype.type(scale)
    return reduced_array(losses, reduction)


def _huber_rule(g: Any, x: Any, y: Any, reduction: str, delta: float, scale: float) -> Any:
    difference = x - y
    slope = where(absolute(difference) < delta, difference, sign(difference) * delta)
    return _share(g, x, y, reduction) * slope * scale


def _piecewise_loss(name: str, prepare: Any, samples: Any) -> Any:
    return define(
        name, "Squared differences where they are small, absolute ones elsewhere.", tensor_method=False,
        torch=f"nn.functional.{name}",
        prepare=prepare,
        forward=_huber,
        vjp=[lambda g, x, y, *, reduction, delta, scale: _huber_rule(g, x, y, reduction, delta, scale),
             lambda g, x, y, *, reduction, delta, scale: _huber_rule(g, y, x, reduction, delta, scale)],
        shape=loss_shape,
        samples=[*_SAMPLES, *samples],
    )  # fmt: skip


def _to_huber(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    if delta <= 0:
        raise RuntimeError(f"huber_loss: delta is {delta}; it must be positive")
    return (input, target), {"reduction": reduction_of(None, None, reduction), "delta": delta, "scale": 1.0}


def _to_smooth_l1(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss: beta is {beta}; it must not be negative")
    attrs = {"reduction": reduction_of(size_average, reduce, reduction), "delta": beta, "scale": 1 / beta}
    return (input, target), attrs


huber_loss = _piecewise_loss("huber_loss", _to_huber, [((2, 3), (2, 3), {"delta": 0.3})])
_smooth_l1 = _piecewise_loss("smooth_l1_loss", _to_smooth_l1, [((2, 3), (2, 3), {"beta": 0.3})])


def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Squared differences where they are below `beta`, absolute ones elsewhere; with `beta` 0 all are absolute."""
    if beta == 0:
        return l1_loss(input, target, size_average, reduce, reduction)
    return _smooth_l1(input, target, size_average, reduce, reduction, beta)


def _to_weighted(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"using a target of shape {tuple(target.shape)} that is different to the input of shape "
            f"{tuple(input.shape)} is not allowed: give both the same shape"
        )
    return (input, target, weight), {"reduction": reduction_of(size_average, reduce, reduction)}


def _weighted(losses: Any, weight: Any) -> Any:
    return losses if weight is None else losses * weight


def _bce(x: Any, y: Any, z: Any, *, reduction: str) -> Any:
    if x.size and (x.min() < 0 or x.max() > 1):
        raise ValueError("all elements of input should be between 0 and 1: probabilities, as sigmoid makes them")
    likely, unlikely = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return reduced_array(_weighted((y - 1) * unlikely - y * likely, z), reduction)


def _bce_rule(g: Any, x: Any, y: Any, z: Any, *, reduction: str) -> Any:
    room = x * (1.0 - x)
    room = where(room < 1e-12, 1e-12, room)
    return _weighted(_share(g, x, y, reduction), z) * (x - y) / room


binary_cross_entropy = define(
    "binary_cross_entropy", "Negative logarithm of the probability x that is given to the target y, 0 or 1 or between.",
    tensor_method=False,
    torch="nn.functional.binary_cross_entropy",
    prepare=_to_weighted,
    forward=_bce,
    vjp=[_bce_rule,
         lambda g, x, y, z, *, reduction: _weighted(_share(g, x, y, reduction), z) * (log(1.0 - x) - log(x)),
         None],
    shape=lambda x, y, z=(), *, reduction: loss_shape(x, y, reduction=reduction),
    samples=[("fraction", (2, 3), np.array([[0.0, 1, 0.5], [1, 1, 0]])),
             ("fraction", (2, 3), np.array([[0.0, 1, 0], [1, 1, 0]]), {"reduction": "sum"})],
)  # fmt: skip


def _to_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"target size {tuple(target.shape)} must be the same as input size {tuple(input.shape)}")
    return (input, target, weight, pos_weight), {"reduction": reduction_of(size_average, reduce, reduction)}


def _bce_logits(x: Any, y: Any, z: Any, w: Any, *, reduction: str) -> Any:
    surplus = np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)  # -ln σ(x)
    positive = 1 if w is None else 1 + (w - 1) * y
    return reduced_array(_weighted((1 - y) * x + positive * surplus, z), reduction)


def _bce_logits_rule(g: Any, x: Any, y: Any, z: Any, w: Any, *, reduction: str) -> Any:
    positive = y if w is None else y * w
    return _weighted(_share(g, x, y, reduction), z) * ((positive + 1.0 - y) * sigmoid(x) - positive)


def _bce_target_rule(g: Any, x: Any, y: Any, z: Any, w: Any, *, reduction: str) -> Any:
    likely = logsigmoid(x)
    return _weighted(_share(g, x, y, reduction), z) * (logsigmoid(-x) - (likely if w is None else likely * w))


binary_cross_entropy_with_logits = define(
    "binary_cross_entropy_with_logits", "Negative logarithm of the probability σ(x) that is given to the target y.",
    tensor_method=False,
    torch="nn.functional.binary_cross_entropy_with_logits",
    prepare=_to_logits,
    forward=_bce_logits,
    vjp=[_bce_logits_rule,
         _bce_target_rule,
         None,
         None],
    shape=lambda x, y, *_, reduction: loss_shape(x, y, reduction=reduction),
    samples=[((2, 3), (2, 3)), ((2, 3), np.array([[0.0, 1, 0], [1, 1, 0]]), {"reduction": "sum"}),
             ((2, 3), np.array([[0.0, 1, 0.5], [1, 1, 0]]), {"reduction": "none"})],
)  # fmt: skip
