"""Infinities that the program asked for, as masks of attention do: no fault, as long as no NaN comes of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.flow import is_finite

if TYPE_CHECKING:
    from graphscope.graph import Node

MOST: Final = 100
"""So many values are followed back; what comes from farther away is looked into like any other."""


def is_sound(node: Node) -> bool:
    """Whether a value is finite, or infinite as the program wants it."""
    return is_finite(node) or is_deliberate(node)


def is_deliberate(node: Node) -> bool:
    """Whether a value that is not finite holds infinities alone, all of them constants of the program or made of such:
    what `masked_fill(mask, -inf)` gives, a mask of 0 and -inf, and their sum with finite numbers.
    """
    waiting, seen = [node], {node.row}
    while waiting:
        each = waiting.pop()
        summary = each.summary
        if summary is None or summary.nan or each.kind not in ("leaf", "op") or len(seen) > MOST:
            return False
        if _is_given(each):
            continue
        sick = [edge.source for edge in each.inputs if not is_finite(edge.source)]
        if not sick:
            return False
        waiting += [source for source in sick if source.row not in seen]
        seen.update(source.row for source in sick)
    return True


def _is_given(node: Node) -> bool:
    """Whether an op was given an infinite constant, or a leaf holds nothing beside infinities but zeros."""
    if any(_is_infinite(value) for value in node.attrs.values()):
        return True
    summary = node.summary
    return node.kind == "leaf" and summary is not None and summary.minimum == 0 == summary.maximum


def _is_infinite(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(_is_infinite(each) for each in value)
    return isinstance(value, float) and math.isinf(value)
