"""Which values that are not finite are faults, and which are meant: a mask, a scaled loss, memory not yet written."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from graphscope.eventlog.nonfinite import flagged_rows, rows_with_nonfinite
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.index import index_of
from graphscope.graph.scaling import is_scaled

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node

Excuse = Literal["constant", "scaled", "unwritten"]
"""Why a value may be as it is: infinities that the program gave, a loss that a GradScaler scaled up too far, memory
that nobody has written yet.
"""

EMPTY: Final = frozenset({"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"})
"""Ops that give memory as it is."""

MOST: Final = 1000
"""So many values are followed back for one answer; what comes from farther away counts as a fault."""

_SAME_MEMORY: Final = frozenset({"data", "detach"})
"""Ops whose results are no views for autograd, and lie where what they were given does."""

_MOVING: Final = frozenset({"copy_", "set", "to", "clone", "contiguous", "double", "float", "half"})
"""Other ops that hand on what was there, and compute nothing of it."""


def is_finite(node: Node) -> bool:
    """Whether a node's value holds no NaN and no Inf; what was not kept passes for finite unless it is flagged."""
    return node.graph.log.nonfinite(node.graph.value_row(node.row)) is not True


def is_fault(node: Node) -> bool:
    """Whether a value holds a NaN, or an infinity, that nothing excuses."""
    return not is_finite(node) and excuse(node) is None


def nonfinite_rows(log: Log, start: int | None = None, stop: int | None = None) -> Iterator[int]:
    """The nodes of a log, from `start` on and before `stop`, whose values hold NaN or Inf, in order.

    What a person put in the place of a value counts, and not what was computed.
    """
    return _as_edited(log, rows_with_nonfinite(log, start, stop), start, stop)


def fault_rows(graph: Graph, start: int | None = None, stop: int | None = None) -> Iterator[int]:
    """The nodes of a graph, from `start` on and before `stop`, whose values are faults, in order."""
    end = graph.now + 1
    rows = nonfinite_rows(graph.log, start, end if stop is None else min(stop, end))
    return (row for row in rows if excuse(graph.node(row)) is None)


def flagged_faults(graph: Graph, most: int) -> Iterator[int]:
    """Those among the first `most` nodes that the log flags: no values are scanned for it."""
    end = graph.now + 1
    rows = _as_edited(graph.log, flagged_rows(graph.log, stop=end), None, end)
    return (row for row in itertools.islice(rows, most) if excuse(graph.node(row)) is None)


def _as_edited(log: Log, computed: Iterable[int], start: int | None, stop: int | None) -> Iterator[int]:
    """Nodes that were computed with NaN or Inf without those that were put right, and with those that were spoilt."""
    index = index_of(log)
    low, high = max(start or 0, log.first), log.end if stop is None else stop
    edited = {row: index.edits(row)[-1] for row in sorted(index.edited) if low <= row < high}
    spoilt = (row for row, edit in edited.items() if log.nonfinite(edit))
    return heapq.merge((row for row in computed if row not in edited), spoilt)


def excuse(node: Node) -> Excuse | None:
    """Why a value that is not finite is no fault; None if it is one."""
    known = node.graph.excuses
    waiting, looked_at = [node], 0
    while waiting and looked_at < MOST:
        each = waiting[-1]
        looked_at += 1
        if _key(each) in known:
            waiting.pop()
            continue
        sick = [edge.source for edge in each.inputs if not is_finite(edge.source)]
        unknown = [source for source in sick if _key(source) not in known]
        waiting += unknown
        if not unknown:
            known[_key(each)] = _excuse(each, sick, [known[_key(source)] for source in sick])
    return known.get(_key(node))


def is_put_right(node: Node, stop: int) -> bool:
    """Whether what a tensor holds is made finite by later writes, before `stop` and anything else that takes it.

    It may be written through views, bit by bit: `w.view(-1).fill_(0)`, `w[0].zero_()`.
    """
    graph, is_right = node.graph, False
    waiting, found = [node.row], {node.row}
    while waiting and len(found) < MOST:
        for row in graph.index.using(waiting.pop(), stop):
            user = graph.node(row)
            if row in found:
                continue
            if not _shares(user) or not user.inputs or user.inputs[0].source.row not in found:
                return False
            if not is_finite(user):
                found.add(row)
                waiting.append(row)
            is_right |= user.tensor == node.tensor and is_finite(user)
    return is_right and not waiting


def _key(node: Node) -> int:
    return node.graph.value_row(node.row)


def _excuse(node: Node, sick: list[Node], excuses: list[Excuse | None]) -> Excuse | None:
    if None in excuses:
        return None
    if node.op in EMPTY or _is_not_written_yet(node) or (excuses and set(excuses) == {"unwritten"} and _hands_on(node)):
        return "unwritten"
    if _is_scaled(node, excuses):
        return "scaled"
    summary = node.summary
    if node.kind not in ("leaf", "op") or (summary is not None and summary.nan):
        return None
    given = node.arguments
    if _is_infinite(given.operands or ()) or any(map(_is_infinite, given.attributes.values())):
        return "constant"
    if summary is None:  # it may be a NaN
        return None
    return "constant" if sick or _is_lowest(node) else None


def _is_not_written_yet(node: Node) -> bool:
    """Whether a leaf is new, and holds what its memory held: its first numbers are written before anything uses it."""
    return node.kind == "leaf" and node.row == node.tensor and is_put_right(node, node.graph.log.end)


def _hands_on(node: Node) -> bool:
    return _shares(node) or node.op in _MOVING


def _shares(node: Node) -> bool:
    """Whether what it gives lies in the memory of its first input: a view of that, or a write to it."""
    return bool(node.flags & (Flag.VIEW | Flag.IN_PLACE)) or node.op in _SAME_MEMORY


def _is_scaled(node: Node, excuses: list[Excuse | None]) -> bool:
    """Whether it comes of a loss that was scaled up: its scaler looks for that, and lets no step take it over."""
    if "scaled" not in excuses:
        return not excuses and is_scaled(node)
    if node.graph_pass == "backward":
        return True
    return not node.flags & Flag.REQUIRES_GRAD and not (node.flags & Flag.IN_PLACE and _is_trained(node))


def _is_trained(node: Node) -> bool:
    log = node.graph.log
    first = node.graph.index.event(node.tensor) if node.tensor < node.row and log.holds(node.tensor) else node.event
    return first.kind == Kind.LEAF and bool(first.flags & (Flag.REQUIRES_GRAD | Flag.PARAMETER))


def _is_lowest(node: Node) -> bool:
    """Whether a leaf is made of -inf, or an op was given the lowest numbers there are, as masks of attention do."""
    return _is_mask(node) if node.kind == "leaf" else _is_beyond_lowest(node)


def _is_infinite(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_is_infinite, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_infinite, value))
    return isinstance(value, float) and math.isinf(value)


def _is_mask(leaf: Node) -> bool:
    """Whether a leaf holds nothing beside infinities but zeros, or of all infinities only -inf."""
    summary, value = leaf.summary, leaf.value
    if summary is not None and summary.minimum == 0 == summary.maximum:
        return True
    return value is not None and value.dtype.kind == "f" and not np.isposinf(value).any()


def _is_beyond_lowest(node: Node) -> bool:
    """Whether -inf came of `finfo.min` alone, as masks of it do that are added up."""
    value = node.value
    if value is None or value.dtype.kind != "f" or np.isposinf(value).any():
        return False
    lowest = np.finfo(value.dtype if node.dtype != "bfloat16" else np.float32).min
    hidden = np.zeros(value.shape, bool)
    for edge in node.inputs:
        given: Any = edge.source.output(edge.slot)
        if given is not None and given.dtype.kind == "f":
            try:
                hidden |= np.broadcast_to(given <= lowest * 0.99, value.shape)
            except ValueError:  # a matrix product, a sum: its elements are no sums of such
                return False
    return bool(hidden[np.isneginf(value)].all())
