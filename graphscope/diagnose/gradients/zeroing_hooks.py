"""Hooks of the program that make a gradient zero, and whether the program writes those zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.explanation import where
from graphscope.diagnose.gradients.flow import Hop, share_of_zeros
from graphscope.diagnose.gradients.zero_causes import Reason
from graphscope.diagnose.source.written_numbers import is_written
from graphscope.diagnose.values.numbers import operand_numbers
from graphscope.diagnose.values.origins import moves
from graphscope.eventlog.schema import Kind, Pass

if TYPE_CHECKING:
    from graphscope.graph import Node


def zeroing_hook(hop: Hop) -> Node | None:
    """The op of a hook that made zeros of what a rule made, or put some in its place; None where no hook has."""
    graph = hop.grad.graph
    made = graph.node(hop.row)
    ran = graph.log.where(_is_of_pass, hop.grad.row + 1, hop.row)  # behind the rule, ahead of what became of its result
    nodes = (graph.node(row) for row in reversed(ran.tolist()))
    return next((each for each in nodes if each.shape == made.shape and _makes_zeros(each)), None)


def _is_of_pass(rows: np.ndarray) -> np.ndarray:
    return np.asarray((rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.BACKWARD))


def _makes_zeros(node: Node) -> bool:
    if not node.attrs.get("hook") or share_of_zeros(node) != 1:
        return False
    return node.op in _ZEROS or _factor(node) is not None


_ZEROS: Final = frozenset({"zeros_like", "new_zeros", "zero_"})


class _Factor(NamedTuple):
    """The zeros that an op multiplied by."""

    node: Node | None
    """None of a number."""
    is_single: bool


def _factor(node: Node) -> _Factor | None:
    """What an op multiplied by, zeros alone, where the other operand is not zero; else None."""
    if node.op.rstrip("_") not in _PRODUCTS or len(node.operands) != 2:
        return None
    given = [operand_numbers(each) for each in node.operands]
    zero = [place for place, each in enumerate(given) if each.count and each.zero().every]
    if len(zero) != 1 or not any(each.zero().every is False for each in given):
        return None
    edge = node.operands[zero[0]].edge
    return _Factor(None if edge is None else edge.source, given[zero[0]].count == 1)


_PRODUCTS: Final = frozenset({"mul", "multiply"})


def hook_reason(node: Node) -> Reason:
    """Why such a hook gives zeros: those that the program writes are what it asks for, those it computes are not."""
    hook, factor = f"the {node.attrs['hook']}{where(node)}", _factor(node)
    if factor is None:
        return Reason("replaced", f"{hook} puts zeros in its place", _LEAVE_OUT)
    if not factor.is_single:
        return _of_mask(hook, factor.node)
    why = f"{hook} multiplies it by 0"
    if node.site is None or is_written(node.graph.log, node.site, 0):
        return Reason("weighted with 0", why, _LEAVE_OUT)
    cure = "see why the factor is 0: a division of whole numbers (//) gives 0 until it reaches 1, as rounding does"
    return Reason("multiplied by 0 in a hook", why, cure)


_LEAVE_OUT: Final = "leave the hook out where the gradient is to pass"


def _of_mask(hook: str, mask: Node | None) -> Reason:
    """Of a mask that hides all: one that is compared or filled in was to let something pass."""
    why = f"{hook} multiplies it by a mask that is zero in all places"
    while mask is not None and moves(mask):
        mask = mask.inputs[0].source
    if mask is None or mask.kind != "op" or mask.op.rstrip("_") not in _CHOOSING:
        return Reason("masked", why, _LEAVE_OUT)
    cure = f"see why {mask.op}{where(mask)} chooses nothing: the bound it compares with, or the places it fills"
    return Reason("masked in a hook", f"{why}, as {mask.op}{where(mask)} chooses none", cure)


_CHOOSING: Final = frozenset(
    {"gt", "ge", "lt", "le", "eq", "ne", "greater", "less", "isin", "setitem", "index_put", "index_fill",
     "masked_fill", "scatter", "logical_and", "logical_or"}
)  # fmt: skip
