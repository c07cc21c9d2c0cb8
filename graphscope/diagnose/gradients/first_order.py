"""Terms of a loss that were made of gradients without a graph: they have no gradient themselves, and teach nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.index import edges_of
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_MOST_TERMS: Final = 32
_MOST_NODES: Final = 200
"""So many ops are looked at, and so many that follow on one."""

_JOINING: Final = frozenset({"add", "sub", "rsub", "stack", "cat", "sum"})


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
    for gradient, user in takers(graph, int(Flag.REQUIRES_GRAD)):
        value = _added(graph.node(user))
        place = int(np.searchsorted(begins, gradient)) - 1
        if value is not None and place >= 0:
            yield Term(graph.node(gradient), value, int(begins[place]))


def takers(graph: Graph, off: int) -> list[tuple[int, int]]:
    """Gradients with the forward ops that take them in and have none of some flags; of each line the first one."""
    log, (gradients, users) = graph.log, _taken(graph.log)
    wanted = (users <= graph.now) & ((log.pick("flags", users) & off) == 0)
    gradients, users = gradients[wanted], users[wanted]
    _, first = np.unique(np.stack([log.pick("site", users), log.pick("op", users)]), axis=1, return_index=True)
    chosen = np.sort(first)[:_MOST_TERMS]
    return list(zip(gradients[chosen].tolist(), users[chosen].tolist(), strict=True))


@once_a_length
def _taken(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Gradients and the forward ops that take them in while gradients are on, in the order of the ops."""
    gradients, users = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for first, rows in log.chunks():
        ops = (rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.FORWARD)
        ops &= (rows["flags"] & int(Flag.NO_GRAD)) == 0
        for offsets, sources in edges_of(log, first, rows):
            taking, named = offsets[ops[offsets]], sources[ops[offsets]].astype(np.int64)
            kinds = log.pick("kind", named)
            of_gradient = (kinds == Kind.GRAD) | (kinds == Kind.ACCUMULATE)
            gradients.append(named[of_gradient])
            users.append(taking[of_gradient] + first)
    found = np.concatenate(users)
    order = np.argsort(found, kind="stable")
    return np.concatenate(gradients)[order], found[order]


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
