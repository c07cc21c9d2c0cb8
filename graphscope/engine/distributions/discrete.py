"""Distributions of whole numbers and of classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from graphscope.engine.core.modes import no_grad
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.distributions.distribution import Distribution, together
from graphscope.engine.ops.create import arange
from graphscope.engine.ops.elementwise import lgamma, log, log1p, sigmoid, xlogy
from graphscope.engine.ops.gathering import gather
from graphscope.engine.ops.index import where
from graphscope.engine.ops.losses import binary_cross_entropy_with_logits
from graphscope.engine.ops.randoms import bernoulli, multinomial, poisson
from graphscope.engine.ops.shape import broadcast_to
from graphscope.engine.ops.softmax import softmax
from graphscope.engine.ops.statistics import logsumexp


def _either(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def _logits(probs: Any) -> Any:
    """Logarithms of the odds, of probabilities kept away from 0 and 1."""
    eps = float(np.finfo(probs.dtype).eps)
    inside = probs.clamp(min=eps, max=1 - eps)
    return log(inside) - log1p(-inside)


class _OfOdds(Distribution):
    """One that holds the probability of success, or the logarithm of its odds, and tells both."""

    def __getattr__(self, name: str) -> Any:
        if name == "probs":
            return sigmoid(self.logits)
        if name == "logits":
            return _logits(self.probs)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


class _OfTrials(_OfOdds):
    """One that is told nothing else."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _either(probs, logits)
        name = "logits" if probs is None else "probs"
        (self.__dict__[name],) = together(logits if probs is None else probs)
        super().__init__(self.__dict__[name].shape, (), validate_args)


class Bernoulli(_OfTrials):
    """1 with a probability, else 0."""

    support = constraints.boolean

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return where(self.probs == 0.5, float("nan"), (self.probs >= 0.5).to(self.probs.dtype))

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return bernoulli(broadcast_to(self.probs, self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logits, value = together(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        values = arange(2, dtype=self.probs.dtype).reshape(2, *(1,) * len(self._batch_shape))
        return broadcast_to(values, (2, *self._batch_shape)) if expand else values


class Poisson(Distribution):
    """The number of events, when they come at `rate`."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return poisson(broadcast_to(self.rate, self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return xlogy(value, self.rate) - self.rate - lgamma(value + 1)


class Categorical(Distribution):
    """The number of a class, by probabilities or their logarithms in the last dim (which need not sum to 1)."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _either(probs, logits)
        given = logits if probs is None else probs
        if given.ndim < 1:
            raise ValueError(f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional.")
        if probs is None:
            self.logits = logits - logsumexp(logits, -1, keepdim=True)
        else:
            self.probs = probs / probs.sum(-1, keepdim=True)
        super().__init__(given.shape[:-1], (), validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "probs":
            return softmax(self.logits, -1)
        if name == "logits":
            eps = float(np.finfo(self.probs.dtype).eps)
            return log(self.probs.clamp(min=eps, max=1 - eps))
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def _num_events(self) -> int:
        held: Any = self.__dict__.get("probs", self.__dict__.get("logits"))
        return int(held.shape[-1])

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Any:
        """The shape of the probabilities."""
        return self.probs.shape

    @property
    def mean(self) -> Any:
        return self.probs.sum(-1) * float("nan")

    @property
    def variance(self) -> Any:
        return self.mean

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            flat = self.probs.reshape(-1, self._num_events)
            count = int(np.prod(tuple(sample_shape), dtype=int))
            drawn = multinomial(flat, count, True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        places = value.long().unsqueeze(-1)
        shape = np.broadcast_shapes(tuple(places.shape[:-1]), tuple(self._batch_shape))
        logits = broadcast_to(self.logits, (*shape, self._num_events))
        return gather(logits, -1, broadcast_to(places, (*shape, 1))).squeeze(-1)

    def entropy(self) -> Any:
        least = float(np.finfo(self.logits.dtype).min)
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = arange(self._num_events).reshape(-1, *(1,) * len(self._batch_shape))
        return broadcast_to(values, (self._num_events, *self._batch_shape)) if expand else values
