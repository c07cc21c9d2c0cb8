"""How NaN and Inf come into being, op by op: what of its operands an op or its rule can't take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.diagnose.gradients.flow import inputs_of

if TYPE_CHECKING:
    from graphscope.graph import Node

Values = Sequence[Any]
"""The operands of an op, then its output."""


class Birth(NamedTuple):
    """How a value that is not finite came into being."""

    cause: str
    """In a word or two: `log of zero`, `0/0`, `overflow`."""
    why: str
    cure: str


Cause = Callable[[Values], Birth | None]

_OVERFLOW: Final = "the numbers are too large for the dtype: normalise, lower the learning rate, or use float64"
_SAFE_LOG: Final = "keep its input above 0: log(x + 1e-8), clamp_min, or log_softmax instead of log(softmax)"
_SAFE_DIV: Final = "keep the divisor away from 0: x / (y + 1e-8); where() alone does not help, its gradient is nan too"
_SAFE_MASK: Final = "let a mask leave at least one element, or use masked_fill(mask, torch.finfo(x.dtype).min)"
_SAFE_INFINITY: Final = "don't multiply by an infinity: masked_fill or where put it where it is meant"
_SAFE_DIFFERENCE: Final = "take infinities out before they are subtracted: torch.where, clamp, or torch.logsumexp"
_SAFE_ROOT: Final = "keep its input above 0: sqrt(x + 1e-12)"
_SAFE_COUNT: Final = "leave such a batch out (if mask.any():), or divide a sum by count.clamp_min(1)"
_SAFE_SPREAD: Final = "one element has no spread: correction=0 (unbiased=False), or drop_last=True for the last batch"
_SAFE_DATA: Final = "clean the data: drop such rows, or torch.nan_to_num"
_SAFE_BASE: Final = "keep the base above 0: x.clamp_min(1e-6) ** p"
_SAFE_ARC: Final = "clamp its input: x.clamp(-1 + 1e-6, 1 - 1e-6)"
_SAFE_WHERE: Final = (
    "give {op} a safe input where the condition is false: {op}(torch.where(mask, x, torch.ones_like(x))); to choose "
    "among its results is too late for the gradient"
)


def born_forward(node: Node) -> Birth:
    """Why an op made a non-finite value from finite operands."""
    return _masked(node, _cause_of(FORWARD, node) or _by_operands(node))


def born_backward(node: Node) -> Birth:
    """Why the rule of an op made a non-finite gradient of a finite one."""
    unknown = Birth("born backward", f"the rule of {node.op} made it{_sizes(node)}", f"step into it: goto {node.row}")
    return _masked(node, _cause_of(BACKWARD, node) or unknown)


def is_singular(node: Node) -> bool:
    """Whether the rule of an op has no finite slope where its operands are, however small the gradient."""
    return node.op.rstrip("_") in _SINGULAR and _cause_of(BACKWARD, node) is not None


def _masked(node: Node, found: Birth) -> Birth:
    """The same; where `where` or `masked_fill` hides what the op made, that is what to change."""
    hidden = any(edge.target.op.rstrip("_") in _HIDING for edge in node.users)
    if not hidden or found.cause in ("overflow", "data"):
        return found
    why = f"{found.why}, and what hides it afterwards can't keep it out of the gradient"
    return Birth(f"masked {found.cause}", why, _SAFE_WHERE.format(op=node.op))


_HIDING: Final = frozenset({"where", "masked_fill", "nan_to_num"})


def _by_operands(node: Node) -> Birth:
    """What can be said of any op."""
    given = [value for value in inputs_of(node) if value is not None]
    if any(not value.size for value in given):
        return Birth("mean of nothing", f"{node.op} was given nothing: its input has no elements", _SAFE_COUNT)
    floats = [value for value in given if value.dtype.kind in "fc"]
    if any(np.isnan(value).any() for value in floats):
        return Birth("data", f"{node.op} was given nan by the program", _SAFE_DATA)
    made = node.summary
    if made is not None and made.nan and any(np.isinf(value).any() for value in floats):
        return Birth("of an infinity", f"{node.op} made it of an infinity{_sizes(node)}", _SAFE_INFINITY)
    if made is not None and made.nan:
        return Birth("undefined", f"{node.op} is not defined for what it was given{_sizes(node)}", _UNDEFINED)
    return Birth("overflow", f"{node.op} made it of finite numbers{_sizes(node)}", _OVERFLOW)


_UNDEFINED: Final = "look at what it was given: an empty sum that is divided by, a root or logarithm below 0"


def largest(node: Node) -> float | None:
    """The largest operand in size; None where no value was kept."""
    with np.errstate(all="ignore"):
        sizes = [float(np.max(np.abs(value))) for value in inputs_of(node) if value is not None and value.size]
    return max(sizes, default=None)


def count(mask: Any) -> str:
    """`3 of 10 elements`."""
    array = np.asarray(mask)
    if array.size == 1:
        return "its only element"
    return f"{np.count_nonzero(array)} of {array.size} elements"


def _cause_of(table: dict[str, Cause], node: Node) -> Birth | None:
    if node.op == "multi_head_attention_forward":  # its masks are no operands
        return _attention([value for edge in node.inputs if (value := edge.source.output(edge.slot)) is not None])
    cause = table.get(node.op.rstrip("_"))
    values = [*inputs_of(node), node.value]
    if cause is None or any(value is None for value in values):
        return None
    with np.errstate(all="ignore"):
        return cause(values)


def _sizes(node: Node) -> str:
    sizes = [f"{np.max(np.abs(value)):.4g}" for value in inputs_of(node) if value is not None and value.size]
    return f" (the largest in size: {', '.join(sizes)})" if sizes else ""


def _log(values: Values) -> Birth | None:
    x = values[0]
    if (x == 0).any():
        return Birth("log of zero", f"log of 0 ({count(x == 0)})", _SAFE_LOG)
    return Birth("log of a negative", f"log of negative numbers ({count(x < 0)})", _SAFE_LOG) if (x < 0).any() else None


def _div(values: Values) -> Birth | None:
    x, y = np.broadcast_arrays(values[0], values[1])
    zero = y == 0
    if not zero.any():
        return None if not np.isinf(values[-1]).any() else Birth("overflow", "a quotient overflows", _OVERFLOW)
    both = zero & (x == 0)
    if both.any():
        return Birth("0/0", f"0/0 ({count(both)})", _SAFE_DIV)
    return Birth("division by zero", f"division by 0 ({count(zero)})", _SAFE_DIV)


def _exp(values: Values) -> Birth | None:
    x, out = values[0], values[-1]
    limit = np.log(np.finfo(out.dtype).max)
    why = f"overflow of exp({np.max(x):.4g}): in {out.dtype} exp reaches to {limit:.4g}"
    return Birth("overflow", why, _OVERFLOW)


def _root(values: Values) -> Birth | None:
    x = values[0]
    if not (x < 0).any():
        return None
    return Birth("root of a negative", f"square root of negative numbers ({count(x < 0)})", _SAFE_ROOT)


def _pow(values: Values) -> Birth | None:
    x, y = np.broadcast_arrays(values[0], values[1])
    if ((x == 0) & (y < 0)).any():
        return Birth("division by zero", f"0 to a negative power ({count((x == 0) & (y < 0))})", _SAFE_DIV)
    if ((x < 0) & (y != np.round(y))).any():
        why = f"a negative number to a fractional power ({count(x < 0)})"
        return Birth("root of a negative", why, _SAFE_BASE)
    return Birth("overflow", "a power overflows", _OVERFLOW)


def _reciprocal(values: Values) -> Birth | None:
    x = values[0]
    return Birth("division by zero", f"1/0 ({count(x == 0)})", _SAFE_DIV) if (x == 0).any() else None


def _difference(values: Values) -> Birth | None:
    if np.isnan(values[-1]).any() and all(np.isinf(value).any() for value in values[:2]):
        return Birth("infinity minus infinity", f"inf - inf ({count(np.isnan(values[-1]))})", _SAFE_DIFFERENCE)
    return None


def _product(values: Values) -> Birth | None:
    floats = [value for value in values[:-1] if value.dtype.kind in "fc"]
    if any(np.isinf(value).any() for value in floats):
        zeros = any((value == 0).any() for value in floats) and np.isnan(values[-1]).any()
        why = "infinity times 0" if zeros else "a factor is infinite"
        return Birth("infinity times 0" if zeros else "of an infinity", why, _SAFE_INFINITY)
    if any(np.isnan(value).any() for value in floats):
        return None
    sizes = " and ".join(f"{np.max(np.abs(value)):.4g}" for value in floats if np.size(value))
    return Birth("overflow", f"overflow of a product (the largest in size: {sizes})", _OVERFLOW)


def _sum(values: Values) -> Birth | None:
    x = values[0]
    if not x.size:
        return None
    return Birth("overflow", f"overflow of a sum (the largest in size: {np.max(np.abs(x)):.4g})", _OVERFLOW)


def _spread(values: Values) -> Birth | None:
    x, out = values[0], values[-1]
    if x.size // max(out.size, 1) > 1:
        return None
    return Birth("spread of one element", f"the spread of a single element is 0/0 ({x.shape})", _SAFE_SPREAD)


def _counted(values: Values) -> Birth | None:
    chosen = values[1] if len(values) > 2 else None
    if chosen is None or chosen.dtype.kind not in "iu" or not np.isnan(values[-1]).any():
        return None
    if (chosen != chosen.flat[0]).any() if chosen.size else False:
        return None
    return Birth("mean of nothing", "no label of the batch counts: the mean is over nothing", _SAFE_COUNT)


def _softmax(values: Values) -> Birth | None:
    x, out = values[0], values[-1]
    if not np.isneginf(x).any():
        return None
    hidden, lost = np.isneginf(x), np.isnan(out)
    for axis in reversed(range(hidden.ndim)):
        rows = np.logical_and.reduce(hidden, axis)
        if rows.any() and np.logical_and.reduce(lost, axis)[rows].all():
            why = f"all that it compares is -inf in {count(rows).replace('elements', 'rows')}"
            return Birth("all -inf row", why, _SAFE_MASK)
    return None


def _attention(values: Values) -> Birth | None:
    """Of attention: one of what it was given is a mask that hides every key of a row."""
    for mask, hidden in ((each, _hidden_by(each)) for each in values):
        if hidden is not None and mask.ndim > 1 and hidden.all(-1).any():
            rows = count(hidden.all(-1)).replace("elements", "rows")
            return Birth("all -inf row", f"its mask hides every key in {rows}", _SAFE_MASK)
    return None


def _hidden_by(mask: np.ndarray) -> np.ndarray | None:
    """What a mask hides; None of what is no mask."""
    if mask.dtype == bool:
        return mask
    hidden = np.isneginf(mask) if mask.dtype.kind == "f" else None
    return hidden if hidden is not None and hidden.any() else None


def _dot_attention(values: Values) -> Birth | None:
    if len(values) < 5:
        return None
    mask = values[3]
    return _attention([~mask if mask.dtype == bool else mask])


def _arc(values: Values) -> Birth | None:
    outside = np.abs(values[0]) > 1
    if not outside.any():
        return None
    return Birth("out of domain", f"its input lies beyond 1 or -1 ({count(outside)})", _SAFE_ARC)


def _root_rule(values: Values) -> Birth | None:
    out = values[-1]
    why = f"the slope of sqrt at 0 is infinite ({count(out == 0)})"
    return Birth("root at zero", why, _SAFE_ROOT) if (out == 0).any() else None


def _log_rule(values: Values) -> Birth | None:
    x = values[0]
    why = f"the slope of log at 0 is infinite ({count(x == 0)})"
    return Birth("log at zero", why, _SAFE_LOG) if (x == 0).any() else None


def _div_rule(values: Values) -> Birth | None:
    y = values[1]
    return Birth("division by zero", f"it divides by 0 ({count(y == 0)})", _SAFE_DIV) if (y == 0).any() else None


def _pow_rule(values: Values) -> Birth | None:
    x, y = np.broadcast_arrays(values[0], values[1])
    steep = (x == 0) & (y < 1)
    why = f"the slope of x**{np.min(y):g} at 0 is infinite ({count(steep)})"
    return Birth("root at zero", why, _SAFE_BASE) if steep.any() else None


def _arc_rule(values: Values) -> Birth | None:
    steep = np.abs(values[0]) == 1
    why = f"its slope at 1 and -1 is infinite ({count(steep)})"
    return Birth("slope at 1", why, _SAFE_ARC) if steep.any() else None


_LOSSES: Final = ("cross_entropy", "nll_loss")

FORWARD: Final[dict[str, Cause]] = {
    "log": _log, "log2": _log, "log10": _log, "log1p": lambda values: _log([values[0] + 1]),
    "div": _div, "exp": _exp, "exp2": _exp, "expm1": _exp, "sqrt": _root, "rsqrt": _reciprocal,
    "reciprocal": _reciprocal, "pow": _pow, "mul": _product, "mm": _product, "matmul": _product, "bmm": _product,
    "softmax": _softmax, "log_softmax": _softmax, "scaled_dot_product_attention": _dot_attention, "linear": _product,
    "addmm": _product, "baddbmm": _product, "einsum": _product,
    "sum": _sum, "mean": _sum, "square": _product, "cumsum": _sum, "sub": _difference, "add": _difference,
    "std": _spread, "var": _spread, "std_mean": _spread, "var_mean": _spread, "acos": _arc, "asin": _arc,
    **dict.fromkeys(_LOSSES, _counted),
}  # fmt: skip
"""Why an op gives NaN or Inf."""

_SINGULAR: Final[dict[str, Cause]] = {
    "sqrt": _root_rule, "log": _log_rule, "log2": _log_rule, "log10": _log_rule, "div": _div_rule, "pow": _pow_rule,
    "rsqrt": _reciprocal, "reciprocal": _reciprocal, "asin": _arc_rule, "acos": _arc_rule,
}  # fmt: skip
"""Why the rule of an op gives NaN or Inf whatever gradient it is given."""

BACKWARD: Final[dict[str, Cause]] = {**_SINGULAR, "mul": _product, "mm": _product, "matmul": _product}
"""Why the rule of an op gives NaN or Inf."""
