"""The graph that a log says, seen at a position in time."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import search, walk
from graphscope.graph.index import MAKERS, index_of
from graphscope.graph.names import Names
from graphscope.graph.node import KIND_NAMES, OF_BACKWARD, Edge, Node
from graphscope.graph.select import parse

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log
    from graphscope.graph.faults import Excuse
    from graphscope.graph.relation import Pairs


class Graph:
    """The nodes and edges of a log at `now`: what was written after that row is not there yet.

    Args:
        log: An open log.
        now: The newest row that is seen; None sees what is there now, and what each later `log.refresh()` finds.
    """

    def __init__(self, log: Log, now: int | None = None) -> None:
        log.refresh()
        self.log = log
        self.names = Names(log)
        self.index = index_of(log)
        self.excuses: dict[int, Excuse | None] = {}
        """Of rows that are not finite, why that is no fault; kept by `graph.faults`."""
        self._now = now

    def __repr__(self) -> str:
        return f"<Graph of {self.log.path} at #{self.now}>"

    @property
    def now(self) -> int:
        """The newest row that is seen."""
        return self.log.end - 1 if self._now is None else self._now

    @property
    def placed(self) -> bool:
        """Whether somebody stands at `now`: it was given, and does not follow the log."""
        return self._now is not None

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
        event = self.index.event(row)
        if row > self.now:
            raise LogError(f"row #{row} is not there yet at #{self.now}", hint=f"go there first: goto {row}")
        if event.kind not in KIND_NAMES:
            kind = event.kind.name.lower().replace("_", " ")
            raise LogError(f"row #{row} is no node but a mark ({kind})", hint=self._nearest(row))
        return Node(self, row, event)

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes in the order of the log, made at first use."""
        return _Nodes(self, self.index.nodes(self.now + 1))

    def select(self, spec: str) -> list[Node]:
        """The nodes that a SPEC means, in the order of the log: `op:mm`, `name:fc1.* backward`, `#12`.

        Raises:
            SelectorError: The SPEC is not understood.
        """
        return search.find(self, parse(spec))

    def ancestors(self, node: Node, depth: int | None = None) -> list[Node]:
        """The nodes that this one was computed from, at most `depth` edges away, in the order of the log."""
        return self._at_rows(walk.reach(node.row, self._input_rows, depth))

    def descendants(self, node: Node, depth: int | None = None) -> list[Node]:
        """The nodes computed from this one, at most `depth` edges away, in the order of the log."""
        return self._at_rows(walk.reach(node.row, self._user_rows, depth))

    def path(self, a: Node, b: Node) -> list[Node]:
        """A shortest way from the older of two nodes to the younger, both included; empty when there is none.

        It follows data, gradients, and the links from forward nodes to their backward rules; a link from a leaf to a
        contribution would be a short cut that explains nothing.
        """

        def onward(row: int) -> list[int]:
            rules = [each for each in self._linked(row) if self.index.event(each).kind != Kind.ACCUMULATE]
            return [*self._user_rows(row), *rules]

        older, younger = sorted((a.row, b.row))
        return self._at_rows(walk.shortest(older, younger, onward))

    def neighbours(self, node: Node, radius: int) -> list[Node]:
        """The nodes at most `radius` edges or links away in any direction, this one included."""

        def beside(row: int) -> list[int]:
            event = self.index.event(row)
            linked = [event.forward] if event.kind in OF_BACKWARD else []
            return [*self._input_rows(row), *self._user_rows(row), *self._linked(row), *linked]

        return self._at_rows(sorted({node.row, *walk.reach(node.row, beside, radius)}))

    # What a node is joined to ----------------------------------------------------------------------------------------

    def place(self, event: Event) -> tuple[int, int]:
        """Numbers of site and scope; a backward node that has none shares those of its forward node."""
        if (event.site and event.scope) or event.kind not in OF_BACKWARD:
            return event.site, event.scope
        owner = self.forward_of(event)
        return (
            (event.site, event.scope)
            if owner is None
            else (
                event.site or owner.event.site,
                event.scope or owner.event.scope,
            )
        )

    def forward_of(self, event: Event) -> Node | None:
        """The node that a backward row belongs to."""
        in_rule = event.graph_pass == Pass.BACKWARD and event.forward > 0
        if event.kind not in OF_BACKWARD and not in_rule:
            return None
        return self._known(event.forward) if event.forward < event.row else None

    def backward_of(self, node: Node) -> list[Node]:
        """The backward nodes that belong to a node; a leaf's gradient is that of all its versions."""
        return self._at_rows(self.backward_rows(node.event).tolist())

    def backward_rows(self, event: Event, behind: int = -1) -> np.ndarray:
        """The rows of these, ascending, from behind another one on; they are found, not looked at."""
        asked = event.row, self.now + 1, behind
        return self.index.lately(asked, lambda: self._backward_rows(event, behind))

    def _backward_rows(self, event: Event, behind: int) -> np.ndarray:
        if not self._is_of_leaf(event):
            return np.array(self.index.backward(event.row, self.now + 1, behind + 1), np.int64)
        if behind < self.log.first:
            of, rows = self.index.backward_pairs(self._versions(event), self.now + 1)
        else:
            of, rows = self._backward_of_tensor(event.tensor, behind)
        differentiable = (self.log.pick("kind", of) == Kind.OP) & (self.log.pick("flags", of) & int(Flag.NO_GRAD) == 0)
        ops = each_once(of[differentiable & (of != event.row)]).tolist()
        ruled = np.array([row for row in ops if self._has_rule(row)], np.int64)
        return each_once(rows[~np.isin(of, ruled)])

    def _backward_of_tensor(self, tensor: int, behind: int) -> Pairs:
        """Pairs of a version of a tensor, and of a GRAD or ACCUMULATE row behind another row that belongs to it."""
        kinds = (Kind.GRAD, Kind.ACCUMULATE)
        rows = self.log.where(lambda among: np.isin(among["kind"], kinds), behind + 1, self.now + 1)
        of = self.log.pick("forward", rows).astype(np.int64)
        mine = (of < rows) & (self.log.pick("tensor", of) == tensor) & np.isin(self.log.pick("kind", of), MAKERS)
        return of[mine], rows[mine]

    def _has_rule(self, row: int) -> bool:
        """Whether a backward pass ran the rule of an op."""
        found = self.index.backward(row, self.now + 1)
        return bool((self.log.pick("kind", np.array(found, np.int64)) == Kind.GRAD).any())

    def inputs(self, node: Node) -> list[Edge]:
        """Edges that lead to a node; inputs that the log no longer holds are left out."""
        edges = []
        for argument, (row, slot) in enumerate(node.event.inputs):
            source = self._known(row) if row < node.row else None
            if source is not None:
                edges.append(Edge(source, node, slot, argument, _edge_kind(source, node)))
        return edges

    def users(self, node: Node) -> list[Edge]:
        """Edges that lead from a node, from whichever of its rows."""
        edges = []
        for copied in self._copies(node.event):
            for row, slot, argument in self.index.users(copied, self.now + 1):
                target = self.node(row)
                edges.append(Edge(node, target, slot, argument, _edge_kind(node, target)))
        return edges

    def inputs_of_mark(self, row: int) -> list[Node]:
        """The nodes that are the inputs of a mark, as far as the log holds them."""
        found = [self._known(source) for source, _ in self.index.event(row).inputs]
        return [node for node in found if node is not None]

    def value_row(self, row: int) -> int:
        """The row that holds the value of a node: its own, or the newest edit of it.

        A person edits what the program waits with, ahead of all that uses it: whoever stands at the node sees it so.
        """
        edits = self.index.edits(row)
        return edits[-1] if edits else row

    def value_rows(self, rows: np.ndarray) -> np.ndarray:
        """The same of many rows."""
        found, edited = rows.copy(), np.flatnonzero(np.isin(rows, self.index.edited))
        found[edited] = [self.value_row(row) for row in rows[edited].tolist()]
        return found

    # Within ----------------------------------------------------------------------------------------------------------

    def _copies(self, event: Event) -> list[int]:
        """The rows of a leaf, which is written again in each segment that uses it; other nodes have one row."""
        if event.kind != Kind.LEAF:
            return [event.row]
        others = (self.index.event(row) for row in self.index.versions(event.tensor, self.now + 1))
        same = {each.row for each in others if each.kind == Kind.LEAF and each.version == event.version}
        return sorted({event.row, *same})

    def _is_of_leaf(self, event: Event) -> bool:
        """Whether a row is a version of a leaf."""
        if event.kind != Kind.OP or event.version == 0:
            return event.kind == Kind.LEAF
        if self.log.holds(event.tensor) and self.index.event(event.tensor).kind == Kind.LEAF:
            return True
        return bool((self.log.pick("kind", self._versions(event)) == Kind.LEAF).any())

    def _versions(self, event: Event) -> np.ndarray:
        """The rows of all versions of a tensor, ascending."""
        return each_once(np.array([event.row, *self.index.versions(event.tensor, self.now + 1)], np.int64))

    def _known(self, row: int) -> Node | None:
        try:
            return self.node(row)
        except LogError:
            return None

    def _at_rows(self, rows: Sequence[int]) -> list[Node]:
        return [node for node in map(self._known, rows) if node is not None]

    def _input_rows(self, row: int) -> list[int]:
        return [source for source, _ in self.index.event(row).inputs if source < row and self.log.holds(source)]

    def _user_rows(self, row: int) -> list[int]:
        users = (self.index.users(copied, self.now + 1) for copied in self._copies(self.index.event(row)))
        return list(dict.fromkeys(user for found in users for user, _, _ in found))

    def _linked(self, row: int) -> list[int]:
        return self.index.backward(row, self.now + 1)

    def _nearest(self, row: int) -> str:
        rows = self.index.nodes(self.now + 1)
        neighbours = rows[max(int(np.searchsorted(rows, row)) - 1, 0) :][:2]
        if not len(neighbours):
            return "no nodes yet"
        return "the nodes beside it are " + " and ".join(f"#{each}" for each in neighbours)


def _edge_kind(source: Node, target: Node) -> Literal["data", "gradient"]:
    return "gradient" if target.event.kind in OF_BACKWARD or source.event.kind in OF_BACKWARD else "data"


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
