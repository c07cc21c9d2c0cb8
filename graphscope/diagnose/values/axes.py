"""Where an axis of a tensor goes: through ops that turn and reshape it, and which axis an op sums or picks along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.diagnose.values.origins import argument

if TYPE_CHECKING:
    from graphscope.graph import Node

MERGED: Final = -1
"""An axis that became part of another."""

TURNS: Final = frozenset({"t", "T", "mT", "transpose", "swapaxes", "swapdims", "permute"})
SHAPES: Final = frozenset({"view", "reshape", "flatten", "unsqueeze"})


def carried(axis: int, target: Node) -> int | None:
    """Where an axis of the first input of a turn or a reshape lies in its output; None where that is not known."""
    before, after = target.inputs[0].source.shape, target.shape
    name = target.op.rstrip("_")
    if name in ("t", "T", "mT") and len(before) == 2:
        return 1 - axis
    if name == "mT":
        return {len(before) - 1: len(before) - 2, len(before) - 2: len(before) - 1}.get(axis, axis)
    if name in ("transpose", "swapaxes", "swapdims"):
        pair = [argument(target, f"dim{place}", place + 1) for place in (0, 1)]
        if not all(isinstance(each, int) for each in pair):
            return None
        one, other = (each % len(before) for each in pair)
        swapped: dict[int, int] = {one: other, other: one}
        return swapped.get(axis, axis)
    if name == "permute":
        order = _order(target, len(before))
        return None if order is None else order.index(axis)
    return _reshaped(axis, before, after) if name in SHAPES else None


def _order(target: Node, dimensions: int) -> list[int] | None:
    given = argument(target, "dims", 1)
    order = list(given) if isinstance(given, tuple | list) else list((target.arguments.operands or ())[1:])
    if len(order) != dimensions or not all(isinstance(each, int) for each in order):
        return None
    found = [each % dimensions for each in order]
    return found if sorted(found) == list(range(dimensions)) else None


def _reshaped(axis: int, before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    """An axis keeps its place among those that did not change, from the front or the back; else it is merged."""
    if before[: axis + 1] == after[: axis + 1]:
        return axis
    behind = len(before) - axis
    if before[-behind:] == after[-behind:] and behind <= len(after):
        return len(after) - behind
    return MERGED if len(after) < len(before) else None


def summed_over(node: Node) -> list[int] | None:
    """The axes that a sum or a pick runs over; None where it runs over all, or they are not known."""
    given = argument(node, "dim", 1)
    dimensions = len(node.inputs[0].source.shape)
    found = [given] if isinstance(given, int) else list(given) if isinstance(given, tuple | list) else []
    if not found or not dimensions or not all(isinstance(each, int) and not isinstance(each, bool) for each in found):
        return None
    return [each % dimensions for each in found]


def contracted(node: Node, operand: int) -> int | None:
    """The axis of an operand that a product of matrices runs over; None where it is not one axis, or is not known."""
    if operand >= len(node.inputs):
        return None
    shape = node.inputs[operand].source.shape
    if node.op in ("matmul", "bmm", "mm"):
        return len(shape) - 1 if operand == 0 else max(len(shape) - 2, 0)
    equation = argument(node, "equation", 0)
    if node.op != "einsum" or not isinstance(equation, str) or "->" not in equation or "." in equation:
        return None
    left, _, right = equation.replace(" ", "").partition("->")
    letters = left.split(",")
    if len(letters) != 2 or len(letters[operand]) != len(shape):
        return None
    gone = [place for place, letter in enumerate(letters[operand]) if letter not in right]
    return gone[0] if len(gone) == 1 else None
