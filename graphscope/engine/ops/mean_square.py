"""Normalization by the mean square alone: of the last dims, or of the channels near each.

Source: Zhang and Sennrich, "Root mean square layer normalization", 2019, section 3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.core.op import joint
from graphscope.engine.ops.exponential import rsqrt
from graphscope.engine.ops.normalization import normalized_sizes
from graphscope.engine.ops.pad import pad
from graphscope.engine.ops.pooling import avg_pool1d
from graphscope.engine.ops.reduce import mean
from graphscope.engine.ops.shape import reshape

__all__ = ["rms_norm"]


def _rms(x: Any, y: Any = None, *, normalized_shape: Any, eps: float, _dims: Any) -> Any:
    scale = 1 / np.sqrt(
        np.add.reduce(x * x, axis=_dims, keepdims=True) / x.dtype.type(math.prod(normalized_shape)) + eps
    )
    out = x * scale
    return out if y is None else np.multiply(out, y, out=out)


def _rms_rule(g: Any, x: Any, y: Any, *, eps: float, _dims: Any) -> Any:
    scale = rsqrt(mean(x * x, _dims, True) + eps)
    unit = x * scale
    inner = g if y is None else g * y
    return scale * (inner - unit * mean(inner * unit, _dims, True)), None if y is None else g * unit


def _to_rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    inner = normalized_sizes("rms_norm", input.shape, normalized_shape, None if weight is None else weight.shape)
    eps = float(np.finfo(input.dtype).eps) if eps is None else eps
    return (input, weight), {"normalized_shape": inner, "eps": eps, "_dims": tuple(range(-len(inner), 0))}


rms_norm = define(
    "rms_norm", "The last dims over the root of their mean square, times the weight y.",
    formula="out = x / √(mean x² + eps) · y", tensor_method=False, grad_name="MulBackward0",
    prepare=_to_rms_norm,
    forward=_rms, accumulates=True,
    vjp=[joint(_rms_rule), joint(_rms_rule)],
    shape=shapes.same,
    samples=[((2, 3), {"normalized_shape": (3,)}), ((2, 2, 3), {"normalized_shape": (2, 3), "eps": 0.1})],
)  # fmt: skip


@composite(
    "Channels, over a power of the mean square of the channels near them.",
    formula="out = x / (k + alpha · mean x²)^beta", shape=shapes.same,
    samples=[((1, 4, 3), {"size": 2}), ((2, 3, 2, 2), {"size": 3, "alpha": 0.5})],
    torch="nn.functional.local_response_norm",
)  # fmt: skip
def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Each channel, over a power of the mean square of the `size` channels around it.

    Source: Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, 2012.
    """
    shape = tuple(input.shape)
    if len(shape) < 3:
        raise ValueError(f"local_response_norm: the input must have at least 3 dims, not shape {shape}")
    square = reshape(input * input, (shape[0], shape[1], math.prod(shape[2:]))).mT
    near = avg_pool1d(pad(square, (size // 2, (size - 1) // 2)), size, 1)
    return input / (reshape(near.mT, shape) * alpha + k) ** beta
