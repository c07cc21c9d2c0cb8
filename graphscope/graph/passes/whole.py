"""The view that passes begin with: a box for each node of a graph, an arrow for each edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from graphscope.errors import LogError
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.faults import fault_rows
from graphscope.graph.operands import arguments_text
from graphscope.graph.series.losses import losses, unscaled
from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node


def whole(
    graph: Graph,
    graph_pass: Literal["forward", "backward"] | None = None,
    nodes: Iterable[Node] | None = None,
    *,
    givens: bool = False,
) -> GraphView:
    """Every node of a graph, or of one pass of it, or these nodes alone, with the edges between them.

    Args:
        graph: What to draw; nodes after its `now` are not there.
        graph_pass: Only the nodes of this pass; None takes both.
        nodes: Draw these only, as `graph.select` or `graph.neighbours` found them.
        givens: Draw what these use and what was computed before as a leaf: the weights that a training step begins
            with, though an optimizer has written them.
    """
    chosen = [node for node in (graph.nodes if nodes is None else nodes) if graph_pass in (None, node.graph_pass)]
    drawing = _Drawing(graph, chosen)
    for node in chosen:
        if givens:
            drawing.take(node)
        drawing.add(node)
    return GraphView(tuple(drawing.boxes.values()), tuple(drawing.arrows), drawing.frames.in_order(), graph)


class _Drawing:
    """The boxes and arrows of some nodes, as they are found."""

    def __init__(self, graph: Graph, chosen: list[Node]) -> None:
        self.ids, self.rows, self.leaves = _ids(chosen)
        self.frames = _Frames(graph)
        self.boxes: dict[str, ViewNode] = {}
        self.arrows: list[ViewEdge] = []
        first = chosen[0].row if chosen else None
        self._nonfinite = set(fault_rows(graph, first))
        self._current = max((node.row for node in chosen), default=None) if graph.placed else None
        self._losses = _losses(graph)

    def add(self, node: Node) -> None:
        """Draw a node, and the arrows that lead to it."""
        id = self.ids[node.row]
        if id not in self.boxes:
            self.boxes[id] = box = self._box(node, id)
            self.arrows += _arrows(node, self.ids, box)

    def take(self, node: Node) -> None:
        """Draw what a node uses and nobody draws as a leaf; of gradients that came from elsewhere nothing is said."""
        for source in (edge.source for edge in node.inputs):
            if source.row not in self.ids and source.kind in ("leaf", "op"):
                # A segment of the log that begins in between has written it again, as a leaf.
                id = self.leaves.setdefault((source.tensor, source.version), f"n{source.row}")
                self.ids[source.row] = id
                self.rows.setdefault(id, (source.row,))
                if id not in self.boxes:
                    self.boxes[id] = _given(self._box(_first(source), id), source)

    def _box(self, node: Node, id: str) -> ViewNode:
        rows = self.rows[id]
        flags = node.flags
        forward = node.forward
        return ViewNode(
            id,
            rows,
            node.kind,
            node.label,
            op=node.op,
            name=node.name,
            arguments=arguments_text(node),
            graph_pass=node.graph_pass,
            shape=node.shape,
            dtype=node.dtype,
            site=node.site,
            scope=node.scope,
            cluster=self.frames.of(_scope_number(node)),
            forward=None if forward is None else self.ids.get(forward.row),
            parameter=bool(flags & Flag.PARAMETER),
            requires_grad=bool(flags & Flag.REQUIRES_GRAD),
            nonfinite=not self._nonfinite.isdisjoint(rows),
            edited=any(node.graph.value_row(row) != row for row in rows),
            in_place=bool(flags & Flag.IN_PLACE),
            current=self._current in rows,
            loss=node.row in self._losses,
        )


def _first(node: Node) -> Node:
    """The leaf that a node is a later version of; else the node itself."""
    try:
        first = node.graph.node(node.tensor)
    except LogError:
        return node
    return first if first.kind == "leaf" else node


def _scope_number(node: Node) -> int:
    """The scope that a node is drawn in; what adds to the gradient of a weight lies where that does."""
    forward = node.forward if node.kind == "accumulate" else None
    return node.scope_number if forward is None else _first(forward).scope_number


def _given(box: ViewNode, node: Node) -> ViewNode:
    """The box of what was there before, whatever made it."""
    label = box.label if box.kind == "leaf" else node.name or node.label
    return replace(box, kind="leaf", label=label, arguments="", forward=None, in_place=False, loss=False)


def _losses(graph: Graph) -> set[int]:
    """The rows of losses, whose backward passes have begun."""
    found = losses(graph.log)
    roots = found["root"][found["begin"] <= graph.now].tolist()
    return {unscaled(graph, root) for root in roots if graph.log.first <= root}


def _ids(nodes: list[Node]) -> tuple[dict[int, str], dict[str, tuple[int, ...]], dict[tuple[int, int], str]]:
    """An id for each row, the rows of each id, and the ids of versions of leaves.

    The rows of one leaf, written again in each segment, share that of the first.
    """
    ids: dict[int, str] = {}
    leaves: dict[tuple[int, int], str] = {}
    rows: dict[str, tuple[int, ...]] = {}
    for node in nodes:
        id = f"n{node.row}"
        if node.event.kind == Kind.LEAF:
            id = leaves.setdefault((node.tensor, node.version), id)
        ids[node.row] = id
        rows[id] = (*rows.get(id, ()), node.row)
    return ids, rows, leaves


def _arrows(node: Node, ids: dict[int, str], box: ViewNode) -> Iterator[ViewEdge]:
    for edge in node.inputs:
        source = ids.get(edge.source.row)
        if source is None:
            continue
        shape: tuple[int, ...] | None = node.shape
        if edge.kind == "data":
            outputs = edge.source.outputs if edge.slot else ((edge.source.shape, ""),)
            shape = outputs[edge.slot][0] if edge.slot < len(outputs) else None
        yield ViewEdge(source, box.id, edge.kind, edge.slot, edge.argument, shape)
    if box.forward is not None:
        yield ViewEdge(box.forward, box.id, "link")


class _Frames:
    """The clusters of the module scopes that nodes lie in."""

    def __init__(self, graph: Graph) -> None:
        self._log = graph.log
        self._found: dict[str, Cluster] = {}

    def of(self, number: int) -> str | None:
        """The id of the cluster of a scope; it and those around it are made at first sight."""
        chain: list[int] = []
        while number and number not in chain:
            chain.append(number)
            scope = self._log.scope(number)
            number = scope.parent if scope is not None else 0
        parent: Cluster | None = None
        for depth, each in enumerate(reversed(chain)):
            path = self._log.scope_path(each)
            if path not in self._found:
                scope = self._log.scope(each)
                label = path if scope is None else f"{scope.name}: {scope.type}" if scope.type else scope.name
                above = None if parent is None else parent.id
                self._found[path] = Cluster(f"s{each}", "scope", label, above, depth, path)
            parent = self._found[path]
        return None if parent is None else parent.id

    def in_order(self) -> tuple[Cluster, ...]:
        return tuple(self._found.values())
