"""Infinities that the program asked for, as masks of attention do: no fault, as long as no NaN comes of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.flow import is_finite
from graphscope.eventlog.nonfinite import rows_with_nonfinite

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

MOST: Final = 100
"""So many values are followed back; what comes from farther away is looked into like any other."""


def first_fault(log: Log) -> int | None:
    """The first row whose value holds a NaN, or an infinity that the program did not ask for; None if none does."""
    graph = log.graph
    return next((row for row in rows_with_nonfinite(log) if not is_deliberate(graph.node(row))), None)


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
        if each.kind not in ("leaf", "op") or len(seen) > MOST or (summary is not None and summary.nan):
            return False
        if _is_given(each):
            continue
        if summary is None:  # the log holds no values: it may be a NaN
            return False
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
