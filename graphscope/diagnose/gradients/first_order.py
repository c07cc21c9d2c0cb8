"""Terms of a loss that were made of gradients without a graph: they have no gradient themselves, and teach nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.training.batches import LAYERS
from graphscope.diagnose.values.origins import origin
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training
from graphscope.graph.words import edges

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_MOST_TERMS: Final = 32
_MOST_NODES: Final = 200
"""So many ops are looked at, and so many that follow on one."""

_BESIDE: Final = frozenset({"add", "sub", "rsub"})
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
    for gradient, user in takers(graph, 0):
        node, made = graph.node(user), graph.node(gradient)
        of_input = _is_of_input(made)
        if node.flags & Flag.REQUIRES_GRAD:
            is_beside = of_input and _is_beside(node) and not _is_step(node, made)
            value = made if is_beside and not _goes_on(node) else None
        else:
            value = _added(node, made if of_input else None)
        place = int(np.searchsorted(begins, gradient)) - 1
        if value is not None and place >= 0 and _may_teach(graph, made, int(begins[place])):
            yield Term(made, value, int(begins[place]))


def takers(graph: Graph, off: int) -> list[tuple[int, int]]:
    """Gradients with the forward ops that take them in and have none of some flags; of each line the first one."""
    log, (gradients, users) = graph.log, _taken(graph.log)
    wanted = (users <= graph.now) & ((log.pick("flags", users) & off) == 0)
    gradients, users = gradients[wanted], users[wanted]
    first = grouped([log.pick("site", users), log.pick("op", users)]).first
    chosen = np.sort(first)[:_MOST_TERMS]
    return list(zip(gradients[chosen].tolist(), users[chosen].tolist(), strict=True))


@once_a_length
def _taken(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Gradients and the forward ops that take them in while gradients are on, in the order of the ops."""
    gradients, users = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]

    def takes(rows: np.ndarray) -> np.ndarray:
        ops = (rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.FORWARD)
        return np.asarray(ops & ((rows["flags"] & int(Flag.NO_GRAD)) == 0))

    for taking, named in edges(log, takes):
        kinds = log.pick("kind", named)
        of_gradient = (kinds == Kind.GRAD) | (kinds == Kind.ACCUMULATE)
        gradients.append(named[of_gradient])
        users.append(taking[of_gradient])
    found = np.concatenate(users)
    order = np.argsort(found, kind="stable")
    return np.concatenate(gradients)[order], found[order]


def _added(node: Node, of_input: Node | None) -> Node | None:
    """What became of a node and was added to something that requires grad, for a loss; None if nothing was.

    That is a single number; of the derivative by an input also what an equation puts beside the network's answer.

    Args:
        node: What was made of a gradient.
        of_input: That gradient, where it is one of an input.
    """
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
                continue
            is_beside = of_input is not None and _is_beside(user) and not _is_step(user, of_input)
            if is_beside or (each.shape == () and user.op.rstrip("_") in _JOINING):
                return each
    return None


def _may_teach(graph: Graph, gradient: Node, begin: int) -> bool:
    """Whether what a pass began from was made of more that requires grad than what this is the gradient of.

    The gradient of a known function by its input has nothing to learn in it: it is data.
    """
    log = graph.log
    (root,) = training(log).roots(np.array([begin])).tolist()
    leaves = ancestry(log, root).leaves if root >= 0 else np.zeros(0, np.int64)
    leaves = leaves[(log.pick("flags", leaves) & int(Flag.REQUIRES_GRAD)) != 0]
    own = -1 if gradient.forward is None else gradient.forward.tensor
    return bool((log.pick("tensor", leaves) != own).any())


def _is_beside(node: Node) -> bool:
    """Whether a node puts something beside what requires grad, for a loss."""
    return node.op.rstrip("_") in _BESIDE and bool(node.flags & Flag.REQUIRES_GRAD) and _is_compared(node)


def _is_of_input(gradient: Node) -> bool:
    """Whether a gradient is that of something that the program put in, and no parameter."""
    owner = gradient.forward
    if owner is None or owner.flags & Flag.PARAMETER:
        return False
    if any(edge.source.flags & Flag.REQUIRES_GRAD for edge in owner.inputs):
        return False  # no leaf
    return owner.tensor not in training(gradient.graph.log).optimized


def _is_step(node: Node, gradient: Node) -> bool:
    """Whether a gradient is put beside what it is the gradient of: that is a step of a search."""
    return any(origin(edge.source) == gradient.forward for edge in node.inputs)


def _goes_on(node: Node) -> bool:
    """Whether what came back to a node went on through the graph of a gradient, as `create_graph` makes one.

    That is a graph of its gradient's own, or that of a gradient it took in.
    """
    followers = (edge.target.forward for each in node.backward for edge in each.users)
    return any(each.backward for each in node.backward) or any(
        each is not None and each.graph_pass == "backward" for each in followers
    )


def _is_compared(node: Node) -> bool:
    """Whether all that becomes of a node comes to an end in a single number, and no layer takes any of it in."""
    waiting, seen = [node], {node.row}
    ends: list[Node] = []
    while waiting and len(seen) < _MOST_NODES:
        each = waiting.pop(0)
        users = [edge.target for edge in each.users if edge.target.kind == "op"]
        users = [user for user in users if user.graph_pass == "forward" and user.flags & Flag.REQUIRES_GRAD]
        if any(user.op.rstrip("_") in LAYERS for user in users):
            return False
        ends += [] if users else [each]
        waiting += [user for user in users if user.row not in seen]
        seen |= {user.row for user in users}
    return bool(ends) and all(each.shape == () for each in ends)
