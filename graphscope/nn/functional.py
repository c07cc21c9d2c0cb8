"""What layers compute, as functions: activations, softmax, the linear map, losses."""

from __future__ import annotations

from typing import Any

from graphscope.engine.ops.elementwise import relu, sigmoid, tanh
from graphscope.engine.ops.nn import l1_loss, linear, log_softmax, mse_loss, nll_loss, softmax
from graphscope.engine.tensor import Tensor

__all__ = [
    "cross_entropy",
    "l1_loss",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
]


def cross_entropy(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    """Cross-entropy between what logits predict and the target: class numbers, or a probability for each class.

    Args:
        input: Logits; the classes are dim 1, or dim 0 of a single sample.
        target: Class numbers (integers), or probabilities of the shape of `input`.
        reduction: `mean` over the samples, `sum`, or `none` for a loss each.

    Raises:
        RuntimeError: The target is of neither kind.
    """
    logarithms = log_softmax(input, 1 if input.data.ndim > 1 else 0)
    if target.data.dtype.kind != "f":
        return nll_loss(logarithms, target, reduction)
    if target.data.shape != input.data.shape:
        raise RuntimeError(
            f"cross_entropy: probabilities of shape {target.data.shape} do not fit logits of shape {input.data.shape}"
        )
    losses: Any = -(logarithms * target).sum(1 if input.data.ndim > 1 else 0)
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()
