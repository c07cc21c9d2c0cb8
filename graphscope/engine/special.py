"""Special functions under the names of `torch.special`."""

from __future__ import annotations

import math
from typing import Any

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.elementwise import digamma as digamma
from graphscope.engine.ops.elementwise import digamma as psi
from graphscope.engine.ops.elementwise import erf as erf
from graphscope.engine.ops.elementwise import erfc as erfc
from graphscope.engine.ops.elementwise import erfinv as erfinv
from graphscope.engine.ops.elementwise import exp2 as exp2
from graphscope.engine.ops.elementwise import expm1 as expm1
from graphscope.engine.ops.elementwise import isnan, log
from graphscope.engine.ops.elementwise import lgamma as gammaln
from graphscope.engine.ops.elementwise import log1p as log1p
from graphscope.engine.ops.elementwise import logit as logit
from graphscope.engine.ops.elementwise import round as round
from graphscope.engine.ops.elementwise import sigmoid as expit
from graphscope.engine.ops.elementwise import sinc as sinc
from graphscope.engine.ops.elementwise import xlogy as xlogy
from graphscope.engine.ops.index import where
from graphscope.engine.ops.softmax import log_softmax as log_softmax
from graphscope.engine.ops.softmax import softmax as softmax
from graphscope.engine.ops.special import erfcx as erfcx
from graphscope.engine.ops.statistics import logsumexp as logsumexp

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]


def ndtr(input: Tensor) -> Any:
    """Probability that a standard normal number is below each element."""
    return erfc(input * -math.sqrt(0.5)) * 0.5


def ndtri(input: Tensor) -> Any:
    """Inverse of `ndtr`."""
    return erfinv(input * 2.0 - 1.0) * math.sqrt(2)


def log_ndtr(input: Tensor) -> Any:
    """Logarithm of `ndtr`, exact where that is small."""
    t = input * math.sqrt(0.5)
    low = input.lt(-1)
    far = log(erfcx(-where(low, t, -1.0)) / 2) - t * t
    return where(low, far, log1p(-erfc(where(low, 0.0, t)) / 2))


def entr(input: Tensor) -> Any:
    """-x ln x: 0 at 0, and negative infinity below."""
    return where(input.lt(0), -math.inf, -xlogy(input, input))


def xlog1py(input: Any, other: Any) -> Any:
    """X times the logarithm of 1 + y; 0 where x is 0."""
    if isinstance(other, int | float):
        return xlogy(input, other + 1)
    return where((input == 0) & ~isnan(other), 0.0, input * log1p(other))
