"""The graph that a log says, seen at a position in time."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import select, walk
from graphscope.graph.index import Index
from graphscope.graph.names import Names
from graphscope.graph.node import KIND_NAMES, OF_BACKWARD, Contribution, Edge, Node

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log


class Graph:
    """The nodes and edges of a log at `now`: what was written after that row is not there yet.

    Args:
        log: An open log.
        now: The newest row that is seen; None follows the log as it grows.
    """

    def __init__(self, log: Log, now: int | None = None) -> None:
        self.log = log
        self.names = Names(log)
        self.index = Index(log)
        self._now = now

    def __repr__(self) -> str:
        return f"<Graph of {self.log.path} at #{self.now}>"

    @property
    def now(self) -> int:
        """The newest row that is seen."""
        return self.log.end - 1 if self._now is None else self._now

    def at(self, now: int | None) -> Graph:
        """The same graph at another time; what was indexed is shared."""
        other = copy.copy(self)
        other._now = now
        return other

    # Nodes -----------------------------------------------------------------------------------------------------------

    def node(self, row: int) -> Node:
        """The node of a row.

        Raises:
            LogError: There is no such row yet, or it is a mark and no node.
        """
        event = self.log.event(row)
        if row > self.now:
            raise LogError(f"row #{row} is not there yet at #{self.now}", hint=f"go there first: goto {row}")
        if event.kind not in KIND_NAMES:
            kind = event.kind.name.lower().replace("_", " ")
            raise LogError(f"row #{row} is no node but a mark ({kind})", hint=self._nearest(row))
        return Node(self, row, event)

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes in the order of the log, made as they are asked for."""
        return _Nodes(self, self.index.nodes(self.now + 1))

    def select(self, spec: str) -> list[Node]:
        """The nodes that a SPEC means, in the order of the log: `op:mm`, `name:fc1.* backward`, `#12`.

        Raises:
            SelectorError: The SPEC is not understood.
        """
        return select.find(self, select.parse(spec))

    def ancestors(self, node: Node, depth: int | None = None) -> list[Node]:
        """The nodes that this one was computed from, at most `depth` edges away, in the order of the log."""
        return self._at_rows(walk.reach(node.row, self._input_rows, depth))

    def descendants(self, node: Node, depth: int | None = None) -> list[Node]:
        """The nodes computed from this one, at most `depth` edges away, in the order of the log."""
        return self._at_rows(walk.reach(node.row, self._user_rows, depth))

    def path(self, a: Node, b: Node) -> list[Node]:
        """A shortest way from the older of two nodes to the younger, both included; empty when there is none.

        It follows data, gradients, and the links from forward nodes to their backward nodes.
        """
        older, younger = sorted((a.row, b.row))
        return self._at_rows(walk.shortest(older, younger, lambda row: [*self._user_rows(row), *self._linked(row)]))

    def neighbours(self, node: Node, radius: int) -> list[Node]:
        """The nodes at most `radius` edges or links away in any direction, this one included."""

        def beside(row: int) -> list[int]:
            event = self.log.event(row)
            linked = [event.forward] if event.kind in OF_BACKWARD else []
            return [*self._input_rows(row), *self._user_rows(row), *self._linked(row), *linked]

        return self._at_rows(sorted({node.row, *walk.reach(node.row, beside, radius)}))

    # What a node is joined to ----------------------------------------------------------------------------------------

    def place(self, event: Event) -> tuple[int, int]:
        """Numbers of site and scope; a backward node that has none shares those of its forward node."""
        if (event.site and event.scope) or event.kind not in OF_BACKWARD:
            return event.site, event.scope
        owner = self.forward_of(event)
        return (event.site, event.scope) if owner is None else (
            event.site or owner.event.site,
            event.scope or owner.event.scope,
        )

    def forward_of(self, event: Event) -> Node | None:
        """The node that a backward row belongs to."""
        in_rule = event.graph_pass == Pass.BACKWARD and event.forward > 0
        if event.kind not in OF_BACKWARD and not in_rule:
            return None
        return self._known(event.forward) if event.forward < event.row else None

    def backward_of(self, node: Node) -> list[Node]:
        """The backward nodes that belong to a node, whichever of its rows they name."""
        rows = {row for same in self._same(node) for row in self.index.backward(same, self.now + 1)}
        return self._at_rows(sorted(rows))

    def inputs(self, node: Node) -> list[Edge]:
        """Edges that lead to a node; inputs that the log no longer holds are left out."""
        edges = []
        for argument, (row, slot) in enumerate(node.event.inputs):
            source = self._known(row) if row < node.row else None
            if source is not None:
                edges.append(Edge(source, node, slot, argument, "gradient" if _carries_gradient(node, source) else "data"))
        return edges

    def users(self, node: Node) -> list[Edge]:
        """Edges that lead from a node, from whichever of its rows."""
        edges = []
        for same in self._same(node):
            for row, slot, argument in self.index.users(same, self.now + 1):
                target = self.node(row)
                edges.append(Edge(node, target, slot, argument, "gradient" if _carries_gradient(target, node) else "data"))
        return edges

    # Values ----------------------------------------------------------------------------------------------------------

    def value_row(self, row: int) -> int:
        """The row that holds the value of a node at `now`: its own, or the newest edit of it."""
        edits = self.index.edits(row, self.now + 1)
        return edits[-1] if edits else row

    def contributions(self, node: Node) -> list[Contribution]:
        """The summands of a node's gradient so far, in the order of their arrival."""
        if node.event.kind == Kind.ACCUMULATE:
            return [self._contribution(node.event)]
        if node.event.kind == Kind.GRAD:
            return self._arrived(node)
        events = [each.event for each in self.backward_of(node) if each.event.kind in OF_BACKWARD]
        if events and events[-1].kind == Kind.GRAD:
            return self._arrived(Node(self, events[-1].row, events[-1]))
        found: list[Event] = []
        for event in reversed(events):
            if event.kind == Kind.GRAD:  # what lies before it belongs to an earlier backward pass
                break
            found.append(event)
            if event.flags & Flag.FRESH:
                break
        return [self._contribution(event) for event in reversed(found)]

    def gradient(self, node: Node) -> np.ndarray | None:
        """The gradient of a node so far; a GRAD node's is its cotangent."""
        if node.event.kind == Kind.GRAD:
            return node.value
        if node.event.kind == Kind.ACCUMULATE:
            owner = node.forward
            return None if owner is None else self.at(min(self.now, node.row)).node(owner.row).grad
        whole = [each for each in self.backward_of(node) if each.event.kind in OF_BACKWARD][-1:]
        if whole and whole[0].event.kind == Kind.GRAD:
            return whole[0].value
        total: np.ndarray | None = None
        for contribution in self.contributions(node):
            if contribution.value is None:
                return None
            total = contribution.value if total is None else np.asarray(total + contribution.value)
        return total

    # Within ----------------------------------------------------------------------------------------------------------

    def _arrived(self, grad: Node) -> list[Contribution]:
        """What arrived at a GRAD node: one ACCUMULATE row each, or itself when one rule alone feeds it."""
        sources = [edge.source for edge in grad.inputs]
        if sources and all(source.event.kind == Kind.ACCUMULATE for source in sources):
            return [self._contribution(source.event) for source in sources]
        return [Contribution(grad.row, source, grad.value) for source in sources[:1]]

    def _contribution(self, event: Event) -> Contribution:
        source = self._known(event.inputs[0][0]) if event.inputs else None
        return Contribution(event.row, source, self.log.value(self.value_row(event.row)))

    def _same(self, node: Node) -> list[int]:
        """The rows of a node: a leaf is written again in each segment that uses it; the others have one."""
        if node.event.kind != Kind.LEAF:
            return [node.row]
        rows = [row for row in self.index.versions(node.tensor, self.now + 1) if row != node.row]
        events = [self.log.event(row) for row in rows]
        same = [each.row for each in events if each.kind == Kind.LEAF]
        return sorted({node.row, *same})

    def _known(self, row: int) -> Node | None:
        try:
            return self.node(row)
        except LogError:
            return None

    def _at_rows(self, rows: Sequence[int]) -> list[Node]:
        return [node for node in map(self._known, rows) if node is not None]

    def _input_rows(self, row: int) -> list[int]:
        return [source for source, _ in self.log.inputs(row) if self.log.first <= source < row]

    def _user_rows(self, row: int) -> list[int]:
        return list(dict.fromkeys(user for user, _, _ in self.index.users(row, self.now + 1)))

    def _linked(self, row: int) -> list[int]:
        return self.index.backward(row, self.now + 1)

    def _nearest(self, row: int) -> str:
        rows = self.index.nodes(self.now + 1)
        near = rows[max(int(np.searchsorted(rows, row)) - 1, 0) :][:2]
        return "the nodes beside it are " + " and ".join(f"#{each}" for each in near) if len(near) else "no nodes yet"


def _carries_gradient(target: Node, source: Node) -> bool:
    return target.event.kind in OF_BACKWARD or source.event.kind in OF_BACKWARD


class _Nodes(Sequence[Node]):
    def __init__(self, graph: Graph, rows: np.ndarray) -> None:
        self._graph = graph
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | Sequence[Node]:
        if isinstance(index, slice):
            return _Nodes(self._graph, self._rows[index])
        return self._graph.node(int(self._rows[index]))
