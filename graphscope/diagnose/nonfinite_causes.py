"""How NaN and Inf come into being, op by op: what of its operands an op or its rule can't take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.diagnose.flow import inputs_of

if TYPE_CHECKING:
    from graphscope.graph import Node

Values = Sequence[Any]
"""The operands of an op, then its output."""

Words = tuple[str, str]
"""What happened, and the cure."""

Cause = Callable[[Values], Words | None]

_OVERFLOW: Final = "the numbers are too large for the dtype: normalise, lower the learning rate, or use float64"
_SAFE_LOG: Final = "keep its input above 0: log(x + 1e-8), clamp_min, or log_softmax instead of log(softmax)"
_SAFE_DIV: Final = "keep the divisor away from 0: x / (y + 1e-8); where() alone does not help, its gradient is nan too"
_SAFE_MASK: Final = "let a mask leave at least one element, or use masked_fill(mask, torch.finfo(x.dtype).min)"
_SAFE_INFINITY: Final = "don't multiply by an infinity: masked_fill or where put it where it is meant"
_SAFE_ROOT: Final = "keep its input above 0: sqrt(x + 1e-12)"


def born_forward(node: Node) -> Words:
    """Why an op made a non-finite value from finite operands."""
    return _cause_of(FORWARD, node) or (f"{node.op} made it of finite numbers{_sizes(node)}", _OVERFLOW)


def born_backward(node: Node) -> Words:
    """Why the rule of an op made a non-finite gradient of a finite one."""
    return _cause_of(BACKWARD, node) or (
        f"the rule of {node.op} made it{_sizes(node)}",
        f"step into it: goto {node.row}",
    )


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


def _cause_of(table: dict[str, Cause], node: Node) -> Words | None:
    cause = table.get(node.op.rstrip("_"))
    values = [*inputs_of(node), node.value]
    if cause is None or any(value is None for value in values):
        return None
    with np.errstate(all="ignore"):
        return cause(values)


def _sizes(node: Node) -> str:
    sizes = [f"{np.max(np.abs(value)):.4g}" for value in inputs_of(node) if value is not None and value.size]
    return f" (the largest in size: {', '.join(sizes)})" if sizes else ""


def _log(values: Values) -> Words | None:
    x = values[0]
    if (x == 0).any():
        return f"log of 0 ({count(x == 0)})", _SAFE_LOG
    return (f"log of negative numbers ({count(x < 0)})", _SAFE_LOG) if (x < 0).any() else None


def _div(values: Values) -> Words | None:
    x, y = values[0], values[1]
    zero = y == 0
    if not zero.any():
        return "a quotient overflows", _OVERFLOW
    both = zero & (x == 0)
    return (f"0/0 ({count(both)})" if both.any() else f"division by 0 ({count(zero)})"), _SAFE_DIV


def _exp(values: Values) -> Words | None:
    x, out = values[0], values[-1]
    limit = np.log(np.finfo(out.dtype).max)
    return f"overflow of exp({np.max(x):.4g}): in {out.dtype} exp reaches to {limit:.4g}", _OVERFLOW


def _root(values: Values) -> Words | None:
    x = values[0]
    return (f"square root of negative numbers ({count(x < 0)})", _SAFE_ROOT) if (x < 0).any() else None


def _pow(values: Values) -> Words | None:
    x, y = values[0], values[1]
    if ((x == 0) & (y < 0)).any():
        return f"0 to a negative power ({count((x == 0) & (y < 0))})", _SAFE_DIV
    if ((x < 0) & (y != np.round(y))).any():
        return f"a negative number to a fractional power ({count(x < 0)})", _SAFE_ROOT
    return "a power overflows", _OVERFLOW


def _reciprocal(values: Values) -> Words | None:
    x = values[0]
    return (f"1/0 ({count(x == 0)})", _SAFE_DIV) if (x == 0).any() else None


def _product(values: Values) -> Words | None:
    if any(np.isinf(value).any() for value in values[:-1]):
        zeros = any((value == 0).any() for value in values[:-1]) and np.isnan(values[-1]).any()
        return "infinity times 0" if zeros else "a factor is infinite", _SAFE_INFINITY
    sizes = " and ".join(f"{np.max(np.abs(value)):.4g}" for value in values[:-1] if np.size(value))
    return f"overflow of a product (the largest in size: {sizes})", _OVERFLOW


def _sum(values: Values) -> Words | None:
    return f"overflow of a sum (the largest in size: {np.max(np.abs(values[0])):.4g})", _OVERFLOW


def _softmax(values: Values) -> Words | None:
    x, out = values[0], values[-1]
    if not np.isneginf(x).any():
        return None
    hidden, lost = np.isneginf(x), np.isnan(out)
    for axis in reversed(range(hidden.ndim)):
        rows = np.logical_and.reduce(hidden, axis)
        if rows.any() and np.logical_and.reduce(lost, axis)[rows].all():
            return f"all that it compares is -inf in {count(rows).replace('elements', 'rows')}", _SAFE_MASK
    return None


def _attention(values: Values) -> Words | None:
    if len(values) < 5:
        return None
    mask = values[3]
    hidden = (~mask if mask.dtype == bool else np.isneginf(mask)).all(-1)
    hidden_rows = count(hidden).replace("elements", "rows")
    return (f"its mask hides every key in {hidden_rows}", _SAFE_MASK) if hidden.any() else None


def _root_rule(values: Values) -> Words | None:
    out = values[-1]
    return (f"the slope of sqrt at 0 is infinite ({count(out == 0)})", _SAFE_ROOT) if (out == 0).any() else None


def _log_rule(values: Values) -> Words | None:
    x = values[0]
    return (f"the slope of log at 0 is infinite ({count(x == 0)})", _SAFE_LOG) if (x == 0).any() else None


def _div_rule(values: Values) -> Words | None:
    y = values[1]
    return (f"it divides by 0 ({count(y == 0)})", _SAFE_DIV) if (y == 0).any() else None


def _pow_rule(values: Values) -> Words | None:
    x, y = values[0], values[1]
    steep = (x == 0) & (y < 1)
    return (f"the slope of x**{np.min(y):g} at 0 is infinite ({count(steep)})", _SAFE_ROOT) if steep.any() else None


def _arc_rule(values: Values) -> Words | None:
    x = values[0]
    steep = np.abs(x) == 1
    return (f"its slope at 1 and -1 is infinite ({count(steep)})", "clamp its input: x.clamp(-1 + 1e-6, 1 - 1e-6)")


FORWARD: Final[dict[str, Cause]] = {
    "log": _log, "log2": _log, "log10": _log, "log1p": lambda values: _log([values[0] + 1]),
    "div": _div, "exp": _exp, "exp2": _exp, "expm1": _exp, "sqrt": _root, "rsqrt": _reciprocal,
    "reciprocal": _reciprocal, "pow": _pow, "mul": _product, "mm": _product, "matmul": _product, "bmm": _product,
    "softmax": _softmax, "log_softmax": _softmax, "scaled_dot_product_attention": _attention, "linear": _product,
    "sum": _sum, "mean": _sum, "square": _product, "cumsum": _sum,
}  # fmt: skip
"""Why an op gives NaN or Inf."""

BACKWARD: Final[dict[str, Cause]] = {
    "sqrt": _root_rule, "log": _log_rule, "log2": _log_rule, "log10": _log_rule, "div": _div_rule, "pow": _pow_rule,
    "rsqrt": _reciprocal, "reciprocal": _reciprocal, "asin": _arc_rule, "acos": _arc_rule, "mul": _product,
    "mm": _product, "matmul": _product,
}  # fmt: skip
"""Why the rule of an op gives NaN or Inf."""
