"""Distributions made of others: by transforms of their values, and by mixing them."""

from __future__ import annotations

from typing import Any

from graphscope.engine.core.modes import no_grad
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.distributions.distribution import Distribution
from graphscope.engine.distributions.joint import Independent
from graphscope.engine.distributions.transform import ComposeTransform, Transform, sum_last


class TransformedDistribution(Distribution):
    """The distribution of transformed values of another.

    Args:
        base_distribution: Where values come from.
        transforms: What becomes of them: a transform, or several, the first first.
        validate_args: Whether values are checked.

    Raises:
        ValueError: The base has values of fewer dims than the transforms take.
    """

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms: list[Transform] = [transforms] if isinstance(transforms, Transform) else list(transforms)
        whole = ComposeTransform(self.transforms)
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {shape}."
            )
        missing = whole.domain.event_dim - len(base_distribution.event_shape)
        self.base_dist = Independent(base_distribution, missing) if missing > 0 else base_distribution
        dims = max(len(base_distribution.event_shape), whole.domain.event_dim)
        dims += whole.codomain.event_dim - whole.domain.event_dim
        found = whole.forward_shape(shape)
        self._whole = whole
        super().__init__(found[: len(found) - dims], found[len(found) - dims :], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """As of the distribution inside."""
        return bool(self.base_dist.has_rsample)

    @property
    def support(self) -> Constraint | None:
        """What the last transform gives."""
        if not self.transforms:
            return self.base_dist.support
        given = self.transforms[-1].codomain
        return constraints.independent(given, len(self._event_shape) - given.event_dim)

    def expand(self, batch_shape: Any) -> Any:
        dims = len(self.base_dist.event_shape) - len(self._event_shape)
        shape = self._whole.inverse_shape((*batch_shape, *self._event_shape))
        inner = self.base_dist.expand(shape[: len(shape) - len(self._event_shape) - dims])
        return TransformedDistribution(inner, self.transforms)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Any) -> Any:
        for transform in self.transforms:  # each remembers its own last value, where it is told to
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        dims = len(self._event_shape)
        total: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.undone(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            total = total - sum_last(transform.log_abs_det_jacobian(x, value), dims - transform.domain.event_dim)
            value = x
        return total + sum_last(self.base_dist.log_prob(value), dims - len(self.base_dist.event_shape))

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return self._turned(self.base_dist.cdf(self._whole.undone(value)))

    def icdf(self, value: Any) -> Any:
        return self._whole(self.base_dist.icdf(self._turned(value)))

    def _turned(self, share: Any) -> Any:
        """A share of what is below, where a transform falls."""
        sign = self._whole.sign
        return share if isinstance(sign, int) and sign == 1 else sign * (share - 0.5) + 0.5

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
