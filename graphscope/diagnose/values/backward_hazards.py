"""How NaN and Inf come into being in the backward pass, op by op: where the rule of an op has no finite slope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from graphscope.diagnose.values.forward_hazards import Hazards
from graphscope.diagnose.values.hazards import (
    HANDED_ON,
    SAFE_ARC,
    SAFE_BASE,
    SAFE_DIV,
    SAFE_INFINITY,
    SAFE_LOG,
    SAFE_LOG1P,
    SAFE_MASK,
    SAFE_ROOT,
    SAFE_SHARE,
    Given,
    Hazard,
    overflow,
)
from graphscope.diagnose.values.numbers import NOWHERE, UNKNOWN, Extent

_INFINITE: Final = Hazard(
    "any", HANDED_ON, "the rule of {op} multiplies by an infinity that it was given", SAFE_INFINITY,
    Given.infinite,
)  # fmt: skip


def _steep(cause: str, why: str, cure: str, where: Callable[[Given], Extent]) -> Hazard:
    return Hazard("any", cause, why, cure, where)


def _log_rule(zero: Callable[[Given], Extent], cure: str, at: str = "0") -> Hazards:
    return (_steep("log at zero", f"the slope of {{op}} at {at} is infinite", cure, zero),)


def _inverse(given: Given, size: float, power: float) -> Extent:
    """Whether what is divided by the power of a number next to 0 may be too large."""
    return NOWHERE if size >= 1e-3 else given.exceeded(given.g.magnitude / max(size, 1e-300) ** power)


_SQRT: Final[Hazards] = (
    _steep("root at zero", "the slope of sqrt at 0 is infinite", SAFE_ROOT, lambda v: v.out.zero()),
    overflow("the gradient overflows", lambda v: v.g.magnitude / max(v.out.smallest, 1e-300)),
)
_NEAR_LOG: Final = _steep("log near zero", "the slope of {op} next to 0 is too large for the dtype", SAFE_LOG,
                          lambda v: _inverse(v, v.x.smallest, 1))  # fmt: skip
_DIV: Final[Hazards] = (
    _steep("division by zero", "the rule of {op} divides by 0", SAFE_DIV, lambda v: v.y.zero()),
    _steep("division by nearly zero", "the rule of {op} divides by the square of a number next to 0", SAFE_DIV,
           lambda v: _inverse(v, v.y.smallest / max(v.x.magnitude, 1.0), 2)),
    _INFINITE,
    overflow("the gradient overflows", lambda v: v.g.magnitude * max(v.x.magnitude, 1) / max(v.y.smallest, 1e-3) ** 2),
)  # fmt: skip
_RECIPROCAL: Final[Hazards] = (
    _steep("division by zero", "the rule of {op} divides by 0", SAFE_DIV, lambda v: v.x.zero()),
    _steep("division by nearly zero", "the rule of {op} divides by a power of a number next to 0", SAFE_DIV,
           lambda v: _inverse(v, v.x.smallest, 2)),
)  # fmt: skip


def _flat_power(given: Given) -> Extent:
    """Zeros that are raised to a power below 1 (to that of 0 the slope is 0)."""
    return given.x.zero() & given.y.below(1) & ~given.y.zero()


_POW: Final[Hazards] = (
    _steep("root at zero", "the slope of a power below 1 at 0 is infinite", SAFE_BASE, _flat_power),
    _steep("log of a negative", "the slope by the exponent is the log of a negative base", SAFE_BASE,
           lambda v: v.x.below(0) if v.y.shape or v.y.dtype not in ("int64", "float64") else NOWHERE),
    _steep("root at zero", "the slope of a power below 1 next to 0 is too large for the dtype", SAFE_BASE,
           lambda v: _inverse(v, v.x.smallest, 1 - _least_power(v)) if _least_power(v) < 1 else NOWHERE),
    _INFINITE,
    overflow("the gradient overflows",
             lambda v: v.g.magnitude * max(v.y.magnitude, 1) * max(v.x.magnitude, 1) ** max(v.y.magnitude, 1)),
)  # fmt: skip


def _least_power(given: Given) -> float:
    return given.y.bounds[0] if given.y.bounds is not None else -2.0


def _at_one(given: Given) -> Extent:
    return given.x.at(1) | given.x.at(-1)


_ARC: Final[Hazards] = (_steep("slope at 1", "the slope of {op} at 1 and -1 is infinite", SAFE_ARC, _at_one),)
_SHARE: Final[Hazards] = (
    _steep("log at zero", "the slope of {op} at 0 and 1 is infinite", SAFE_SHARE, lambda v: v.x.zero() | v.x.at(1)),
)
_NORM: Final = "the slope of {op} at 0 is infinite, or undefined"
_SAFE_NORM: Final = "keep what {op} is given away from 0: add {tiny} to it, or square, sum, add {tiny} and take sqrt"
_SINGULAR_VALUES: Final = Hazard(
    "any", "equal singular values", "its rule divides by differences of singular values or eigenvalues, and some are "
    "the same or 0", "add a little noise to the matrix, or use what needs no vectors (svdvals, eigvalsh)",
    lambda v: UNKNOWN,
)  # fmt: skip
_HIDDEN: Final = Hazard(
    "any", "all -inf row", "all that it compared in a row was -inf", SAFE_MASK,
    lambda v: UNKNOWN if v.x.infinite().some is not False else NOWHERE,
)  # fmt: skip


def _product(given: Given) -> float:
    sizes = [max(each.magnitude, 1) for each in given.operands]
    return given.g.magnitude * float(np.prod(sizes or [1.0])) * max(given.g.count, 1)


_PRODUCT: Final[Hazards] = (_INFINITE, overflow("the gradient overflows", _product))
_SCALED: Final[Hazards] = (
    _INFINITE,
    overflow("the gradient overflows", lambda v: v.g.magnitude * max(v.out.magnitude, 1) * max(v.x.magnitude, 1) * 2),
)

SINGULAR: Final[dict[str, Hazards]] = {
    "sqrt": _SQRT[:1], "rsqrt": _RECIPROCAL[:1], "reciprocal": _RECIPROCAL[:1],
    **dict.fromkeys(("div", "true_divide", "divide"), _DIV[:1]), **dict.fromkeys(("pow", "float_power"), _POW[:1]),
    **dict.fromkeys(("log", "log2", "log10"), _log_rule(lambda v: v.x.zero(), SAFE_LOG)),
    "log1p": _log_rule(lambda v: v.x.at(-1), SAFE_LOG1P, "-1"),
    **dict.fromkeys(("asin", "acos", "arcsin", "arccos", "atanh", "arctanh", "erfinv"), _ARC),
    "acosh": (_steep("slope at 1", "the slope of {op} at 1 is infinite", SAFE_ARC, lambda v: v.x.at(1)),),
    **dict.fromkeys(("logit", "ndtri"), _SHARE),
    "hypot": (_steep("root at zero", _NORM, _SAFE_NORM, lambda v: v.out.zero()),),
}  # fmt: skip
"""Why the rule of an op gives NaN or Inf whatever gradient it is given."""

BACKWARD: Final[dict[str, Hazards]] = {
    **SINGULAR,
    "sqrt": _SQRT, "rsqrt": _RECIPROCAL, "reciprocal": _RECIPROCAL,
    **dict.fromkeys(("div", "true_divide", "divide"), _DIV), **dict.fromkeys(("pow", "float_power"), _POW),
    **{name: (*SINGULAR[name], _NEAR_LOG) for name in ("log", "log2", "log10")},
    "xlogy": (
        _steep("log at zero", "the slope of {op} at 0 is infinite", SAFE_LOG, lambda v: v.y.zero()),
        _steep("log near zero", "the slope of {op} next to 0 is too large for the dtype", SAFE_LOG,
               lambda v: _inverse(v, v.y.smallest / np.maximum(v.x.magnitude, 1), 1)),
    ),
    "entr": _log_rule(lambda v: v.x.zero(), SAFE_LOG),
    **dict.fromkeys(("norm", "vector_norm", "cdist", "pdist", "dist"),
                    (_steep("root at zero", _NORM, _SAFE_NORM, lambda v: v.out.zero()), *_SCALED)),
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cosh", "square"), _SCALED),
    **dict.fromkeys(("logsumexp", "logcumsumexp", "softmax", "log_softmax"), (_HIDDEN, *_SCALED)),
    **dict.fromkeys(
        ("mul", "multiply", "mm", "matmul", "bmm", "linear", "addmm", "baddbmm", "einsum", "outer", "dot", "mv",
         "conv1d", "conv2d", "conv3d", "scaled_dot_product_attention", "prod", "cumprod", "addcmul", "lerp"),
        _PRODUCT,
    ),
    **dict.fromkeys(
        ("add", "sub", "sum", "mean", "expand", "repeat", "neg", "view", "reshape", "half", "to", "float", "bfloat16",
         "to_copy", "index", "getitem", "index_select", "gather", "t", "transpose", "permute"),
        (overflow("the gradient is too large for {op}", lambda v: v.g.magnitude * max(v.g.count, 1)),),
    ),
    **dict.fromkeys(("svd", "eigh", "eig", "qr", "pinv", "eigvals"), (_SINGULAR_VALUES,)),
}  # fmt: skip
"""Why the rule of an op gives NaN or Inf."""
