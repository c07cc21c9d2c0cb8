"""Probability distributions, in the spelling of `torch.distributions`."""

from graphscope.distributions import constraints, continuous, discrete, divergence, joint
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

# PyTorch has a module for each: `from torch.distributions.normal import Normal`.
beta = exponential = gamma = laplace = log_normal = normal = uniform = continuous
bernoulli = binomial = categorical = geometric = one_hot_categorical = poisson = discrete
dirichlet = independent = multivariate_normal = joint
kl = divergence

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
