"""Probability distributions, in the spelling of `torch.distributions`."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.distributions import constraints as constraints
from graphscope.engine.distributions import continuous, discrete, divergence
from graphscope.engine.distributions.continuous import Beta as Beta
from graphscope.engine.distributions.continuous import Exponential as Exponential
from graphscope.engine.distributions.continuous import Gamma as Gamma
from graphscope.engine.distributions.continuous import Laplace as Laplace
from graphscope.engine.distributions.continuous import LogNormal as LogNormal
from graphscope.engine.distributions.continuous import Normal as Normal
from graphscope.engine.distributions.continuous import Uniform as Uniform
from graphscope.engine.distributions.discrete import Bernoulli as Bernoulli
from graphscope.engine.distributions.discrete import Categorical as Categorical
from graphscope.engine.distributions.discrete import Poisson as Poisson
from graphscope.engine.distributions.distribution import Distribution as Distribution
from graphscope.engine.distributions.divergence import kl_divergence as kl_divergence
from graphscope.engine.distributions.divergence import register_kl as register_kl
from graphscope.engine.distributions.independent import Independent as Independent

# PyTorch has a module for each: `from torch.distributions.normal import Normal`.
beta = exponential = gamma = laplace = log_normal = normal = uniform = continuous
bernoulli = categorical = poisson = discrete
kl = divergence

_answer_for(__name__)
