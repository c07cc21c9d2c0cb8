"""Distributions of values that belong together."""

from __future__ import annotations

from typing import Any

from graphscope.engine.distributions.distribution import Distribution


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
