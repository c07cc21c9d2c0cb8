"""Gradients as they stand at `now`: what has arrived for a node, from where, and what it sums up to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.graph.node import Node


class Contribution(NamedTuple):
    """One summand of a gradient."""

    row: int
    """The row that says so: an ACCUMULATE row, or the GRAD row itself when there is but one summand."""
    source: Node | None
    """The backward node whose rule made it; None when the log no longer holds that."""
    value: np.ndarray | None


def contributions(node: Node) -> list[Contribution]:
    """The summands of a node's gradient so far, in the order of their arrival."""
    if node.event.kind == Kind.ACCUMULATE:
        return [_contribution(node)]
    if node.event.kind == Kind.GRAD:
        return _arrived(node)
    rows = arrivals(node)
    if rows and rows[-1].event.kind == Kind.GRAD:
        return _arrived(rows[-1])
    return [_contribution(row) for row in _since_fresh(rows)]


def gradient(node: Node) -> np.ndarray | None:
    """The gradient of a node so far, or None; a GRAD node's is its cotangent, an ACCUMULATE node's that of its leaf."""
    if node.event.kind == Kind.GRAD:
        return node.value
    if node.event.kind == Kind.ACCUMULATE:
        owner = node.forward
        return None if owner is None else node.graph.at(min(node.graph.now, node.row)).node(owner.row).grad
    rows = arrivals(node)
    if rows and rows[-1].event.kind == Kind.GRAD:
        return rows[-1].value
    values = [row.value for row in _since_fresh(rows)]
    total: np.ndarray | None = None
    for value in values:
        if value is None:
            return None
        with np.errstate(all="ignore"):  # what overflowed in the program does so here, too
            total = value if total is None else np.asarray(total + value)
    return total


def arrivals(node: Node) -> list[Node]:
    """The backward rows that brought gradients to a node.

    What is added up in the same pass behind its whole cotangent, or is of another shape, is so within its own rule: one
    call may be many ops.
    """
    rows = [each for each in node.backward if each.event.kind in (Kind.GRAD, Kind.ACCUMULATE)]
    shapes = {shape for shape, _ in node.outputs} if node.dtype else set()
    found: list[Node] = []
    whole: int | None = None
    for each in rows:
        if each.event.kind == Kind.GRAD:
            whole = each.row
        elif (shapes and each.shape not in shapes) or (
            whole is not None and not _begins_between(node, whole, each.row)
        ):
            continue
        found.append(each)
    return found


def _is_summand(node: Node, row: Node, shapes: set[tuple[int, ...]], whole: int | None) -> bool:
    fits = not shapes or row.shape in shapes
    return fits and (whole is None or _begins_between(node, whole, row.row))


def _begins_between(node: Node, start: int, stop: int) -> bool:
    """Whether a backward pass begins between two rows."""
    log = node.graph.log
    marks = log.rare()
    marks = marks[np.searchsorted(marks, start) : np.searchsorted(marks, stop)]
    return bool((log.pick("kind", marks) == Kind.BACKWARD_BEGIN).any())


def _since_fresh(rows: list[Node]) -> list[Node]:
    """The newest ACCUMULATE rows that belong together: from a fresh gradient on, and after the last whole cotangent."""
    found: list[Node] = []
    for row in reversed(rows):
        if row.event.kind == Kind.GRAD:
            break
        found.append(row)
        if row.event.flags & Flag.FRESH:
            break
    return found[::-1]


def _arrived(grad: Node) -> list[Contribution]:
    """What arrived at a GRAD node: one ACCUMULATE row each, or itself when one rule alone feeds it."""
    sources = [edge.source for edge in grad.inputs]
    if sources and all(source.event.kind == Kind.ACCUMULATE for source in sources):
        return [_contribution(source) for source in sources]
    return [Contribution(grad.row, source, grad.computed) for source in sources[:1]]


def _contribution(row: Node) -> Contribution:
    edges = row.inputs
    return Contribution(row.row, edges[0].source if edges else None, row.value)
