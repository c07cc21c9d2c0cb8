"""Leaves in whose place an update puts a result: `w = w - rate * w.grad` leaves no leaf behind that could learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.gradients.first_order import takers
from graphscope.diagnose.gradients.paths import DETACHING, leaf_of
from graphscope.eventlog.schema import Flag, Kind, Pass

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

_MOST_OPS: Final = 8
"""So many ops lie between a gradient and the update at most."""


class ReplacedLeaf(NamedTuple):
    """Such an update."""

    update: Node
    passed: int
    """The first gradient that came to its result, and was not kept."""


def replaced_leaves(graph: Graph) -> Iterator[ReplacedLeaf]:
    """The updates whose results the program calls as the leaf, and goes on with in the next backward pass.

    Who steps aside, as meta-learning does, gives the result another name, or comes back to the leaf; who detaches the
    result makes a new leaf of it; who calls `retain_grad` keeps its gradient.
    """
    for gradient, user in takers(graph, int(Flag.IN_PLACE)):
        event = graph.index.event(gradient)
        if event.kind != Kind.ACCUMULATE or not graph.log.first <= event.forward < gradient:
            continue
        leaf = leaf_of(graph, graph.index.event(event.forward))
        update = None if leaf is None else _update(graph, user, leaf.tensor)
        if leaf is None or update is None or not update.name or update.name != graph.node(leaf.row).name:
            continue
        passed = _passed(graph, update)
        if passed is not None and not _is_used_again(graph, leaf.tensor, update.row):
            yield ReplacedLeaf(update, passed)


def _update(graph: Graph, row: int, leaf: int) -> Node | None:
    """What a gradient, or what was made of it, and its leaf are put together to; None where they are not."""
    for _ in range(_MOST_OPS):
        event = graph.index.event(row)
        if event.kind != Kind.OP or event.graph_pass != Pass.FORWARD:
            return None
        if event.flags & Flag.REQUIRES_GRAD:
            sources = np.array([source for source, _ in event.inputs], np.int64)
            takes = (graph.log.pick("tensor", sources) == leaf).any()
            return graph.node(row) if takes and event.shape == graph.index.event(leaf).shape else None
        users = graph.index.using(row, graph.now + 1)
        if not users:
            return None
        row = users[0]
    return None


def _passed(graph: Graph, update: Node) -> int | None:
    """The first gradient of an update's result, where it was made for a loss and was not kept."""
    stop = graph.now + 1
    taken = [graph.index.event(user) for user in graph.index.using(update.row, stop)]
    came = graph.index.backward(update.row, stop)
    used = [each for each in taken if each.kind == Kind.OP and each.graph_pass == Pass.FORWARD]
    detached = any(graph.log.op(each.op).name in DETACHING or each.flags & Flag.IN_PLACE for each in used)
    own = update.event
    updated = any((each.site, each.op) == (own.site, own.op) for each in used)  # it has a gradient, if it keeps it
    source = None if update.site is None else graph.log.source(update.site.file)
    kept = updated or "retain_grad" in (source or "")
    return None if kept or detached or not used or not came else came[0]


def _is_used_again(graph: Graph, leaf: int, since: int) -> bool:
    """Whether an op takes or writes a leaf after a row."""
    stop = graph.now + 1
    versions = graph.index.versions(leaf, stop)
    users = [user for row in (leaf, *versions) for user in graph.index.using(row, stop)]
    later = [graph.index.event(row) for row in users if row > since]
    return any(row > since for row in versions) or any(
        each.kind == Kind.OP and each.graph_pass == Pass.FORWARD for each in later
    )
