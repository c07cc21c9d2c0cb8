"""Distributions of vectors, and of values that belong together."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from graphscope.engine.core import generator as random
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.distributions.distribution import Distribution
from graphscope.engine.ops.decompositions import cholesky
from graphscope.engine.ops.elementwise import digamma, lgamma, log, xlogy
from graphscope.engine.ops.inverses import inverse, solve_triangular
from graphscope.engine.ops.linalg import matmul
from graphscope.engine.ops.randoms import randn
from graphscope.engine.ops.shape import broadcast_to


class Independent(Distribution):
    """Distributions whose last `reinterpreted_batch_ndims` batch dims become dims of one value."""

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        split = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        super().__init__(shape[:split], shape[split:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """As of the distribution inside."""
        return bool(self.base_dist.has_rsample)

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def expand(self, batch_shape: Any) -> Any:
        inner = self.base_dist.expand((*batch_shape, *self._event_shape[: self.reinterpreted_batch_ndims]))
        return Independent(inner, self.reinterpreted_batch_ndims)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def summed(self, x: Any) -> Any:
        """Sums over the dims that belong to one value."""
        return x.sum(tuple(range(-self.reinterpreted_batch_ndims, 0))) if self.reinterpreted_batch_ndims else x

    def log_prob(self, value: Any) -> Any:
        return self.summed(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        return self.summed(self.base_dist.entropy())

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class MultivariateNormal(Distribution):
    """Gauss's distribution of vectors, with one of: covariance, its inverse, its Cholesky factor."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        ((name, matrix),) = chosen = [(key, value) for key, value in given.items() if value is not None] or [("", None)]
        if len(chosen) != 1 or matrix is None:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        batch = np.broadcast_shapes(tuple(loc.shape[:-1]), tuple(matrix.shape[:-2]))
        size = int(loc.shape[-1])
        self.loc = broadcast_to(loc, (*batch, size))
        self.__dict__[name] = broadcast_to(matrix, (*batch, size, size))
        super().__init__(batch, (size,), validate_args)
        self._factor = self.__dict__["scale_tril"] if name == "scale_tril" else cholesky(self.covariance_matrix)

    def __getattr__(self, name: str) -> Any:
        if name == "scale_tril":
            return self._factor
        if name == "covariance_matrix":
            held = self.__dict__
            return inverse(held["precision_matrix"]) if "precision_matrix" in held else self._square()
        if name == "precision_matrix":
            return inverse(self.covariance_matrix)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _square(self) -> Any:
        return matmul(self.scale_tril, self.scale_tril.mT)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return (self.scale_tril**2).sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        normal = randn(*self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + matmul(self.scale_tril, normal.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Any:
        return log(self.scale_tril.diagonal(0, -2, -1)).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        away = solve_triangular(self.scale_tril, (value - self.loc).unsqueeze(-1), upper=False).squeeze(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + (away * away).sum(-1)) - self._half_log_det()

    def entropy(self) -> Any:
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()


class Dirichlet(Distribution):
    """Shares that sum to 1; no gradient flows through its samples here."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": constraints.positive_vector}
    support = constraints.simplex

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def sample(self, sample_shape: Any = ()) -> Any:
        drawn = random.generator().standard_gamma(self.concentration.array, self._extended_shape(sample_shape))
        drawn = np.maximum(drawn, np.finfo(self.concentration.dtype).tiny)
        return Tensor((drawn / drawn.sum(-1, keepdims=True)).astype(self.concentration.dtype))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        a = self.concentration
        return xlogy(a - 1, value).sum(-1) + lgamma(a.sum(-1)) - lgamma(a).sum(-1)

    def entropy(self) -> Any:
        a, count = self.concentration, self._event_shape[0]
        total = a.sum(-1)
        return lgamma(a).sum(-1) - lgamma(total) - (count - total) * digamma(total) - ((a - 1) * digamma(a)).sum(-1)
