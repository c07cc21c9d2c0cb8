"""How far one distribution is from another: the divergence of Kullback and Leibler, in a table of pairs of kinds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from graphscope.engine.distributions.continuous import Beta, Exponential, Gamma, Laplace, Normal, Uniform
from graphscope.engine.distributions.discrete import Bernoulli, Categorical, Poisson
from graphscope.engine.distributions.independent import Independent
from graphscope.engine.ops.elementwise import digamma, exp, lgamma, log
from graphscope.engine.ops.index import where
from graphscope.engine.ops.smooth_activations import softplus

Divergence = Callable[[Any, Any], Any]

_KNOWN: Final[dict[tuple[type, type], Divergence]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """Say how `kl_divergence` of two kinds of distributions is found; the nearest kinds count."""

    def decorate(function: Divergence) -> Divergence:
        _KNOWN[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p: Any, q: Any) -> Any:
    """The mean, over values of p, of log p - log q.

    Raises:
        NotImplementedError: Nobody has said how, for these two kinds.
    """
    for kind in type(p).__mro__:
        for other in type(q).__mro__:
            if (kind, other) in _KNOWN:
                return _KNOWN[kind, other](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normals(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - log(ratio))


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Any, q: Any) -> Any:
    yes = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    return yes + (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))


@register_kl(Categorical, Categorical)
def _categoricals(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    return where(p.probs == 0, 0.0, where(q.probs == 0, math.inf, terms)).sum(-1)


@register_kl(Poisson, Poisson)
def _poissons(p: Any, q: Any) -> Any:
    return p.rate * (log(p.rate) - log(q.rate)) - (p.rate - q.rate)


@register_kl(Exponential, Exponential)
def _exponentials(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - 1 - log(ratio)


@register_kl(Laplace, Laplace)
def _laplaces(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -log(ratio) + distance / q.scale + ratio * exp(-distance / p.scale) - 1


@register_kl(Uniform, Uniform)
def _uniforms(p: Any, q: Any) -> Any:
    found = log((q.high - q.low) / (p.high - p.low))
    return where((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(Gamma, Gamma)
def _gammas(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    first = b * log(p.rate / q.rate) + lgamma(b) - lgamma(a)
    return first + (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Beta, Beta)
def _betas(p: Any, q: Any) -> Any:
    found = q._normalizer() - p._normalizer() - (p._total - q._total) * digamma(p._total)
    for name in ("concentration1", "concentration0"):
        mine, other = getattr(p, name), getattr(q, name)
        found = found + (mine - other) * digamma(mine)
    return found


@register_kl(Independent, Independent)
def _independents(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence of Independents: both take the same number of dims as one value")
    return p.summed(kl_divergence(p.base_dist, q.base_dist))
