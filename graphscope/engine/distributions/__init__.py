"""Probability distributions, in the spelling of `torch.distributions`."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.distributions import (
    constraints,
    continuous,
    discrete,
    divergence,
    joint,
    transformed,
    transforms,
)
from graphscope.engine.distributions.continuous import Beta, Exponential, Gamma, Laplace, LogNormal, Normal, Uniform
from graphscope.engine.distributions.discrete import (
    Bernoulli,
    Categorical,
    Poisson,
)
from graphscope.engine.distributions.distribution import Distribution
from graphscope.engine.distributions.divergence import kl_divergence, register_kl
from graphscope.engine.distributions.joint import Dirichlet, Independent, MultivariateNormal
from graphscope.engine.distributions.transformed import TransformedDistribution
from graphscope.engine.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    IndependentTransform,
    SigmoidTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

# PyTorch has a module for each: `from torch.distributions.normal import Normal`.
beta = exponential = gamma = laplace = log_normal = normal = uniform = continuous
bernoulli = categorical = poisson = discrete
dirichlet = independent = multivariate_normal = joint
transformed_distribution = transformed
kl = divergence

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Categorical",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Independent",
    "IndependentTransform",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "Poisson",
    "SigmoidTransform",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transforms",
]

_answer_for(__name__)
