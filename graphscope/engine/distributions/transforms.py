"""Functions of random values, with what they do to densities: by these, distributions are made of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.transform import (
    ComposeTransform,
    IndependentTransform,
    Transform,
    identity_transform,
    sum_last,
)
from graphscope.engine.ops.elementwise import atanh, exp, log, log1p, sigmoid, tanh
from graphscope.engine.ops.like_others import zeros_like
from graphscope.engine.ops.shape import broadcast_to
from graphscope.engine.ops.smooth_activations import softplus

__all__ = [
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "IndependentTransform",
    "SigmoidTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class ExpTransform(Transform):
    """y = eˣ."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return exp(x)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


def _within(y: Any) -> Any:
    """Shares that are neither 0 nor 1."""
    found = np.finfo(y.dtype)
    return y.clamp(min=float(found.tiny), max=1 - float(found.eps))


class SigmoidTransform(Transform):
    """y = 1 / (1 + e⁻ˣ)."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return _within(sigmoid(x))

    def _inverse(self, y: Any) -> Any:
        y = _within(y)
        return log(y) - log1p(-y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh x."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return tanh(x)

    def _inverse(self, y: Any) -> Any:
        return atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AffineTransform(Transform):
    """y = loc + scale · x; values may be vectors or matrices, of `event_dim` dims."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)
        self.sign = scale.sign() if isinstance(scale, Tensor) else int(np.sign(scale))

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if isinstance(self.scale, Tensor):
            stretch = broadcast_to(log(self.scale.abs()), tuple(x.shape))
        else:
            stretch = zeros_like(x) + math.log(abs(self.scale))
        return sum_last(stretch, self.event_dim)


_answer_for(__name__)
