"""Normalization by the mean square alone: of the last dims, or of the channels near each.

Source: Zhang and Sennrich, "Root mean square layer normalization", 2019, section 3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.op import joint
from graphscope.engine.ops.exponential import rsqrt
from graphscope.engine.ops.normalization import normalized_sizes
from graphscope.engine.ops.reduce import mean

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
    tensor_method=False, grad_name="MulBackward0",
    prepare=_to_rms_norm,
    forward=_rms, accumulates=True,
    vjp=[joint(_rms_rule), joint(_rms_rule)],
    shape=shapes.same,
    samples=[((2, 3), {"normalized_shape": (3,)}), ((2, 2, 3), {"normalized_shape": (2, 3), "eps": 0.1})],
)  # fmt: skip
