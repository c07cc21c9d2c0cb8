"""Terms of a loss that were made of gradients without a graph: they have no gradient themselves, and teach nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.index import edges_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_MOST_TERMS: Final = 32
_MOST_NODES: Final = 200
"""So many ops are looked at, and so many that follow on one."""

_JOINING: Final = frozenset({"add", "sub", "rsub", "stack", "cat", "sum"})
_OFF: Final = int(Flag.NO_GRAD | Flag.REQUIRES_GRAD)


class Term(NamedTuple):
    """A term without a gradient."""

    gradient: Node
    """The gradient that it was made of."""
    value: Node
    """What was added to the rest of the loss."""
    begin: int
    """The row where the pass begins that brought that gradient."""


def dead_terms(graph: Graph) -> Iterator[Term]:
    """Single numbers that were computed from gradients that nothing can be learned from, and added to a loss."""
    begins = graph.index.marks(Kind.BACKWARD_BEGIN)
    for gradient, user in _takers(graph):
        value = _added(graph.node(user))
        place = int(np.searchsorted(begins, gradient)) - 1
        if value is not None and place >= 0:
            yield Term(graph.node(gradient), value, int(begins[place]))


def _takers(graph: Graph) -> list[tuple[int, int]]:
    """Gradients with the forward ops that take them in while gradients are on; of each line one."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for gradients, users, places in _taken(graph.log, graph.now + 1):
        for gradient, user, *place in zip(gradients.tolist(), users.tolist(), *places, strict=True):
            found.setdefault((int(place[0]), int(place[1])), (gradient, user))
    return sorted(found.values(), key=lambda pair: pair[1])[:_MOST_TERMS]


def _taken(log: Log, stop: int) -> Iterator[tuple[np.ndarray, np.ndarray, tuple[list[int], list[int]]]]:
    for first, rows in log.chunks(None, stop):
        ops = (rows["kind"] == Kind.OP) & ((rows["flags"] & _OFF) == 0) & (rows["graph_pass"] == Pass.FORWARD)
        for offsets, sources in edges_of(log, first, rows):
            users, named = offsets[ops[offsets]], sources[ops[offsets]].astype(np.int64)
            kinds = log.pick("kind", named)
            of_gradient = (kinds == Kind.GRAD) | (kinds == Kind.ACCUMULATE)
            users, named = users[of_gradient], named[of_gradient]
            places = np.unique(np.stack([rows["site"][users], rows["op"][users]]), axis=1, return_index=True)[1]
            users, named = users[places], named[places]
            yield named, users + first, (rows["site"][users].tolist(), rows["op"][users].tolist())


def _added(node: Node) -> Node | None:
    """The single number that became of a node and was added to something that requires grad; None if none was."""
    waiting, seen = [node], {node.row}
    while waiting and len(seen) < _MOST_NODES:
        each = waiting.pop(0)
        for edge in each.users:
            user = edge.target
            if user.kind != "op" or user.graph_pass != "forward" or user.flags & Flag.NO_GRAD or user.row in seen:
                continue
            if not user.flags & Flag.REQUIRES_GRAD:
                seen.add(user.row)
                waiting.append(user)
            elif each.shape == () and user.op.rstrip("_") in _JOINING:
                return each
    return None
