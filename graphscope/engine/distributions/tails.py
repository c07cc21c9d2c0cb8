"""Distributions of real numbers that are met less often: with long tails, of extremes, of one side."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

import numpy as np

from graphscope.engine.core import generator as random
from graphscope.engine.distributions import constraints
from graphscope.engine.distributions.constraints import Constraint
from graphscope.engine.distributions.continuous import Gamma, Normal, _AroundLoc, _OfNumbers
from graphscope.engine.ops.elementwise import atan, digamma, exp, lgamma, log, log1p, tan
from graphscope.engine.ops.index import where
from graphscope.engine.ops.randoms import randn

EULER: Final = 0.57721566490153286060
"""The constant of Euler and Mascheroni: minus the derivative of Γ at 1."""


class Cauchy(_AroundLoc):
    """The ratio of two normal numbers: its tails are so long that it has no mean."""

    @property
    def mean(self) -> Any:
        return self.loc * math.nan

    @property
    def variance(self) -> Any:
        return self.loc * 0 + math.inf

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return -math.log(math.pi) - log(self.scale) - log1p(((value - self.loc) / self.scale) ** 2)

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + log(self.scale)


class _Half(_OfNumbers):
    """The absolute value of a number that is even on both sides of 0."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    scale: Any
    whole: type[_AroundLoc]

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, scale=scale)

    @property
    def _base(self) -> Any:
        return self.whole(self.scale * 0, self.scale, False)

    @property
    def mode(self) -> Any:
        return self.scale * 0

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._base.rsample(sample_shape).abs()

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return where(value >= 0, self._base.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return 2 * self._base.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self._base.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self._base.entropy() - math.log(2)


class HalfNormal(_Half):
    """The absolute value of a normal number of mean 0."""

    whole = Normal

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale**2 * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The absolute value of a number of Cauchy's distribution."""

    whole = Cauchy

    @property
    def mean(self) -> Any:
        return self.scale * 0 + math.inf

    @property
    def variance(self) -> Any:
        return self._base.variance


class Gumbel(_OfNumbers):
    """The largest of many numbers."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    loc: Any
    scale: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev**2

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(self._uniform(sample_shape).clamp(max=1 - float(np.finfo(self.loc.dtype).eps)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        y = (self.loc - value) / self.scale
        return y - exp(y) - log(self.scale)

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return exp(-exp((self.loc - value) / self.scale))

    def icdf(self, value: Any) -> Any:
        return self.loc - self.scale * log(-log(value))

    def entropy(self) -> Any:
        return log(self.scale) + (1 + EULER)


class Pareto(_OfNumbers):
    """Numbers from `scale` on, of which large ones get rarer by a power of their size."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"alpha": constraints.positive, "scale": constraints.positive}
    has_rsample = True
    scale: Any
    alpha: Any

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, scale=scale, alpha=alpha)

    @property
    def support(self) -> Constraint:
        """From `scale` on."""
        return constraints.greater_than_eq(self.scale.detach().array)

    @property
    def mean(self) -> Any:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        a = self.alpha.clamp(min=2)
        return self.scale**2 * a / ((a - 1) ** 2 * (a - 2))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.scale * self._uniform(sample_shape) ** (-1 / self.alpha)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return log(self.alpha) + self.alpha * log(self.scale) - (self.alpha + 1) * log(value)

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return 1 - (self.scale / value) ** self.alpha

    def icdf(self, value: Any) -> Any:
        return self.scale * (1 - value) ** (-1 / self.alpha)

    def entropy(self) -> Any:
        return log(self.scale / self.alpha) + (1 + 1 / self.alpha)


class Weibull(_OfNumbers):
    """The time until something fails: sooner or later the likelier, by its `concentration`."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True
    scale: Any
    concentration: Any

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, scale=scale, concentration=concentration)

    @property
    def mean(self) -> Any:
        return self.scale * exp(lgamma(1 + 1 / self.concentration))

    @property
    def mode(self) -> Any:
        return self.scale * ((self.concentration - 1) / self.concentration) ** (1 / self.concentration)

    @property
    def variance(self) -> Any:
        inverse = 1 / self.concentration
        return self.scale**2 * (exp(lgamma(1 + 2 * inverse)) - exp(2 * lgamma(1 + inverse)))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.scale * (-log(self._uniform(sample_shape))) ** (1 / self.concentration)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        k, share = self.concentration, value / self.scale
        return log(k / self.scale) + (k - 1) * log(share) - share**k

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return 1 - exp(-((value / self.scale) ** self.concentration))

    def icdf(self, value: Any) -> Any:
        return self.scale * (-log1p(-value)) ** (1 / self.concentration)

    def entropy(self) -> Any:
        return EULER * (1 - 1 / self.concentration) + log(self.scale / self.concentration) + 1


class Chi2(Gamma):
    """The sum of the squares of `df` normal numbers."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"df": constraints.positive}
    df: Any

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        self._hold(validate_args, df=df)
        self.concentration, self.rate = self.df * 0.5, self.df * 0 + 0.5

    def expand(self, batch_shape: Any) -> Any:
        return Chi2(self.df.expand(batch_shape))


class StudentT(_OfNumbers):
    """Like a normal number, with longer tails the fewer the degrees of freedom.

    Gradients flow through its samples to `loc` and `scale`, and not to `df` here.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    df: Any
    loc: Any
    scale: Any

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._hold(validate_args, df=df, loc=loc, scale=scale)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Where nobody asks for the gradient of `df`."""
        return not self.df.requires_grad

    @property
    def mean(self) -> Any:
        return where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        many = self.df > 2
        found = self.scale**2 * self.df / where(many, self.df - 2, 1.0)
        return where(many, found, where(self.df > 1, math.inf, math.nan))

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        square = self._drawn(random.generator().chisquare(self.df.array, shape), self.df)
        normal = randn(*shape, dtype=self.df.dtype)
        return (self.loc + self.scale * normal * (square / self.df).rsqrt()).detach()

    def rsample(self, sample_shape: Any = ()) -> Any:
        if self.df.requires_grad:
            raise NotImplementedError("StudentT: no gradient flows through samples to df here: detach() it")
        standard = StudentT(self.df, self.loc.detach() * 0, self.scale.detach() * 0 + 1, False)
        return self.loc + self.scale * standard.sample(sample_shape)

    def _normalizer(self) -> Any:
        return lgamma(0.5 * self.df) - lgamma(0.5 * (self.df + 1)) + 0.5 * log(self.df) + log(self.scale)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        y = (value - self.loc) / self.scale
        away = 0.5 * (self.df + 1) * log1p(y**2 / self.df)
        return -away - self._normalizer() - 0.5 * math.log(math.pi)

    def entropy(self) -> Any:
        half = 0.5 * (self.df + 1)
        return half * (digamma(half) - digamma(0.5 * self.df)) + self._normalizer() + math.lgamma(0.5)
