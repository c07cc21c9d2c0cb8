"""Distributions of several counts, of failures, and of soft choices among classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from graphscope.engine.core import generator as random
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.distributions.discrete import Categorical, _either, _logits, _OfOdds
from graphscope.engine.distributions.distribution import Distribution, together
from graphscope.engine.ops.elementwise import exp, lgamma, log, log1p, sigmoid
from graphscope.engine.ops.index import where
from graphscope.engine.ops.randoms import rand
from graphscope.engine.ops.smooth_activations import logsigmoid, softplus
from graphscope.engine.ops.softmax import softmax
from graphscope.engine.ops.statistics import logsumexp


class NegativeBinomial(_OfOdds):
    """The number of successes before failure number `total_count`."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.nonnegative,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        _either(probs, logits)
        self.total_count, given = together(total_count, logits if probs is None else probs)
        self.total_count = self.total_count.to(given.dtype)
        self.__dict__["logits" if probs is None else "probs"] = given
        super().__init__(given.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * exp(self.logits)).floor().clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.mean / sigmoid(-self.logits)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        rate = random.generator().gamma(self.total_count.array, np.exp(self.logits.array), shape)
        return Tensor(np.asarray(random.generator().poisson(rate)).astype(self.logits.dtype)[()])

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        n = self.total_count
        odds = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = lgamma(n + value) - lgamma(1 + value) - lgamma(n)
        return odds + where(n + value == 0, 0.0, ways)


class Multinomial(Distribution):
    """How often each class comes in `total_count` draws.

    Raises:
        NotImplementedError: `total_count` is no integer.
    """

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, (self._categorical._num_events,), validate_args)

    @property
    def support(self) -> Constraint:
        """Counts that add up to as many draws."""
        return Constraint("Multinomial()", lambda x: (x >= 0).all(-1) & (x.sum(-1) == self.total_count), 1)

    @property
    def probs(self) -> Any:
        """Probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shares = self.probs.array.astype(np.float64)
        shares = shares / shares.sum(-1, keepdims=True)
        drawn = random.generator().multinomial(self.total_count, shares, (*sample_shape, *self._batch_shape))
        return Tensor(drawn.astype(self.probs.dtype))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logits = where((value == 0) & self.logits.isinf(), 0.0, self.logits)
        return lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RelaxedBernoulli(_OfOdds):
    """A soft choice between 0 and 1, through which gradients flow: the harder, the lower the temperature.

    Source: Maddison, Mnih and Teh, "The Concrete Distribution", 2017.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        _either(probs, logits)
        self.temperature = temperature
        (given,) = together(logits if probs is None else probs)
        self.__dict__["logits" if probs is None else "probs"] = given
        super().__init__(given.shape, (), validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        logits = self.logits
        noise = rand(*self._extended_shape(sample_shape), dtype=logits.dtype)
        soft = sigmoid((_logits(noise) + logits) / self.temperature)
        found = np.finfo(logits.dtype)
        return soft.clamp(min=float(found.tiny), max=1 - float(found.eps))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        odds = log(value) - log1p(-value)
        away = self.logits - odds * self.temperature
        stretch = softplus(-odds) + softplus(odds)
        return (away + log(self.logits * 0 + self.temperature) - 2 * softplus(away)) + stretch

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RelaxedOneHotCategorical(Distribution):
    """A soft choice of a class, as shares, through which gradients flow: the harder, the lower the temperature.

    Source: Jang, Gu and Poole, "Categorical Reparameterization with Gumbel-Softmax", 2017.
    """

    support = constraints.simplex
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, (self._categorical._num_events,), validate_args)

    @property
    def probs(self) -> Any:
        """Probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        return self._categorical.logits

    def rsample(self, sample_shape: Any = ()) -> Any:
        found = np.finfo(self.logits.dtype)
        noise = rand(*self._extended_shape(sample_shape), dtype=self.logits.dtype)
        noise = noise.clamp(min=float(found.tiny), max=1 - float(found.eps))
        return softmax((self.logits - log(-log(noise))) / self.temperature, -1)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        count = self._event_shape[0]
        temperature = Tensor(np.ones((), self.logits.dtype)[()]) * self.temperature
        score = self.logits - log(value) * self.temperature
        score = (score - logsumexp(score, -1, keepdim=True)).sum(-1)
        return score + lgamma(temperature * 0 + count) + (count - 1) * log(temperature) - log(value).sum(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
