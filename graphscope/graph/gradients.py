"""Gradients as they stand at `now`: what has arrived for a node, from where, and what it sums up to."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final, NamedTuple

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
    return [_contribution(row) for row in _added(node, rows)]


def gradient(node: Node) -> np.ndarray | None:
    """The gradient of a node as it is now, or None; a GRAD node's is its cotangent, an ACCUMULATE node's that of its
    leaf.
    """
    if node.event.kind == Kind.GRAD:
        return node.value
    if node.event.kind == Kind.ACCUMULATE:
        owner = node.forward
        return None if owner is None else node.graph.at(min(node.graph.now, node.row)).node(owner.row).grad
    return _sum(made_of(node))


def arrived(node: Node) -> np.ndarray | None:
    """What backward passes have added up for a forward node, whatever the program has made of it since."""
    rows = arrivals(node)
    return _sum(rows[-1:] if rows and rows[-1].event.kind == Kind.GRAD else _added(node, rows))


def _sum(rows: list[Node]) -> np.ndarray | None:
    total: np.ndarray | None = None
    for value in (row.value for row in rows):
        if value is None:
            return None
        with np.errstate(all="ignore"):  # what overflowed in the program does so here, too
            total = value if total is None else np.asarray(total + value)
    return total


def made_of(node: Node) -> list[Node]:
    """The rows whose values a forward node's gradient is the sum of.

    They are what was added since the gradient was None, or since the program set it or wrote into it, and what it was
    then.
    """
    rows, index = arrivals(node), node.graph.index
    if rows and rows[-1].event.kind == Kind.GRAD:
        return rows[-1:]
    newest = _generations(rows)
    marks = index.assignments(node.tensor, "grad", node.graph.now + 1)
    cleared = next((mark for mark in reversed(marks) if not index.event(mark).inputs), -1)
    given = {mark: node.graph.inputs_of_mark(mark) for mark in marks if mark >= cleared}
    older = [row for row in rows[: -len(newest)] if row.row > cleared]
    first = next(([row] for row in reversed(older) if index.versions(row.row, node.graph.now + 1)), [])
    own = [*first, *newest, *itertools.chain(*given.values())]
    since = older[-1].row if older else -1
    written = {write.row: (write, row.tensor) for row in own for each in _same(row) for write in _writes(each, row.row)}
    added = {row.row: row for row in newest}
    found: list[Node] = []
    held = {row.tensor for row in first}
    """The tensors that the gradient may be: the program has met it at one of the rows."""
    is_zeroed = False
    for place in sorted({*added, *given, *(place for place in written if place > since)}):
        if place in added:
            if added[place].event.flags & Flag.FRESH and not is_zeroed:
                found, held = [], set()
            found.append(added[place])
            held.add(added[place].tensor)
            is_zeroed = False
        elif place in given:
            found, held, is_zeroed = given[place], {row.tensor for row in given[place]}, False
        elif written[place][1] in held:
            found = [written[place][0]]
            is_zeroed = is_zeroed or found[0].op in _ZEROING
    return found


_ZEROING: Final = frozenset({"zero_", "_foreach_zero_", "fill_"})
_ALIASING: Final = frozenset({"data", "detach", "alias", "view_as"})


def _same(row: Node) -> list[Node]:
    """The rows of a gradient's memory: where the ops of rules are told of, it was made by one of them."""
    rules = [edge.source for edge in row.inputs] if row.event.kind == Kind.ACCUMULATE else []
    ops = (each for rule in rules if rule.event.kind == Kind.GRAD for each in rule.backward)
    return [row, *(each for each in ops if each.event.kind == Kind.OP and each.shape == row.shape)]


def _writes(row: Node, since: int) -> list[Node]:
    """The later versions of a tensor that a row made, also by the writes into others of the same memory and shape."""
    graph = row.graph
    versions = graph.index.versions(row.tensor, graph.now + 1)
    found = [graph.node(version) for version in versions if version > since]
    for each in (row, *found):
        for edge in each.users:
            if edge.target.op in _ALIASING and edge.target.shape == row.shape:
                found = found + _writes(edge.target, since)
    return found


def _generations(rows: list[Node]) -> list[Node]:
    """The newest rows, from the last but one on that found no gradient; none ahead of a whole cotangent."""
    found: list[Node] = []
    fresh = 0
    for row in reversed(rows):
        if row.event.kind == Kind.GRAD or fresh == 2:
            break
        found.append(row)
        fresh += bool(row.event.flags & Flag.FRESH)
    return found[::-1]


def _added(node: Node, rows: list[Node]) -> list[Node]:
    """What was added since the gradient was None or zeroed, or since the program set it."""
    marks = node.graph.index.assignments(node.tensor, "grad", node.graph.now + 1)
    since = marks[-1] if marks else -1
    return [row for row in _since_fresh(rows) if row.row > since]


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
