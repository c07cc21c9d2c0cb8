"""What the rule of one input makes of a gradient that arrives at an op, in numbers of the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.graph.rule_text import ELEMENTS, Language, applied, evaluated, wider

if TYPE_CHECKING:
    from graphscope.graph.node import Node
    from graphscope.graph.operands import Operand

__all__ = ["local_derivative", "pulled"]


def pulled(op: Node, operand: Operand, gradient: np.ndarray) -> np.ndarray | None:
    """The gradient of one input, where this one arrives at the op's result; None where the recording does not tell it.

    Args:
        op: The op.
        operand: The input.
        gradient: What arrives.
    """
    if operand.edge is None:
        return None
    shape = operand.edge.source.outputs[operand.edge.slot][0]
    made = _by_rule(op, operand, gradient, shape, _TENSORS)
    return _by_record(op, operand, gradient, shape) if made is None else made


def local_derivative(op: Node, operand: Operand) -> np.ndarray | None:
    """The derivative of an op's result by one input, where it is a number, or one for each element by itself; else None
    (it is a matrix then).
    """
    if operand.edge is None:
        return None
    shape = operand.edge.source.outputs[operand.edge.slot][0]
    ones = np.ones(op.shape, np.float64)
    if ones.size == 1 or int(np.prod(shape)) == 1 == ones.size:
        return pulled(op, operand, ones)
    return _by_rule(op, operand, ones, shape, ELEMENTS) if shape == op.shape else None


def _by_rule(
    op: Node, operand: Operand, gradient: np.ndarray, shape: tuple[int, ...], language: Language
) -> np.ndarray | None:
    """What the text of the rule comes to."""
    rule = applied(op, operand.rule)
    if not rule or "\n" in rule:
        return None
    try:
        with np.errstate(all="ignore"):
            made = np.asarray(evaluated(rule, _names(op, gradient), language), np.float64)
        return _summed_to(made, shape)
    except (LookupError, ValueError, TypeError, IndexError, ArithmeticError, AttributeError):
        return None  # it says more, or a value was not kept


def _by_record(op: Node, operand: Operand, gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    """What the program computed there, scaled: where the result is one number, it is its whole derivative."""
    arrived = op.grad
    if operand.edge is None or gradient.size != 1 or arrived is None or arrived.size != 1 or not arrived.reshape(()):
        return None
    found = operand.edge.source.contributions
    own = found if len(found) == 1 else [each for each in found if _rule_of(each.source) == op]
    if len(own) != 1 or own[0].value is None or own[0].value.shape != shape:
        return None
    return np.asarray(own[0].value, np.float64) * (float(gradient.reshape(())) / float(arrived.reshape(())))


def _rule_of(node: Node | None) -> Node | None:
    """The op whose rule a backward node is of; a call may have several, one behind the other."""
    while node is not None and node.kind == "grad":
        node = node.forward
    return node


def _names(op: Node, gradient: np.ndarray) -> dict[str, Any]:
    """What the words of an op's rules stand for."""
    known: dict[str, Any] = {**op.defaults, **op.arguments.attributes}
    for each in op.operands:
        known[each.name] = each.constant if each.edge is None else _float(each.edge.source.output(each.edge.slot))
    out = _float(op.value)
    known |= {"g": gradient, "out": out}
    return {name: value for name, value in known.items() if value is not None}


def _float(value: np.ndarray | None) -> np.ndarray | None:
    return value.astype(np.float64) if value is not None and value.dtype.kind in "fiub" else value


def _summed_to(made: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of what was broadcast: the sum over all of its copies; what is less than the shape is spread."""
    if made.ndim > len(shape):
        made = made.sum(axis=tuple(range(made.ndim - len(shape))))
    short = len(shape) - made.ndim
    axes = tuple(axis for axis in range(made.ndim) if shape[short + axis] == 1 and made.shape[axis] != 1)
    made = made.sum(axis=axes, keepdims=True) if axes else made
    return np.array(np.broadcast_to(made, shape))


def _rows(value: np.ndarray) -> np.ndarray:
    return value.reshape(-1, value.shape[-1])


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of a tensor; some rules name the shape itself."""
    return value.shape if isinstance(value, np.ndarray) else tuple(map(int, value))


def _dims(rank: int, dim: Any) -> tuple[int, ...]:
    """The dims that were reduced: all of them where none is named."""
    if dim is None or dim in ([], ()):
        return tuple(range(rank))
    return tuple(int(each) % rank for each in (dim if isinstance(dim, (list, tuple)) else (dim,)))


def _count(value: Any, dim: Any = None) -> int:
    shape = _shape(value)
    return int(np.prod([shape[each] for each in _dims(len(shape), dim)]))


def _spread(gradient: np.ndarray, value: Any, dim: Any = None, keepdim: Any = False) -> np.ndarray:
    """What was reduced, over all that it was reduced from."""
    shape = _shape(value)
    lost = () if keepdim or gradient.ndim == len(shape) else sorted(_dims(len(shape), dim))
    for axis in lost:
        gradient = np.expand_dims(gradient, axis)
    return np.broadcast_to(gradient, shape)


_TENSORS: Final = wider(
    {
        "rows": _rows,
        "count": _count,
        "spread": _spread,
        "reshape": lambda gradient, value: gradient.reshape(value.shape),
        "outer": np.outer,
        "transpose": lambda gradient, one, other: np.swapaxes(gradient, int(one), int(other)),
    },
    {"T": lambda value: value.T, "mT": lambda value: np.swapaxes(value, -1, -2)},
)
"""What is computed of whole tensors; rules with other words are known by what the program recorded, if at all."""
