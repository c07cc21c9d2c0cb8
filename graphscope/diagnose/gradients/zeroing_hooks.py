"""Hooks of the program that multiply a gradient by 0, and whether the program writes that 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import where
from graphscope.diagnose.gradients.flow import Hop, share_of_zeros
from graphscope.diagnose.gradients.zero_causes import Reason
from graphscope.diagnose.source.written_numbers import is_written
from graphscope.diagnose.values.numbers import operand_numbers
from graphscope.eventlog.schema import Kind, Pass

if TYPE_CHECKING:
    from graphscope.graph import Node


def zeroing_hook(hop: Hop) -> Node | None:
    """The op of a hook that multiplied what a rule made by 0; None where no hook has."""
    graph = hop.grad.graph
    made = graph.node(hop.row)
    ran = graph.log.where(_is_of_pass, hop.grad.row + 1, hop.row)  # behind the rule, ahead of what became of its result
    nodes = (graph.node(row) for row in reversed(ran.tolist()))
    return next((each for each in nodes if each.shape == made.shape and _multiplies_by_zero(each)), None)


def _is_of_pass(rows: np.ndarray) -> np.ndarray:
    return np.asarray((rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.BACKWARD))


def _multiplies_by_zero(node: Node) -> bool:
    """Whether an op multiplied what is not zero by one number that is."""
    if not node.attrs.get("hook") or node.op.rstrip("_") not in _PRODUCTS or share_of_zeros(node) != 1:
        return False
    given = [operand_numbers(each) for each in node.operands]
    factors = [each for each in given if each.count == 1 and each.zero().every]
    return len(given) == 2 and len(factors) == 1 and any(each.zero().every is False for each in given)


_PRODUCTS: Final = frozenset({"mul", "multiply"})


def hook_reason(node: Node) -> Reason:
    """Why such a hook gives zeros: a 0 that the program writes is what it asks for, one that it computes is not."""
    why = f"the {node.attrs['hook']}{where(node)} multiplies it by 0"
    if node.site is None or is_written(node.graph.log, node.site, 0):
        return Reason("weighted with 0", why, "leave the hook out where the gradient is to pass")
    cure = "see why the factor is 0: a division of whole numbers (//) gives 0 until it reaches 1, as rounding does"
    return Reason("multiplied by 0 in a hook", why, cure)
