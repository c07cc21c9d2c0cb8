"""Distributions of real numbers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from graphscope.engine.core import generator as random
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.distributions.distribution import Distribution, together
from graphscope.engine.ops.elementwise import digamma, erf, erfinv, exp, lgamma, log, log1p, sign, xlogy
from graphscope.engine.ops.randoms import rand, randn


class _OfNumbers(Distribution):
    """One whose values are single numbers, and whose parameters are of the shape of the batch."""

    def _hold(self, validate_args: bool | None, **parameters: Any) -> None:
        values = together(*parameters.values())
        self.__dict__.update(zip(parameters, values, strict=True))
        super().__init__(values[0].shape, (), validate_args)

    def _uniform(self, sample_shape: Any) -> Any:
        """Random numbers from 0 to 1, without 0."""
        first = next(iter(self.arg_constraints))
        dtype = self.__dict__[first].dtype
        return rand(*self._extended_shape(sample_shape), dtype=dtype).clamp(min=float(np.finfo(dtype).tiny))

    def _drawn(self, made: Any, like: Any) -> Any:
        return Tensor(np.asarray(made).astype(like.dtype)[()])


class _AroundLoc(_OfNumbers):
    """One that is even on both sides of `loc`, and as wide as `scale` says."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}
    has_rsample = True
    support = constraints.real
    loc: Any
    scale: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc


class Normal(_AroundLoc):
    """Gauss's distribution of mean `loc` and standard deviation `scale`."""

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale**2

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.loc + randn(*self._extended_shape(sample_shape), dtype=self.loc.dtype) * self.scale

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return -((value - self.loc) ** 2) / (2 * self.variance) - log(self.scale) - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return 0.5 * (1 + erf((value - self.loc) / self.scale / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + log(self.scale)


class LogNormal(Normal):
    """The exponential of a normal number."""

    support = constraints.positive

    @property
    def mean(self) -> Any:
        return exp(self.loc + self.scale**2 / 2)

    @property
    def mode(self) -> Any:
        return exp(self.loc - self.scale**2)

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    @property
    def variance(self) -> Any:
        square = self.scale**2
        return (exp(square) - 1) * exp(2 * self.loc + square)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return exp(super().rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logarithm = log(value)
        return Normal(self.loc, self.scale, False).log_prob(logarithm) - logarithm

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return Normal(self.loc, self.scale, False).cdf(log(value))

    def icdf(self, value: Any) -> Any:
        return exp(super().icdf(value))

    def entropy(self) -> Any:
        return super().entropy() + self.loc


class Uniform(_OfNumbers):
    """Equally likely everywhere from `low` to `high`."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"low": constraints.real, "high": constraints.real}
    has_rsample = True
    low: Any
    high: Any

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, low=low, high=high)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def support(self) -> Constraint:
        return constraints.interval(self.low.array, self.high.array)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Any:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.low + self._uniform(sample_shape) * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        inside = self.low.le(value).to(self.low.dtype) * self.high.gt(value).to(self.low.dtype)
        return log(inside) - log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return log(self.high - self.low)


class Laplace(_AroundLoc):
    """Exponential on both sides of `loc`."""

    @property
    def variance(self) -> Any:
        return 2 * self.scale**2

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = self._uniform(sample_shape) * 2 - 1
        return self.loc - self.scale * sign(u) * log1p(-u.abs().clamp(max=1 - 1e-7))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return -log(2 * self.scale) - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        self._check(value)
        distance = value - self.loc
        return 0.5 - 0.5 * sign(distance) * (exp(-distance.abs() / self.scale) - 1)

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * sign(term) * log1p(-2 * term.abs())

    def entropy(self) -> Any:
        return 1 + log(2 * self.scale)


class Exponential(_OfNumbers):
    """The time to the next event, when they come at `rate`."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"rate": constraints.positive}
    has_rsample = True
    support = constraints.nonnegative
    rate: Any

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, rate=rate)

    @property
    def mean(self) -> Any:
        return 1 / self.rate

    @property
    def mode(self) -> Any:
        return self.rate * 0.0

    @property
    def stddev(self) -> Any:
        return 1 / self.rate

    @property
    def variance(self) -> Any:
        return self.rate**-2

    def rsample(self, sample_shape: Any = ()) -> Any:
        return -log(self._uniform(sample_shape)) / self.rate

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return log(self.rate) - self.rate * value

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return 1 - exp(-self.rate * value)

    def icdf(self, value: Any) -> Any:
        return -log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1 - log(self.rate)


class Gamma(_OfNumbers):
    """The time to the event number `concentration`; no gradient flows through its samples here."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    concentration: Any
    rate: Any

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate**2

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = random.generator().gamma(self.concentration.array, 1 / self.rate.array, shape)
        return self._drawn(np.maximum(drawn, np.finfo(self.rate.dtype).tiny), self.rate)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        a, b = self.concentration, self.rate
        return xlogy(a, b) + xlogy(a - 1, value) - b * value - lgamma(a)

    def entropy(self) -> Any:
        a = self.concentration
        return a - log(self.rate) + lgamma(a) + (1 - a) * digamma(a)


class Beta(_OfNumbers):
    """A share, after `concentration1 - 1` of one kind and `concentration0 - 1` of the other were seen.

    No gradient flows through its samples here.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    concentration1: Any
    concentration0: Any

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, concentration1=concentration1, concentration0=concentration0)

    @property
    def _total(self) -> Any:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Any:
        return self.concentration1 / self._total

    @property
    def variance(self) -> Any:
        return self.concentration1 * self.concentration0 / (self._total**2 * (self._total + 1))

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = random.generator().beta(self.concentration1.array, self.concentration0.array, shape)
        return self._drawn(drawn, self.concentration1)

    def _normalizer(self) -> Any:
        return lgamma(self.concentration1) + lgamma(self.concentration0) - lgamma(self._total)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        a, b = self.concentration1, self.concentration0
        return xlogy(a - 1, value) + xlogy(b - 1, 1 - value) - self._normalizer()

    def entropy(self) -> Any:
        a, b, total = self.concentration1, self.concentration0, self._total
        return self._normalizer() - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (total - 2) * digamma(total)
