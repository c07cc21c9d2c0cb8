"""Functions of random values, with what they do to densities: by these, distributions are made of others."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.distributions.transform import (
    ComposeTransform,
    IndependentTransform,
    Transform,
    identity_transform,
    sum_last,
)
from graphscope.engine.ops.cumulative import cumprod, cumsum
from graphscope.engine.ops.elementwise import atanh, exp, expm1, log, log1p, sigmoid, tanh
from graphscope.engine.ops.like_others import ones_like, zeros_like
from graphscope.engine.ops.pad import pad
from graphscope.engine.ops.shape import broadcast_to
from graphscope.engine.ops.smooth_activations import logsigmoid, softplus
from graphscope.engine.ops.softmax import softmax

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StickBreakingTransform",
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


class PowerTransform(Transform):
    """y = x^exponent, of positive numbers."""

    domain = codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent if isinstance(exponent, Tensor) else Tensor(np.float32(exponent))
        self.sign = self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _inverse(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return log((self.exponent * y / x).abs())


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


class SoftplusTransform(Transform):
    """y = ln(1 + eˣ)."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return log(-expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class AbsTransform(Transform):
    """y = |x|, which has no inverse but y itself."""

    codomain = constraints.positive
    bijective = False

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


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


class SoftmaxTransform(Transform):
    """y = softmax x, over the last dim; x is not to be had again but for a constant."""

    domain: ClassVar[Constraint] = constraints.real_vector  # type: ignore[misc]
    codomain = constraints.simplex
    bijective = False

    def _call(self, x: Any) -> Any:
        return softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return log(y)


class StickBreakingTransform(Transform):
    """Shares of a stick, from numbers that say how much of what is left breaks off: one share more than numbers."""

    domain: ClassVar[Constraint] = constraints.real_vector  # type: ignore[misc]
    codomain = constraints.simplex

    @staticmethod
    def _left(x: Any) -> Any:
        """How many shares are still to come, at each break, as logarithms."""
        return log(x.shape[-1] + 1 - cumsum(ones_like(x), -1))

    def _call(self, x: Any) -> Any:
        broken = _within(sigmoid(x - self._left(x)))
        return pad(broken, (0, 1), value=1) * pad(cumprod(1 - broken, -1), (1, 0), value=1)

    def _inverse(self, y: Any) -> Any:
        shares = y[..., :-1]
        rest = (1 - cumsum(shares, -1)).clamp(min=float(np.finfo(y.dtype).tiny))
        return log(shares) - log(rest) + self._left(shares)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._left(x)
        return (-x + logsigmoid(x) + log(y[..., :-1])).sum(-1)

    def forward_shape(self, shape: Any) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] - 1)
