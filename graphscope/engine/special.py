"""Special functions under the names of `torch.special`."""

from __future__ import annotations

import math
from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.elementwise import digamma as digamma
from graphscope.engine.ops.elementwise import erf as erf
from graphscope.engine.ops.elementwise import erfc as erfc
from graphscope.engine.ops.elementwise import erfinv as erfinv
from graphscope.engine.ops.elementwise import exp2 as exp2
from graphscope.engine.ops.elementwise import expm1 as expm1
from graphscope.engine.ops.elementwise import lgamma, sigmoid
from graphscope.engine.ops.elementwise import log1p as log1p
from graphscope.engine.ops.elementwise import logit as logit
from graphscope.engine.ops.elementwise import round as round
from graphscope.engine.ops.elementwise import sinc as sinc
from graphscope.engine.ops.elementwise import xlogy as xlogy
from graphscope.engine.ops.softmax import log_softmax as log_softmax
from graphscope.engine.ops.softmax import softmax as softmax
from graphscope.engine.ops.statistics import logsumexp as logsumexp

expit, gammaln, psi = sigmoid, lgamma, digamma


def ndtr(input: Tensor) -> Any:
    """Probability that a standard normal number is below each element."""
    return erfc(input * -math.sqrt(0.5)) * 0.5


_answer_for(__name__)
