"""What is joined to a node, as far as a screen can show it: a leaf of a long run has a hundred thousand users."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.debugger import expression_names
from graphscope.errors import LogError
from graphscope.eventlog.schema import Kind
from graphscope.graph.gradients import arrivals_of
from graphscope.graph.node import OF_BACKWARD

if TYPE_CHECKING:
    from graphscope.graph import Node

MANY: Final = 200
"""A gradient of more contributions is not added up for a picture."""

_REACH: Final = 1 << 16


def users(node: Node, most: int = 12) -> list[Node]:
    """The nodes that use this one, at or before `now`: those nearest to `now`."""
    graph = node.graph
    start = max(node.row, graph.now - _REACH)
    return _nodes(node, graph.index.using(node.row, graph.now + 1, start)[-most:])


def rules(node: Node, most: int = 12) -> list[Node]:
    """The backward rows of a node and of the newest versions of its tensor, at or before `now`; the last of them."""
    graph = node.graph
    start = max(0, graph.now - _REACH)
    rows = {node.row}
    if node.event.kind == Kind.LEAF or node.event.version:
        rows.update(graph.index.versions(node.tensor, graph.now + 1)[-4:])
    found = {row for version in rows for row in graph.index.backward(version, graph.now + 1, start)}
    return _nodes(node, sorted(found)[-most:])


def crowded(node: Node) -> bool:
    """Whether more contributions reached a forward node than a screen should add up."""
    return len(arrivals_of(node).since(2)) > MANY


def gradient(node: Node) -> np.ndarray | None:
    """The gradient that one looks at; where it is the sum of too many, what arrived last."""
    if node.event.kind in OF_BACKWARD or not crowded(node):
        found: np.ndarray | None = expression_names.grad_of(node)
        return found
    arrived = [each for each in rules(node) if each.row <= node.graph.now]
    return arrived[-1].value if arrived else None


def arrival(node: Node) -> Node | None:
    """The row at which the whole cotangent of a node arrived, if it has."""
    rows = node.graph.backward_rows(node.event)
    whole = rows[node.graph.log.pick("kind", rows) == Kind.GRAD]
    return next(iter(_nodes(node, whole[::-1][:1].tolist())), None)


def beside(node: Node, most: int) -> list[Node]:
    """Inputs, users and the other side of a node: those nearest in time."""
    found = {edge.source.row: edge.source for edge in node.inputs}
    if node.event.kind in OF_BACKWARD and node.forward is not None:
        found[node.forward.row] = node.forward
    graph = node.graph
    stop = min(graph.now + 1, node.row + _REACH)
    rows = graph.index.using(node.row, stop)[:most] + graph.index.backward(node.row, stop)[:2]
    found |= {other.row: other for other in _nodes(node, rows)}
    return sorted(found.values(), key=lambda other: abs(other.row - node.row))


def _nodes(node: Node, rows: Iterable[int]) -> list[Node]:
    found = []
    for row in rows:
        try:
            found.append(node.graph.node(row))
        except LogError:  # a damaged row
            continue
    return found
