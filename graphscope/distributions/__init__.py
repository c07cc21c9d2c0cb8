"""Probability distributions, in the spelling of `torch.distributions`."""

from graphscope.distributions import constraints
from graphscope.distributions.continuous import Beta, Exponential, Gamma, Laplace, LogNormal, Normal, Uniform
from graphscope.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from graphscope.distributions.distribution import Distribution
from graphscope.distributions.divergence import kl_divergence, register_kl
from graphscope.distributions.joint import Dirichlet, Independent, MultivariateNormal

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "Gamma",
    "Geometric",
    "Independent",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Poisson",
    "Uniform",
    "constraints",
    "kl_divergence",
    "register_kl",
]
