"""Probability distributions, in the spelling of `torch.distributions`."""

from graphscope.engine.distributions import (
    constraints,
    continuous,
    counts,
    discrete,
    divergence,
    joint,
    tails,
    transformed,
    transforms,
)
from graphscope.engine.distributions.continuous import Beta, Exponential, Gamma, Laplace, LogNormal, Normal, Uniform
from graphscope.engine.distributions.counts import (
    Multinomial,
    NegativeBinomial,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from graphscope.engine.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from graphscope.engine.distributions.distribution import Distribution
from graphscope.engine.distributions.divergence import kl_divergence, register_kl
from graphscope.engine.distributions.joint import Dirichlet, Independent, MultivariateNormal
from graphscope.engine.distributions.tails import (
    Cauchy,
    Chi2,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Pareto,
    StudentT,
    Weibull,
)
from graphscope.engine.distributions.transformed import MixtureSameFamily, TransformedDistribution
from graphscope.engine.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    IndependentTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

# PyTorch has a module for each: `from torch.distributions.normal import Normal`.
beta = exponential = gamma = laplace = log_normal = normal = uniform = continuous
bernoulli = binomial = categorical = geometric = one_hot_categorical = poisson = discrete
dirichlet = independent = multivariate_normal = joint
cauchy = chi2 = gumbel = half_cauchy = half_normal = pareto = studentT = weibull = tails  # noqa: N816 - as there
multinomial = negative_binomial = relaxed_bernoulli = relaxed_categorical = counts
transformed_distribution = mixture_same_family = transformed
kl = divergence

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "Weibull",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transforms",
]
