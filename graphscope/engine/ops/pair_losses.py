"""Losses of pairs and triples, of distributions and their parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.distances import pairwise_distance
from graphscope.engine.ops.exponential import exp, log, sqrt, xlogy
from graphscope.engine.ops.extremes import minimum
from graphscope.engine.ops.index import where
from graphscope.engine.ops.losses import loss_shape, reduced, reduction_of
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.rounding import clamp_min, relu

__all__ = ["cosine_embedding_loss", "kl_div", "triplet_margin_loss"]

_SIGNS = np.array([1, -1])


def _rows_shape(x: Any, *_: Any, reduction: str = "mean", **__: Any) -> Any:
    return x[:-1] if reduction == "none" else ()


@composite(
    "Divergence of log-probabilities x from probabilities y (Kullback and Leibler).",
    samples=[((2, 3), np.array([[0.2, 0.3, 0.5], [0.0, 0.9, 0.1]]), {"reduction": "sum"}),
             ((2, 3), (2, 3), {"log_target": True, "reduction": "none"}),
             ((2, 3), np.array([[0.2, 0.3, 0.5], [0.0, 0.9, 0.1]]), {"reduction": "batchmean"})],
    torch="nn.functional.kl_div", shape=loss_shape,
)  # fmt: skip
def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """Divergence of log-probabilities from probabilities.

    Args:
        input: Log-probabilities.
        target: Probabilities, or with `log_target` their logarithms.
        size_average: Superseded by `reduction`.
        reduce: Superseded by `reduction`.
        reduction: `batchmean` divides by the samples alone, `mean` by all elements, as PyTorch does.
        log_target: Whether the target is given by logarithms.
    """
    losses = exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean" and size_average is None and reduce is None:
        return sum(losses) / input.shape[0]
    return reduced(losses, reduction_of(size_average, reduce, reduction))


@composite(
    "Negative log-likelihood of targets y under normal distributions of mean x and given variance.",
    formula="out = mean (ln var + (x - y)² / var) / 2",
    torch="nn.functional.gaussian_nll_loss", shape=loss_shape,
    samples=[((2, 3), (2, 3), np.array([[0.5, 1, 2], [3, 1, 0.2]])),
             ((2, 3), (2, 3), np.array([[0.5], [2.0]]), {"full": True})],
)  # fmt: skip
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """Negative log-likelihood of targets under normal distributions; variances below `eps` count as `eps`.

    Raises:
        ValueError: A variance is negative, or of a shape that does not fit.
    """
    if not isinstance(var, Tensor):
        var = Tensor(np.full(input.shape, var, input.dtype)[()])
    if tuple(var.shape) != tuple(input.shape):
        if tuple(var.shape) == tuple(input.shape[:-1]):
            var = var.reshape(*var.shape, 1)
        elif tuple(var.shape) != (*input.shape[:-1], 1) and var.numel() != 1:
            raise ValueError(
                f"gaussian_nll_loss: var of shape {tuple(var.shape)} does not fit input of {tuple(input.shape)}"
            )
    if (var.array < 0).any():
        raise ValueError("gaussian_nll_loss: var has negative entries")
    held = var + clamp_min(-var.detach() + eps, 0.0)
    difference = input - target
    losses = (log(held) + difference * difference / held) * 0.5
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction_of(None, None, reduction))


@composite(
    "How much two vectors that belong together (y = 1) differ in direction, or others are too alike.",
    formula="out = mean (1 - cos if y = 1 else max(0, cos - margin))",
    torch="nn.functional.cosine_embedding_loss", shape=_rows_shape,
    samples=[((2, 3), (2, 3), _SIGNS), ((2, 3), (2, 3), _SIGNS, {"margin": -0.5})],
)  # fmt: skip
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """How much vectors that belong together differ in direction; of others, how far their cosine is above a margin."""
    small = 1e-12  # PyTorch's
    product = sum(input1 * input2, -1)
    lengths = (sum(input1 * input1, -1) + small) * (sum(input2 * input2, -1) + small)
    cosine = product / sqrt(lengths)
    near = where(target == 1, 1.0 - cosine, 0.0)
    far = where(target == -1, relu(cosine - margin), 0.0)
    return reduced(near + far, reduction_of(size_average, reduce, reduction))


@composite(
    "How far an anchor is from being nearer to the positive than to the negative by a margin.",
    formula="out = mean max(0, d(a, p) - d(a, n) + margin)",
    torch="nn.functional.triplet_margin_loss", shape=_rows_shape,
    samples=[((2, 3), (2, 3), (2, 3)), ((2, 3), (2, 3), (2, 3), {"swap": True, "p": 1.0, "margin": 0.5})],
)  # fmt: skip
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """How far an anchor is from being nearer to the positive than to the negative by a margin.

    Source: Balntas and others: Learning shallow convolutional feature descriptors with triplet losses, 2016.
    """
    if margin <= 0:
        raise ValueError(f"triplet_margin_loss: margin must be greater than 0, got {margin}")
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(relu(near - far + margin), reduction_of(size_average, reduce, reduction))
