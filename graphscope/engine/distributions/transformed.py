"""Distributions made of others: by transforms of their values, and by mixing them."""

from __future__ import annotations

from typing import Any, ClassVar

from graphscope.engine.core.modes import no_grad
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.distributions.discrete import Categorical
from graphscope.engine.distributions.distribution import Distribution
from graphscope.engine.distributions.joint import Independent
from graphscope.engine.distributions.transform import ComposeTransform, Transform, sum_last
from graphscope.engine.ops.gathering import gather
from graphscope.engine.ops.softmax import log_softmax
from graphscope.engine.ops.statistics import logsumexp


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


class MixtureSameFamily(Distribution):
    """A mixture: a class is drawn, and then a value from the component of that class.

    Args:
        mixture_distribution: The classes, a `Categorical`.
        component_distribution: A distribution whose last batch dim are the classes.
        validate_args: Whether values are checked.

    Raises:
        ValueError: The shapes do not fit, or the first is no `Categorical`.
    """

    has_rsample: ClassVar[bool] = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(  # noqa: TRY004 - as PyTorch
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        batch = tuple(component_distribution.batch_shape)
        if not batch or mixture_distribution.logits.shape[-1] != batch[-1]:
            raise ValueError(
                f"`mixture_distribution` component ({mixture_distribution.logits.shape[-1]}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({batch[-1] if batch else 'none'})"
            )
        super().__init__(batch[:-1], component_distribution.event_shape, validate_args)

    @property
    def support(self) -> Constraint | None:
        """As of the components."""
        return self.component_distribution.support  # type: ignore[no-any-return]

    def _weights(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape(*probs.shape, *[1] * len(self._event_shape))

    def _over_classes(self, x: Any) -> Any:
        return x.sum(-1 - len(self._event_shape))

    @property
    def mean(self) -> Any:
        return self._over_classes(self._weights() * self.component_distribution.mean)

    @property
    def variance(self) -> Any:
        inside = self._over_classes(self._weights() * self.component_distribution.variance)
        away = self.component_distribution.mean - self.mean.unsqueeze(-1 - len(self._event_shape))
        return inside + self._over_classes(self._weights() * away**2)

    def _beside(self, value: Any) -> Any:
        return value.unsqueeze(-1 - len(self._event_shape))

    def cdf(self, value: Any) -> Any:
        return (self.component_distribution.cdf(self._beside(value)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        densities = self.component_distribution.log_prob(self._beside(value))
        return logsumexp(densities + log_softmax(self.mixture_distribution.logits, -1), -1)

    def sample(self, sample_shape: Any = ()) -> Any:
        chosen = self.mixture_distribution.sample(sample_shape)
        values = self.component_distribution.sample(sample_shape)
        place = values.ndim - 1 - len(self._event_shape)
        index = chosen.reshape(*chosen.shape, *[1] * (1 + len(self._event_shape)))
        wanted = (*values.shape[:place], 1, *self._event_shape)
        return gather(values, place, index.expand(wanted)).squeeze(place)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution!r},\n  {self.component_distribution!r})"
