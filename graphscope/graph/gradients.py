"""Gradients as they stand at `now`: what has arrived for a node, from where, and what it sums up to."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.graph.node import Node


@dataclass(frozen=True, slots=True)
class Contribution:
    """One summand of a gradient."""

    told_by: Node
    """The row that says so: an ACCUMULATE row, or the GRAD row itself when there is but one summand."""
    source: Node | None
    """The backward node whose rule made it; None when the log no longer holds that."""

    @property
    def row(self) -> int:
        """The number of the row that says so."""
        return self.told_by.row

    @property
    def value(self) -> np.ndarray | None:
        """What was added; of a single summand what was computed, whatever a person put in the place of the sum."""
        is_own = self.told_by.event.kind == Kind.ACCUMULATE
        return self.told_by.value if is_own else self.told_by.computed


def contributions(node: Node) -> list[Contribution]:
    """The summands of a node's gradient so far, in the order of their arrival."""
    if node.event.kind == Kind.ACCUMULATE:
        return [_contribution(node)]
    if node.event.kind == Kind.GRAD:
        return _arrived(node)
    rows = _since_set(node)
    if rows.is_whole:
        return _arrived(node.graph.node(rows.last))
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
    rows = _since_set(node)
    return _sum([node.graph.node(rows.last)] if rows.is_whole else _added(node, rows))


def _sum(rows: list[Node]) -> np.ndarray | None:
    total: np.ndarray | None = None
    for value in (row.value for row in rows):
        if value is None or (total is not None and value.shape != total.shape):
            return None  # not kept, or of several outputs
        with np.errstate(all="ignore"):  # what overflowed in the program does so here, too
            total = value if total is None else np.asarray(total + value)
    return total


def made_of(node: Node) -> list[Node]:
    """The rows whose values a forward node's gradient is the sum of.

    They are what was added since the gradient was None, or since the program set it or wrote into it, and what it was
    then.
    """
    graph, index = node.graph, node.graph.index
    marks = index.assignments(node.tensor, "grad", graph.now + 1)
    cleared = _cleared(node, marks)
    rows = arrivals_of(node, cleared)
    if rows.is_whole:
        return [graph.node(rows.last)]
    many = rows.since(2)
    newest = [graph.node(row) for row in many.tolist()]
    given = {mark: graph.inputs_of_mark(mark) for mark in marks[bisect_left(marks, cleared) :]}
    older = rows.rows[: len(rows.rows) - len(many)]
    first = [graph.node(row) for row in index.written(older, graph.now + 1)[-1:].tolist()]
    own = [*first, *newest, *itertools.chain(*given.values())]
    since = int(older[-1]) if len(older) else -1
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


def _cleared(node: Node, marks: Sequence[int]) -> int:
    """The last of some marks by which the program let go of a gradient; -1 where there is none."""
    return next((mark for mark in reversed(marks) if not node.graph.index.event(mark).inputs), -1)


_ZEROING: Final = frozenset({"zero_", "_foreach_zero_", "fill_"})
_ALIASING: Final = frozenset({"data", "detach", "alias", "view_as"})


def _same(row: Node) -> list[Node]:
    """The rows of a gradient's memory: where the ops of rules are told of, it was made by one of them."""
    rules = [edge.source for edge in row.inputs] if row.event.kind == Kind.ACCUMULATE else []
    ops = (each for rule in rules if rule.event.kind == Kind.GRAD for each in rule.backward)
    made = [each for each in ops if each.event.kind == Kind.OP and each.shape == row.shape]
    if (
        row.graph.log.metadata.get("capture") != "ops"
    ):  # where what the engine runs is not told, later ones are a hook's
        made = [each for each in made if each.row < row.row]
    return [row, *made]


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


def _since_set(node: Node) -> Arrivals:
    """What has arrived since the program set the gradient, if to None, for the last time."""
    marks = node.graph.index.assignments(node.tensor, "grad", node.graph.now + 1)
    return arrivals_of(node, marks[-1] if marks else -1)


def _added(node: Node, rows: Arrivals) -> list[Node]:
    """What was added since the gradient was None or zeroed."""
    return [node.graph.node(row) for row in rows.since(1).tolist()]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The backward rows that brought gradients to a node, ascending: a leaf of a long run has a hundred thousand."""

    rows: np.ndarray
    kinds: np.ndarray
    flags: np.ndarray

    @property
    def last(self) -> int:
        """The newest of them."""
        return int(self.rows[-1])

    @property
    def is_whole(self) -> bool:
        """Whether the newest brought the whole cotangent."""
        return len(self.rows) > 0 and bool(self.kinds[-1] == Kind.GRAD)

    def since(self, times: int) -> np.ndarray:
        """The newest rows, from where so many of them found no gradient; none up to the last whole cotangent."""
        whole, fresh = np.flatnonzero(self.kinds == Kind.GRAD), np.flatnonzero(self.flags & int(Flag.FRESH))
        behind = int(whole[-1]) + 1 if len(whole) else 0
        begun = int(fresh[-times]) if len(fresh) >= times else 0
        return self.rows[max(behind, begun) :]


def arrivals(node: Node) -> list[Node]:
    """The backward rows that brought gradients to a node, as nodes."""
    return [node.graph.node(row) for row in arrivals_of(node).rows.tolist()]


def arrivals_of(node: Node, behind: int = -1) -> Arrivals:
    """The backward rows behind another row that brought gradients to a node; they are found, not looked at.

    What is added up in the same pass behind its whole cotangent, or is of another shape, is so within its own rule: one
    call may be many ops.
    """
    graph, log = node.graph, node.graph.log
    rows = graph.backward_rows(node.event, behind)
    kinds = log.pick("kind", rows)
    is_grad, is_sum = kinds == Kind.GRAD, kinds == Kind.ACCUMULATE
    if node.dtype and is_sum.any():
        shapes = {shape for shape, _ in node.outputs}
        told, which = np.unique(log.pick("shape", rows), return_inverse=True)
        is_sum &= np.array([log.shape(number) in shapes for number in told.tolist()], bool)[which]
    if is_grad.any() and is_sum.any():
        passes = np.searchsorted(graph.index.marks(Kind.BACKWARD_BEGIN), rows)
        before = np.maximum.accumulate(np.where(is_grad, np.arange(len(rows)), -1))
        is_sum &= (before < 0) | (passes > passes[before])
    chosen = is_grad | is_sum
    return Arrivals(rows[chosen], kinds[chosen], log.pick("flags", rows[chosen]))


def _arrived(grad: Node) -> list[Contribution]:
    """What arrived at a GRAD node: one ACCUMULATE row each, or itself when one rule alone feeds it."""
    sources = [edge.source for edge in grad.inputs]
    if sources and all(source.event.kind == Kind.ACCUMULATE for source in sources):
        return [_contribution(source) for source in sources]
    return [Contribution(grad, source) for source in sources[:1]]


def _contribution(row: Node) -> Contribution:
    edges = row.inputs
    return Contribution(row, edges[0].source if edges else None)
