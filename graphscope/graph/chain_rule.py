"""The chain rule from one node to another: the paths between them, and what each adds to the gradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import Flag
from graphscope.graph import paths
from graphscope.graph.pullback import pulled
from graphscope.graph.series.losses import losses, unscaled

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node
    from graphscope.graph.operands import Operand

__all__ = ["Chain", "Link", "Ways", "chain", "ways_to"]


@dataclass(frozen=True, slots=True)
class Link:
    """One edge of the paths: an input of an op."""

    source: Node
    op: Node
    operand: Operand


@dataclass(frozen=True, slots=True)
class Chain:
    """All ways from one node to another."""

    start: Node
    end: Node
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    """In the order of the ops."""
    count: int
    """So many paths there are."""

    is_whole: bool
    """A backward pass began from the end: what it recorded are the gradients of these ways, and of no others."""

    @property
    def seed(self) -> np.ndarray | None:
        """The gradient that the chain begins with: 1 of a single number, else that of the end as it was recorded."""
        found = self.end.grad
        if found is not None and (self.is_whole or found.size != 1):
            return np.asarray(found, np.float64)
        return np.ones(self.end.shape, np.float64) if int(np.prod(self.end.shape)) == 1 else None

    def gradients(self) -> dict[int, np.ndarray | None]:
        """The gradient of each node along these ways, by its row; None where the recording does not tell it."""
        if self.is_whole:
            told = {node.row: node.grad for node in self.nodes} | {self.end.row: self.seed}
            return told | {self.start.row: self._of_start(told)}
        found: dict[int, np.ndarray | None] = {self.end.row: self.seed}
        for link in reversed(self.links):
            arrived = found[link.op.row]
            share = None if arrived is None else pulled(link.op, link.operand, arrived)
            before = found.get(link.source.row, 0.0)
            found[link.source.row] = None if share is None or before is None else before + share
        return found

    def _of_start(self, told: Mapping[int, np.ndarray | None]) -> np.ndarray | None:
        """The gradient of the start by these ways: it may have been given others, by passes before."""
        total: np.ndarray | None = None
        for link in self.links:
            if link.source.row == self.start.row:
                arrived = told[link.op.row]
                share = None if arrived is None else pulled(link.op, link.operand, np.asarray(arrived, np.float64))
                if share is None:
                    return told[self.start.row]
                total = share if total is None else total + share
        return total

    def paths(self) -> Iterator[tuple[Link, ...]]:
        """Each way, from the start on."""
        behind: dict[int, list[Link]] = {}
        for link in self.links:
            behind.setdefault(link.source.row, []).append(link)
        waiting: list[tuple[Link, ...]] = [(link,) for link in reversed(behind.get(self.start.row, []))]
        while waiting:
            way = waiting.pop()
            if way[-1].op.row == self.end.row:
                yield way
            else:
                waiting += [(*way, link) for link in reversed(behind.get(way[-1].op.row, []))]

    def share(self, path: tuple[Link, ...]) -> np.ndarray | None:
        """What a way adds to the gradient of the start; None where the recording does not tell it."""
        gradient = self.seed
        for link in reversed(path):
            gradient = None if gradient is None else pulled(link.op, link.operand, gradient)
        return gradient


@dataclass(frozen=True, slots=True)
class Ways:
    """All ways that gradients take from a node."""

    end: Node
    users: Mapping[int, Sequence[int]]
    """Of each row that they reach, the rows that they come from."""

    def between(self, row: int) -> frozenset[int]:
        """The rows on the ways from one that is reached to the end, both included."""
        found, waiting = {row}, [row]
        while waiting:
            later = [user for user in self.users.get(waiting.pop(), ()) if user not in found]
            found.update(later)
            waiting += later
        return frozenset(found)


def ways_to(graph: Graph, end: Node) -> Ways:
    """The ways that gradients take from a node, as far as it takes no longer than a person waits to find them."""
    inputs = paths.Inputs(graph.log)
    users: dict[int, list[int]] = {end.row: []}
    for row in range(end.row, max(end.row - paths.REACH, graph.log.first - 1), -1):
        if row in users:
            for source in dict.fromkeys(inputs[row]):
                if source in users or (source >= 0 and _takes_gradient(graph, source)):
                    users.setdefault(source, []).append(row)
    return Ways(end, users)


def chain(graph: Graph, start: Node, ways: Ways) -> Chain:
    """The ways from a node that gradients reach.

    Args:
        graph: The graph, when the gradients are there.
        start: Whose gradient it is.
        ways: Those that gradients take from the end.
    """
    rows = sorted(ways.between(start.row))
    known = set(rows)
    nodes = tuple(map(graph.node, rows))
    links = tuple(
        Link(each.edge.source, op, each)
        for op in nodes[1:]
        for each in op.operands
        if each.edge is not None and each.edge.source.row in known
    )
    roots = {unscaled(graph, root) for root in losses(graph.log)["root"].tolist() if ways.end.row <= root <= graph.now}
    return Chain(start, ways.end, nodes, links, _count(links, start, ways.end), ways.end.row in roots)


def _takes_gradient(graph: Graph, row: int) -> bool:
    """Whether gradients flow to a row: it says so, a rule of its own ran, or an optimizer wrote it."""
    event = graph.index.event(row)
    is_told = event.flags & Flag.REQUIRES_GRAD or event.flags & paths.UPDATE == paths.UPDATE
    return bool(is_told) or bool(graph.index.backward(row, graph.now + 1))


def _count(links: Sequence[Link], start: Node, end: Node) -> int:
    ways = {start.row: 1}
    for link in links:  # in the order of the ops
        ways[link.op.row] = ways.get(link.op.row, 0) + ways.get(link.source.row, 0)
    return ways.get(end.row, 0)
