"""Why the rule of an op gives zeros, op by op: what it multiplies by, as read off the values that the op had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.diagnose.explanation import title
from graphscope.diagnose.gradients.flow import inputs_of
from graphscope.diagnose.values.numbers import operand_numbers
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.graph import Node


class Reason(NamedTuple):
    """Why zeros, and what to do."""

    cause: str
    why: str
    cure: str


@dataclass(frozen=True)
class Evidence:
    """A rule that gave zeros: its forward node, which input they were for, and the cotangent that it was given."""

    node: Node
    toward: Node
    cotangent: np.ndarray | None = None

    @property
    def x(self) -> Any:
        """The first operand where a gradient arrived; None when it was not kept."""
        return self.arriving(inputs_of(self.node)[0])

    @property
    def out(self) -> Any:
        """The output where a gradient arrived; None when it was not kept."""
        return self.arriving(self.node.value)

    def arriving(self, values: np.ndarray | None) -> np.ndarray | None:
        """The elements whose cotangent is not zero; all of them, where that can't be told."""
        if values is None or self.cotangent is None or self.cotangent.shape != values.shape:
            return values
        chosen = values[self.cotangent != 0]
        return chosen if chosen.size else values


def reason(evidence: Evidence) -> Reason:
    """Why the rule of a forward node gave zeros."""
    node = evidence.node
    for ops, tell in REASONS:
        if node.op.rstrip("_") in ops:
            return tell(evidence)
    return _given_zeros(evidence)


def share(mask: Any) -> str:
    """`75% of`, for a sentence about elements."""
    array = np.asarray(mask)
    return f"{np.count_nonzero(array) / max(array.size, 1):.0%} of"


def _closed(evidence: Evidence) -> Reason:
    x = evidence.x
    cure = "smaller learning rate, another initialisation, or leaky_relu, which never closes"
    if x is None:
        return Reason("relu closed", "its inputs are not positive", cure)
    if (x > 0).all():  # relu6 has a ceiling
        return _clamped(evidence)
    return Reason("relu closed", f"{share(x <= 0)} its inputs are not positive (the largest is {np.max(x):.4g})", cure)


def _clamped(evidence: Evidence) -> Reason:
    x, out = evidence.x, evidence.out
    cure = "widen the bounds, or use a smooth squashing such as tanh"
    if x is None or out is None:
        return Reason("clamped", "its inputs lie outside of the bounds", cure)
    if (x == out).all():
        return _replaced(evidence)
    return Reason("clamped", f"{share(x != out)} its inputs lie outside of the bounds", cure)


def _saturated(evidence: Evidence) -> Reason:
    x, out = evidence.x, evidence.out
    op = evidence.node.op.rstrip("_")
    cure = f"keep what {op} is given small: normalise it, or leave out the factor that makes it large"
    if op in _PROBABILITIES:
        cure += "; in front of a loss, take one that works on logits (cross_entropy, ..._with_logits)"
    if out is None:
        return Reason("saturated", "it is saturated", cure)
    flat = _SLOPES.get(evidence.node.op, _logistic)(out) == 0
    if not flat.any():
        return _of_equals(evidence) if evidence.node.op in _OF_SUM_1 else _replaced(evidence)
    largest = "" if x is None else f" (its largest input is {np.max(np.abs(x)):.4g} in size)"
    return Reason("saturated", f"{share(flat)} its outputs are saturated{largest}", cure)


_PROBABILITIES: Final = frozenset({"sigmoid", "softmax", "log_softmax", "logsigmoid", "softmin"})


def _logistic(out: Any) -> Any:
    return out * (1 - out)


_SLOPES: Final[dict[str, Callable[[Any], Any]]] = {
    "tanh": lambda out: 1 - out * out,
    "exp": lambda out: out,
    "log_softmax": lambda out: np.exp(out) * (1 - np.exp(out)),
    "logsigmoid": lambda out: 1 - np.exp(out),
    "erf": lambda out: 1 - np.abs(out),
}
"""By what an op multiplies the gradient, told by its output; all others are logistic."""

_OF_SUM_1: Final = frozenset({"softmax", "softmin"})


def _of_equals(evidence: Evidence) -> Reason:
    why = "its outputs add up to 1 whatever its inputs are, and the same gradient arrives at each: it cancels"
    return Reason("adds up to 1", why, "let the loss tell the outputs apart: pick, weigh or compare them")


def _dropped(evidence: Evidence) -> Reason:
    out = evidence.out
    if out is not None and out.any():
        return _replaced(evidence)
    return Reason("dropped", "it drops all of these elements", "take a smaller p, or call model.eval()")


def _at_minimum(evidence: Evidence) -> Reason:
    out = evidence.node.value
    if out is not None and not out.any():
        return Reason("at its minimum", "the loss is 0: there is nothing left to learn", "look at the data")
    return _given_zeros(evidence)


def _given_zeros(evidence: Evidence) -> Reason:
    row = evidence.node.row
    return Reason("zeros", "its rule gave zeros", f"look at it: goto {row}, `p inputs`, and s into its rule")


def _overwritten(evidence: Evidence) -> Reason:
    why = "it puts other numbers in the place of these"
    return Reason("overwritten", why, "leave it out, or write into a tensor that the loss is not made of")


def _multiplied(evidence: Evidence) -> Reason:
    inputs = [edge.source for edge in evidence.node.inputs]
    toward = evidence.toward.tensor
    worst, zeros, largest = None, None, 0.0
    for position, operand in enumerate(evidence.node.operands):
        own = position < len(inputs) and inputs[position].tensor == toward
        factor = operand_numbers(operand)
        zero = factor.zero()
        if not factor.count or zero.some is None or (own and any(each.tensor != toward for each in inputs)):
            continue
        largest = max(largest, float(factor.magnitude))
        if zero.some and (zeros is None or zero.share > zeros.share):
            worst = inputs[position] if position < len(inputs) else None
            zeros = zero
    if zeros is None:
        return _too_small(evidence, largest)
    why = (
        f"{zeros.share:.0%} of {title(worst)} (what it is multiplied by) is zero" if worst else "it is multiplied by 0"
    )
    cure = "see where the zeros come from: an initialisation with zeros, a mask that hides all, a factor of 0"
    cause = "weighted with 0" if worst is None else "masked" if _is_mask(worst) else "multiplied by zeros"
    return Reason(cause, why, cure)


def _is_mask(node: Node) -> bool:
    """Whether a node holds ones and zeros alone, and does not learn; nothing but zeros if the program made it so."""
    value = node.value
    if value is None or node.flags & Flag.REQUIRES_GRAD or not ((value == 0) | (value == 1)).all():
        return False
    return node.kind == "leaf" or bool(value.any())


def _too_small(evidence: Evidence, largest: float) -> Reason:
    """The product of what is not zero is zero: it underflows, or is not what was handed on."""
    given = evidence.cotangent
    if given is not None and given.dtype.kind == "f" and given.size and largest:
        product = float(np.max(np.abs(given))) * largest
        if product >= float(np.finfo(given.dtype).tiny):
            return _replaced(evidence)
    return Reason("underflow", "the products are too small for its dtype", "scale the loss up, or use float64")


def _divided(evidence: Evidence) -> Reason:
    operands = evidence.node.operands
    if len(operands) > 1 and operand_numbers(operands[0]).zero().every:
        why = "what is divided is zero, and with it the slope by the divisor"
        return Reason("multiplied by zeros", why, "see where the zeros come from: an initialisation, or a mask")
    why = "the quotients are too small for its dtype: it divides by large numbers"
    return Reason("underflow", why, "scale its inputs, or use float64")


def _flat(evidence: Evidence) -> Reason:
    why = f"{evidence.node.op} is a staircase: its slope is zero wherever it has one"
    cure = "leave it out of the way to the loss, or pass the gradient straight through: x + (x.round() - x).detach()"
    return Reason("flat", why, cure)


def _picked(evidence: Evidence) -> Reason:
    why = "it takes other elements than these, and the gradient goes to those it takes"
    cure = "nothing is wrong if these were not to be used; else look at the index, the mask or the condition"
    return Reason("not picked", why, cure)


def _masked(evidence: Evidence) -> Reason:
    cure = "look at the mask: it should leave some elements as they are"
    return Reason("masked", "the mask replaces all of these elements", cure)


def _power(evidence: Evidence) -> Reason:
    base, *exponents = (operand_numbers(each) for each in evidence.node.operands[:2])
    if exponents and exponents[0].zero().every:
        return Reason("exponent 0", "the exponent is 0: the power is 1, whatever the base", "take another exponent")
    if base.zero().some is False:
        return _too_small(evidence, float(base.magnitude))
    if not exponents or (exponents[0].value is not None and not np.any(exponents[0].value % 2)):
        return Reason("at its minimum", "its base is 0, where a square is smallest: nothing is left to learn", "")
    return Reason("base 0", "its base is 0, where a power has no slope", "start elsewhere than at 0")


def _at_kink(evidence: Evidence) -> Reason:
    why = f"its inputs are exactly 0, where the slope of {evidence.node.op} is taken as 0"
    return Reason("at the kink", why, "start elsewhere than at 0")


def _replaced(evidence: Evidence) -> Reason:
    why = f"what {evidence.node.op} computes is not zero, so a hook or an edit put zeros in its place"
    return Reason("replaced", why, "look at the hooks: register_hook, register_full_backward_hook")


REASONS: Final[tuple[tuple[frozenset[str], Callable[[Evidence], Reason]], ...]] = (
    (frozenset({"relu", "relu6", "threshold", "hardswish"}), _closed),
    (frozenset({"clamp", "clip", "clamp_min", "clamp_max", "hardtanh", "hardsigmoid"}), _clamped),
    (frozenset({"sigmoid", "tanh", "softmax", "log_softmax", "logsigmoid", "erf", "softmin", "exp"}), _saturated),
    (frozenset({"mul", "mm", "matmul", "bmm", "mv", "dot", "linear", "addmm", "outer", "einsum", "conv1d", "conv2d",
                "conv3d", "addcmul", "lerp", "baddbmm"}), _multiplied),
    (frozenset({"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"}), _dropped),
    (frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
                "binary_cross_entropy_with_logits", "cross_entropy"}), _at_minimum),
    (frozenset({"copy", "zero", "fill"}), _overwritten),
    (frozenset({"div", "addcdiv", "reciprocal"}), _divided),
    (frozenset({"round", "floor", "ceil", "trunc", "sign", "sgn", "heaviside", "floor_divide"}), _flat),
    (frozenset({"getitem", "select", "narrow", "index", "index_select", "gather", "take_along_dim", "embedding", "max",
                "min", "amax", "amin", "maximum", "minimum", "max_pool1d", "max_pool2d", "max_pool3d", "where", "sort",
                "topk", "median", "take", "masked_select", "nll_loss", "tril", "triu", "diag", "diagonal", "setitem",
                "pad", "index_put"}), _picked),
    (frozenset({"masked_fill", "masked_scatter"}), _masked),
    (frozenset({"pow", "square"}), _power),
    (frozenset({"abs", "norm"}), _at_kink),
    (frozenset({"add", "sub", "neg", "sum", "mean", "reshape", "view", "transpose", "t", "permute", "squeeze",
                "unsqueeze", "clone", "cat", "stack", "flatten", "expand"}), _replaced),
)  # fmt: skip
"""For the ops whose rules can give zeros: how to tell why."""
