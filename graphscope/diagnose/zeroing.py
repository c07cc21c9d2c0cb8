"""Why the rule of an op gives zeros, op by op: what it multiplies by, as read off the values that the op had."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.diagnose.explanation import title
from graphscope.diagnose.flow import inputs_of

if TYPE_CHECKING:
    from graphscope.graph import Node


class Reason(NamedTuple):
    """Why zeros, and what to do."""

    cause: str
    why: str
    cure: str


def reason(node: Node) -> Reason:
    """Why the rule of a forward node gave zeros."""
    for ops, tell in REASONS:
        if node.op.rstrip("_") in ops:
            return tell(node)
    return Reason("zeros", "its rule gave zeros", f"look at it: goto {node.row}, `p inputs`, and s into its rule")


def share(mask: Any) -> str:
    """`75% of`, for a sentence about elements."""
    array = np.asarray(mask)
    return f"{np.count_nonzero(array) / max(array.size, 1):.0%} of"


def _closed(node: Node) -> Reason:
    x = inputs_of(node)[0]
    cure = "smaller learning rate, another initialisation, or leaky_relu, which never closes"
    if x is None:
        return Reason("relu closed", "its inputs are not positive", cure)
    return Reason("relu closed", f"{share(x <= 0)} its inputs are not positive (the largest is {np.max(x):.4g})", cure)


def _clamped(node: Node) -> Reason:
    x, out = inputs_of(node)[0], node.value
    cure = "widen the bounds, or use a smooth squashing such as tanh"
    if x is None or out is None:
        return Reason("clamped", "its inputs lie outside of the bounds", cure)
    return Reason("clamped", f"{share(x != out)} its inputs lie outside of the bounds", cure)


def _saturated(node: Node) -> Reason:
    out = node.value
    cure = "keep its inputs small: normalise them, or take a loss that works on logits (cross_entropy, ..._with_logits)"
    if out is None:
        return Reason("saturated", "it is saturated", cure)
    flat = (1 - out * out == 0) if node.op == "tanh" else (out * (1 - out) == 0)
    x = inputs_of(node)[0]
    largest = "" if x is None else f" (its largest input is {np.max(np.abs(x)):.4g} in size)"
    return Reason("saturated", f"{share(flat)} its outputs are saturated{largest}", cure)


def _multiplied(node: Node) -> Reason:
    names = [title(edge.source) for edge in node.inputs]
    worst, zeros, exact = "", 0.0, "0%"
    for position, value in enumerate(inputs_of(node)):
        if value is not None and value.size:
            part = 1 - np.count_nonzero(value) / value.size
            if part > zeros:
                worst = names[position] if position < len(names) else f"{value.item():g}"
                zeros, exact = part, share(value == 0)
    if not zeros:
        return Reason("underflow", "the products are too small for its dtype", "scale the loss up, or use float64")
    cure = "see where the zeros come from: an initialisation with zeros, a mask that hides all, a factor of 0"
    return Reason("multiplied by zeros", f"{exact} {worst} (what it is multiplied by) is zero", cure)


def _divided(node: Node) -> Reason:
    return Reason(
        "underflow", "the quotients are too small for its dtype: it divides by large numbers",
        "scale its inputs, or use float64",
    )  # fmt: skip


def _flat(node: Node) -> Reason:
    return Reason(
        "flat",
        f"{node.op} is a staircase: its slope is zero wherever it has one",
        "leave it out of the way to the loss, or pass the gradient straight through: x + (x.round() - x).detach()",
    )


def _picked(node: Node) -> Reason:
    return Reason(
        "not picked",
        "it takes other elements than these, and the gradient goes to those it takes",
        "nothing is wrong if these were not to be used; else look at the index, the mask or the condition",
    )


def _masked(node: Node) -> Reason:
    return Reason(
        "masked",
        "the mask replaces all of these elements",
        "look at the mask: it should leave some elements as they are",
    )


def _power(node: Node) -> Reason:
    values = inputs_of(node)
    exponent = values[1] if len(values) > 1 else None
    if exponent is not None and not np.any(exponent):
        return Reason("exponent 0", "the exponent is 0: the power is 1, whatever the base", "take another exponent")
    return Reason("base 0", "its base is 0, where a power has no slope", "start elsewhere than at 0")


def _at_kink(node: Node) -> Reason:
    return Reason(
        "at the kink",
        f"its inputs are exactly 0, where the slope of {node.op} is taken as 0",
        "start elsewhere than at 0",
    )


def _replaced(node: Node) -> Reason:
    return Reason(
        "replaced",
        f"{node.op} hands gradients on as they are, so a hook or an edit put zeros there",
        "look at the hooks: register_hook, register_full_backward_hook",
    )


REASONS: Final[tuple[tuple[frozenset[str], Callable[[Node], Reason]], ...]] = (
    (frozenset({"relu", "relu6", "threshold", "hardswish"}), _closed),
    (frozenset({"clamp", "clip", "clamp_min", "clamp_max", "hardtanh", "hardsigmoid"}), _clamped),
    (frozenset({"sigmoid", "tanh", "softmax", "log_softmax", "logsigmoid", "erf", "softmin", "exp"}), _saturated),
    (frozenset({"mul", "mm", "matmul", "bmm", "mv", "dot", "linear", "addmm", "outer", "einsum", "conv1d", "conv2d",
                "conv3d", "dropout", "addcmul", "lerp", "baddbmm"}), _multiplied),
    (frozenset({"div", "addcdiv", "reciprocal"}), _divided),
    (frozenset({"round", "floor", "ceil", "trunc", "sign", "sgn", "heaviside", "floor_divide"}), _flat),
    (frozenset({"getitem", "select", "narrow", "index", "index_select", "gather", "take_along_dim", "embedding", "max",
                "min", "amax", "amin", "maximum", "minimum", "max_pool1d", "max_pool2d", "max_pool3d", "where", "sort",
                "topk", "median", "take", "masked_select", "nll_loss", "tril", "triu", "diag", "diagonal", "setitem",
                "pad", "index_put", "copy"}), _picked),
    (frozenset({"masked_fill", "masked_scatter"}), _masked),
    (frozenset({"pow", "square"}), _power),
    (frozenset({"abs", "norm"}), _at_kink),
    (frozenset({"add", "sub", "neg", "sum", "reshape", "view", "transpose", "t", "permute", "squeeze", "unsqueeze",
                "clone", "cat", "stack", "flatten", "expand"}), _replaced),
)  # fmt: skip
"""For the ops whose rules can give zeros: how to tell why."""
