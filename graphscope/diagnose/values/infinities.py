"""Where an infinity that the program itself brought came into its numbers: what can't take it later is no cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.diagnose.explanation import where
from graphscope.diagnose.values.hazards import HANDED_ON, SAFE_FILL, Birth
from graphscope.diagnose.values.nonfinite_causes import born_forward
from graphscope.graph.faults import MOST, excuse, is_finite

if TYPE_CHECKING:
    from graphscope.graph import Node

_OF_TWO: Final = frozenset({"infinity minus infinity", "infinity over infinity", "infinity times 0"})
"""Causes that need an infinity as well; that of a mask is meant, and it is they that can't take it."""

_SCALING: Final = frozenset({"mul", "multiply", "div", "true_divide", "divide", "pow", "float_power"})
"""Ops that make no masks of finite numbers."""

_FILLING: Final = frozenset({"masked_fill", "where", "fill", "index_fill", "index_put", "setitem", "masked_scatter"})
"""Ops that put an infinity in a place and compute nothing."""


def infinity_behind(node: Node, found: Birth) -> tuple[Node, Birth] | None:
    """The op that made the infinity which another could not take, and how; None where that was given it as it is.

    Args:
        node: The op whose value, or whose rule's gradient, is not finite.
        found: What is said of it.
    """
    source = _first_with_an_infinity(node)
    if source is None:
        return None
    is_handed_on = HANDED_ON in found.cause.split(" and ")
    if not is_handed_on and not (found.cause in _OF_TWO and source.op.rstrip("_") in _SCALING):
        return None
    born = born_forward(source)
    why = f"{found.why}, which {source.op}{where(source)} made ({born.why})"
    return source, Birth(HANDED_ON, why, SAFE_FILL if source.op.rstrip("_") in _FILLING else born.cure)


def _first_with_an_infinity(node: Node) -> Node | None:
    """The oldest op behind a node that made an infinity of what was finite: of a mask, that which takes it."""
    oldest: Node | None = None
    waiting, seen = [node], {node.row}
    while waiting and len(seen) < MOST:
        given = [edge.source for edge in waiting.pop().inputs]
        worse = [each for each in given if each.row not in seen and not is_finite(each)]
        if any(excuse(each) != "constant" for each in worse):
            return None
        computed = [each for each in worse if _is_computed(each)]
        oldest = min((each for each in (oldest, *computed) if each is not None), key=lambda at: at.row, default=None)
        waiting += worse
        seen.update(each.row for each in worse)
    return oldest


def _is_computed(node: Node) -> bool:
    """Whether a node was made of finite numbers, and is no mask: those are filled where nothing but one number is."""
    finite = [edge.source for edge in node.inputs if is_finite(edge.source)]
    return any(not _is_uniform(each) for each in finite) if node.op.rstrip("_") in _FILLING else bool(finite)


def _is_uniform(given: Node) -> bool:
    """Whether a node says where something is, or is a leaf that holds the same number everywhere."""
    found = given.summary
    is_same = found is not None and found.minimum == found.maximum
    return given.dtype == "bool" or (given.kind == "leaf" and is_same)
