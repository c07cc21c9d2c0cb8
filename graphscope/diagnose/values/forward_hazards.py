"""How NaN and Inf come into being in the forward pass, op by op: what of its operands an op can't take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.diagnose.values.hazards import (
    HANDED_ON,
    SAFE_ARC,
    SAFE_BASE,
    SAFE_COUNT,
    SAFE_DIFFERENCE,
    SAFE_DIV,
    SAFE_INFINITY,
    SAFE_LOG,
    SAFE_LOG1P,
    SAFE_MASK,
    SAFE_ROOT,
    SAFE_SHARE,
    SAFE_SPREAD,
    TOO_LARGE,
    Given,
    Hazard,
    overflow,
)
from graphscope.diagnose.values.numbers import NOWHERE, UNKNOWN, Extent, Numbers

Hazards = tuple[Hazard, ...]
Which = Callable[[Given], Numbers]

NEARLY_ZERO: Final = 1e-6


def _first(given: Given) -> Numbers:
    return given.x


def _second(given: Given) -> Numbers:
    return given.y


def _logarithm(of: Which = _first) -> Hazards:
    return (
        Hazard("inf", "log of zero", "log of 0", SAFE_LOG, lambda v: of(v).zero()),
        Hazard("nan", "log of a negative", "log of negative numbers", SAFE_LOG, lambda v: of(v).below(0)),
    )


def _logarithm_of_one_more(of: Which = _first) -> Hazards:
    return (
        Hazard("inf", "log of zero", "log of 1 - 1", SAFE_LOG1P, lambda v: of(v).at(-1)),
        Hazard("nan", "log of a negative", "log of 1 + numbers below -1", SAFE_LOG1P, lambda v: of(v).below(-1)),
    )


_ROOT: Final = Hazard("nan", "root of a negative", "square root of negative numbers", SAFE_ROOT, lambda v: v.x.below(0))
_EMPTY: Final = Hazard(
    "nan", "mean of nothing", "{op} was given nothing: its input has no elements", SAFE_COUNT,
    lambda v: Extent(v.x.count == 0),
)  # fmt: skip
_INFINITE: Final = Hazard("any", HANDED_ON, "{op} was given an infinity", SAFE_INFINITY, Given.infinite)


def _inverse(of: Which) -> Hazards:
    return (
        Hazard("inf", "division by zero", "1/0", SAFE_DIV, lambda v: of(v).zero()),
        Hazard("inf", "division by nearly zero", "1 over a number next to 0 overflows", SAFE_DIV,
               lambda v: v.exceeded(1 / max(of(v).smallest, 1e-300))),
    )  # fmt: skip


def _quotient(given: Given, *, small: bool) -> Extent:
    """Quotients that are too large, of divisors next to 0 or of others."""
    x, y, out = given.x, given.y, given.made
    if x.value is not None and y.value is not None and out.value is not None:
        near = np.abs(y.value) < NEARLY_ZERO
        return Extent.of(np.isinf(out.value) & (y.value != 0) & (near if small else ~near))
    zeros, odd = y.zero(), (out.nan(), out.infinite())
    if zeros.number is not None and all(each.number is not None for each in odd):
        of_zeros = zeros.number * max(out.count, 1) / max(y.count, 1)
        if of_zeros == sum(each.number or 0 for each in odd):  # all of it comes of them
            return NOWHERE
    least = y.smallest
    if (least >= NEARLY_ZERO) if small else (y.magnitude < NEARLY_ZERO):
        return NOWHERE
    return given.exceeded(x.magnitude / max(least if small else max(least, NEARLY_ZERO), 1e-300))


def _by_zero(given: Given) -> Extent:
    zeros = given.y.zero()
    if zeros.some and given.made.nan().some is False:
        return zeros
    return zeros & ~given.x.zero()


_DIV: Final[Hazards] = (
    Hazard("nan", "0/0", "0/0", SAFE_DIV, lambda v: v.y.zero() & v.x.zero()),
    Hazard("nan", "infinity over infinity", "inf/inf", SAFE_INFINITY, lambda v: v.x.infinite() & v.y.infinite()),
    Hazard("inf", HANDED_ON, "{op} was given an infinity", SAFE_INFINITY, lambda v: v.x.infinite()),
    Hazard("inf", "division by zero", "division by 0", SAFE_DIV, _by_zero),
    Hazard("inf", "division by nearly zero", "a quotient overflows, as its divisor is next to 0", SAFE_DIV,
           lambda v: _quotient(v, small=True)),
    Hazard("inf", "overflow", "a quotient overflows", TOO_LARGE, lambda v: _quotient(v, small=False)),
)  # fmt: skip
_REMAINDER: Final = Hazard("any", "division by zero", "division by 0", SAFE_DIV, lambda v: v.y.zero())
_SAFE_EXP: Final = (
    "subtract the largest from what {op} is given, as torch.softmax and logsumexp do, or limit it: clamp(max={reach})"
)


def _exponential(reach: Callable[[float], float], *, both: bool = False) -> Hazards:
    def where(given: Given) -> Extent:
        limit = reach(given.limit) * 0.999
        return given.x.beyond(limit) if both else given.x.above(limit)

    return (
        Hazard("any", "overflow", "overflow of {op}", _SAFE_EXP, where),
        Hazard("inf", HANDED_ON, "{op} was given an infinity", SAFE_INFINITY, Given.infinite),
    )


_POW: Final[Hazards] = (
    Hazard("inf", "division by zero", "0 to a negative power", SAFE_DIV, lambda v: v.x.zero() & v.y.below(0)),
    Hazard("nan", "root of a negative", "a negative number to a fractional power", SAFE_BASE,
           lambda v: v.x.below(0) & v.y.fractional()),
    Hazard("inf", "division by nearly zero", "a number next to 0 to a negative power overflows", SAFE_BASE,
           lambda v: _power(v, small=True)),
    Hazard("inf", "overflow", "a power overflows", TOO_LARGE, lambda v: _power(v, small=False)),
    Hazard("inf", HANDED_ON, "{op} was given an infinity", SAFE_INFINITY, Given.infinite),
)  # fmt: skip


def _power(given: Given, *, small: bool) -> Extent:
    """Powers that are too large: negative ones of numbers next to 0, or others."""
    x, y, out = given.x, given.y, given.made
    if x.value is not None and y.value is not None and out.value is not None:
        near = (np.abs(x.value) < NEARLY_ZERO) & (y.value < 0)
        return Extent.of(np.isinf(out.value) & (x.value != 0) & np.isfinite(x.value) & (near if small else ~near))
    if y.bounds is None:
        return UNKNOWN
    least = max(x.smallest, np.float64(1e-300))
    if small:
        return NOWHERE if least >= NEARLY_ZERO else given.exceeded(least ** min(y.bounds[0], 0))
    return given.exceeded(max(x.magnitude, 1) ** max(y.bounds[1], 0)) | given.exceeded(
        max(least, np.float64(NEARLY_ZERO)) ** min(y.bounds[0], 0)
    )


_RECURRENT: Final[Hazards] = (
    _INFINITE,
    overflow("overflow, as what it hands from step to step of a sequence grows", lambda v: float("inf"),
             "clip gradients between backward() and step(), lower the learning rate, or take nonlinearity=\"tanh\""),
)  # fmt: skip


def _sizes(given: Given) -> list[float]:
    return [each.magnitude for each in given.operands if each.dtype[:3] not in ("int", "uin", "boo") or each.shape]


def _product(given: Given) -> float:
    """No element of a product of matrices, or a sum of products, is larger."""
    sizes, counts = _sizes(given), [max(each.count, 1) for each in given.operands]
    largest = max((first * second for first in sizes for second in sizes), default=float("nan"))
    return float("nan") if np.isnan(sizes).any() else (largest + sum(sizes)) * max(counts, default=1)


_PRODUCT: Final[Hazards] = (_INFINITE, overflow("overflow of a product", _product))
_MUL: Final[Hazards] = (
    Hazard("nan", "infinity times 0", "infinity times 0", SAFE_INFINITY,
           lambda v: (v.x.infinite() & v.y.zero()) | (v.x.zero() & v.y.infinite())),
    Hazard("inf", HANDED_ON, "a factor is infinite", SAFE_INFINITY, Given.infinite),
    Hazard("inf", "overflow", "overflow of a product", TOO_LARGE,
           lambda v: v.exceeded(v.x.magnitude * (v.y.magnitude if len(v.operands) > 1 else v.x.magnitude))),
)  # fmt: skip
_ADD: Final[Hazards] = (
    Hazard("nan", "infinity minus infinity", "inf - inf", SAFE_DIFFERENCE, lambda v: v.x.infinite() & v.y.infinite()),
    Hazard("inf", HANDED_ON, "{op} was given an infinity", SAFE_INFINITY, Given.infinite),
    Hazard("inf", "overflow", "overflow of a sum", TOO_LARGE,
           lambda v: v.exceeded(float(np.sum([abs(each.magnitude) for each in v.operands])))),
)  # fmt: skip
_SUM: Final[Hazards] = (_INFINITE, overflow("overflow of a sum", lambda v: v.x.count * v.x.magnitude))
_SQUARES: Final[Hazards] = (
    _EMPTY,
    _INFINITE,
    overflow("overflow of squares", lambda v: 4 * max(v.x.count, 1) * np.max([1, *_sizes(v)]) ** 2),
)
_LINEAR: Final[Hazards] = (
    _EMPTY,
    _INFINITE,
    overflow("overflow of a sum", lambda v: 4 * max(v.x.count, 1) * np.sum(np.abs(_sizes(v)))),
)
_CAST: Final[Hazards] = (
    overflow("its numbers are too large for {op}", lambda v: v.x.magnitude,
             "keep them in the wider dtype, or make them smaller first (normalise, divide by a constant)"),
)  # fmt: skip


_FACTORS: Final[Hazards] = (_INFINITE, overflow("overflow of a product", lambda v: v.x.magnitude**v.x.count))


def _single(given: Given) -> Extent:
    correction = given.attributes.get("correction", 1 if given.attributes.get("unbiased", True) else 0)
    degrees = given.terms - (correction if isinstance(correction, int | float) else 1)
    return Extent(degrees <= 0)


_SPREAD: Final[Hazards] = (
    _EMPTY,
    Hazard("any", "spread of one element", "the spread of a single element is 0/0", SAFE_SPREAD, _single),
    *_SQUARES[1:],
)


def _all_hidden(given: Given) -> Extent:
    """Rows of which nothing is left."""
    x, out = given.x, given.out
    if x.value is None or out.value is None:
        return UNKNOWN if x.infinite().some is not False else NOWHERE
    hidden, lost = np.isneginf(x.value), ~np.isfinite(out.value)
    for axis in reversed(range(hidden.ndim)):
        rows = np.logical_and.reduce(hidden, axis)
        if rows.any() and (lost.shape != hidden.shape or np.logical_and.reduce(lost, axis)[rows].all()):
            return Extent.of(rows)
    return NOWHERE


def _without_a_key(given: Given) -> Extent:
    """Rows of attention whose mask hides every key; of `scaled_dot_product_attention` a mask says what is left."""
    known = NOWHERE
    for each in given.operands[3:] if "dot" in given.op else given.operands:
        mask = each.value
        if mask is None and (each.dtype == "bool" or each.infinite().some):
            known = UNKNOWN
        if mask is None or mask.ndim < 2:
            continue
        hidden = np.isneginf(mask) if mask.dtype.kind == "f" else mask if mask.dtype == bool else np.zeros(1, bool)
        hidden = ~hidden if "dot" in given.op and mask.dtype == bool else hidden
        if hidden.all(-1).any():
            return Extent.of(hidden.all(-1))
    return known


_SOFTMAX: Final[Hazards] = (
    Hazard("any", "all -inf row", "all that it compares in a row is -inf", SAFE_MASK, _all_hidden),
    Hazard("any", HANDED_ON, "inf is among what it compares", SAFE_INFINITY,
           lambda v: v.x.infinite() & v.x.above(0) if v.x.value is not None else v.x.infinite() & UNKNOWN),
    overflow("its differences overflow", lambda v: 2 * v.x.magnitude),
)  # fmt: skip
_ATTENTION: Final[Hazards] = (
    Hazard("nan", "all -inf row", "its mask hides every key of a row", SAFE_MASK, _without_a_key),
    *_PRODUCT,
)


def _uncounted(given: Given) -> Extent:
    """Whether no label of the batch counts."""
    ignored = given.attributes.get("ignore_index", -100)
    found = given.y.at(ignored)
    return found if found.every else UNKNOWN if found.every is None else NOWHERE


_LABELS: Final[Hazards] = (
    _EMPTY,
    Hazard("nan", "mean of nothing", "no label of the batch counts: the mean is over nothing", SAFE_COUNT, _uncounted),
    *_LINEAR[1:],
)
_CTC: Final[Hazards] = (
    Hazard("inf", "no alignment", "a target is longer than its input can spell", "zero_infinity=True, or leave such "
           "samples out: input_lengths must not be smaller than target_lengths (and their repeated labels)",
           lambda v: UNKNOWN),
    *_LINEAR[1:],
)  # fmt: skip


def _beyond_one(given: Given) -> Extent:
    return given.x.beyond(1)


def _at_one(given: Given) -> Extent:
    return given.x.at(1) | given.x.at(-1)


_ARC: Final = Hazard("nan", "out of domain", "its input lies beyond 1 or -1", SAFE_ARC, _beyond_one)
_OPEN_ARC: Final[Hazards] = (_ARC, Hazard("inf", "out of domain", "its input is 1 or -1", SAFE_ARC, _at_one))
_SHARE: Final[Hazards] = (
    Hazard("nan", "out of domain", "its input lies below 0 or above 1", SAFE_SHARE,
           lambda v: v.x.below(0) | v.x.above(1)),
    Hazard("inf", "log of zero", "its input is 0 or 1", SAFE_SHARE, lambda v: v.x.zero() | v.x.at(1)),
)  # fmt: skip
_ACOSH: Final = Hazard("nan", "out of domain", "its input lies below 1", "clamp what {op} is given: x.clamp_min(1 + "
                       "{margin})", lambda v: v.x.below(1))  # fmt: skip
_GAMMA: Final[Hazards] = (
    Hazard("any", "pole of gamma", "its input is 0 or a negative whole number", "keep what {op} is given above 0",
           lambda v: Extent.of((v.x.value <= 0) & (v.x.value == np.round(v.x.value))) if v.x.value is not None
           else v.x.zero() | (v.x.below(0) & UNKNOWN)),
    overflow("{op} overflows", lambda v: v.x.magnitude * 100),
)  # fmt: skip
_DETERMINANT: Final[Hazards] = (
    Hazard("any", "log of zero", "the logarithm of a determinant that is not positive",
           "add a small multiple of the identity: x + 1e-6 * torch.eye(n), or take slogdet", lambda v: UNKNOWN),
)  # fmt: skip


def _log_of(limit: float) -> float:
    return float(np.log(limit))


FORWARD: Final[dict[str, Hazards]] = {
    **dict.fromkeys(("log", "log2", "log10"), _logarithm()),
    "log1p": _logarithm_of_one_more(),
    "xlogy": _logarithm(_second), "xlog1py": _logarithm_of_one_more(_second),
    "entr": (Hazard("inf", "log of a negative", "log of negative numbers", SAFE_LOG, lambda v: v.x.below(0)),),
    **dict.fromkeys(("div", "true_divide", "divide", "floor_divide"), _DIV),
    **dict.fromkeys(("fmod", "remainder"), (_REMAINDER,)),
    **dict.fromkeys(("exp", "expm1"), _exponential(_log_of)), "exp2": _exponential(lambda limit: float(np.log2(limit))),
    **dict.fromkeys(("sinh", "cosh"), _exponential(_log_of, both=True)),
    "sqrt": (_ROOT,), "rsqrt": (*_inverse(_first), _ROOT), "reciprocal": _inverse(_first),
    **dict.fromkeys(("pow", "float_power"), _POW), "square": _MUL,
    **dict.fromkeys(("mul", "multiply"), _MUL),
    **dict.fromkeys(
        ("mm", "matmul", "bmm", "linear", "bilinear", "addmm", "baddbmm", "addbmm", "addmv",
         "addr", "einsum", "outer",
         "ldexp", "matrix_power",
         "dot", "vdot", "mv", "inner", "ger", "tensordot", "chain_matmul", "multi_dot", "conv1d", "conv2d", "conv3d",
         "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "addcmul", "lerp", "cross", "trapezoid", "kron"),
        _PRODUCT,
    ),
    **dict.fromkeys(("rnn_relu", "rnn_relu_cell"), _RECURRENT),
    **dict.fromkeys(("add", "sub", "rsub", "subtract"), _ADD),
    **dict.fromkeys(("sum", "cumsum", "nansum", "trace", "diff"), _SUM), "mean": (_EMPTY, *_SUM),
    **dict.fromkeys(("prod", "cumprod"), _FACTORS),
    **dict.fromkeys(("var", "std", "std_mean", "var_mean"), _SPREAD),
    **dict.fromkeys(
        ("norm", "vector_norm", "cdist", "pdist", "dist", "hypot", "mse_loss", "cosine_similarity", "normalize",
         "layer_norm", "batch_norm", "group_norm", "instance_norm", "rms_norm", "pairwise_distance",
         "triplet_margin_loss", "cov", "native_layer_norm"),
        _SQUARES,
    ),
    **dict.fromkeys(
        ("l1_loss", "smooth_l1_loss", "huber_loss", "avg_pool1d", "avg_pool2d", "adaptive_avg_pool2d", "hinge_loss",
         "margin_ranking_loss", "binary_cross_entropy_with_logits"),
        _LINEAR,
    ),
    **dict.fromkeys(("half", "bfloat16", "to", "float", "type", "type_as"), _CAST),
    **dict.fromkeys(("softmax", "log_softmax", "softmin", "logsumexp", "logcumsumexp"), _SOFTMAX),
    **dict.fromkeys(("scaled_dot_product_attention", "multi_head_attention_forward"), _ATTENTION),
    **dict.fromkeys(("cross_entropy", "nll_loss"), _LABELS), "ctc_loss": _CTC,
    **dict.fromkeys(("acos", "asin", "arccos", "arcsin"), (_ARC,)),
    **dict.fromkeys(("atanh", "arctanh", "erfinv"), _OPEN_ARC), **dict.fromkeys(("acosh", "arccosh"), (_ACOSH,)),
    **dict.fromkeys(("logit", "ndtri"), _SHARE), **dict.fromkeys(("lgamma", "gammaln", "digamma", "psi"), _GAMMA),
    "logdet": _DETERMINANT,
}  # fmt: skip
"""Why an op gives NaN or Inf."""


def hazards_of(table: dict[str, Any], op: str) -> Hazards:
    """The hazards of an op, however it is spelled."""
    name = op.rstrip("_")
    found: Hazards = table.get(name) or table.get(name.removeprefix("linalg_").removeprefix("special_"), ())
    return found
