"""The view that passes begin with: a box for each node of a graph, an arrow for each edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.faults import fault_rows
from graphscope.graph.operands import arguments_text
from graphscope.graph.outline.steps import steps
from graphscope.graph.series.losses import roots_between, unscaled
from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Edge, Node

_LEAF: Final = int(Kind.LEAF)
_PARAMETER, _REQUIRES_GRAD, _IN_PLACE = map(int, (Flag.PARAMETER, Flag.REQUIRES_GRAD, Flag.IN_PLACE))


def whole(
    graph: Graph,
    graph_pass: Literal["forward", "backward"] | None = None,
    rows: Iterable[int] | None = None,
    *,
    givens: bool = False,
) -> GraphView:
    """Every node of a graph, or of one pass of it, or those of some rows alone, with the edges between them.

    Args:
        graph: What to draw; nodes after its `now` are not there.
        graph_pass: Only the nodes of this pass; None takes both.
        rows: Draw the nodes of these only, ascending.
        givens: Draw what these use and what was computed before as a leaf: the weights that a training step begins
            with, though an optimizer has written them.
    """
    chosen = graph.index.nodes(graph.now + 1) if rows is None else np.fromiter(rows, np.int64)
    if graph_pass is not None:
        chosen = chosen[(graph.log.pick("graph_pass", chosen) == Pass.BACKWARD) == (graph_pass == "backward")]
    drawing = _Drawing(graph, chosen)
    for node in map(graph.node, chosen.tolist()):
        inputs = node.inputs
        if givens:
            drawing.take(inputs)
        drawing.add(node, inputs)
    return GraphView(tuple(drawing.boxes.values()), tuple(drawing.arrows), drawing.frames.in_order(), graph)


class _Drawing:
    """The boxes and arrows of some nodes, as they are found."""

    def __init__(self, graph: Graph, chosen: np.ndarray) -> None:
        self.ids, self.rows, self.leaves = _ids(graph.log, chosen)
        self.frames = _Frames(graph)
        self.boxes: dict[str, ViewNode] = {}
        self.arrows: list[ViewEdge] = []
        self._nonfinite = set(fault_rows(graph, int(chosen[0]), int(chosen[-1]) + 1) if len(chosen) else ())
        self._current = int(chosen.max()) if graph.placed and len(chosen) else None
        self._losses = _losses(graph, chosen)

    def add(self, node: Node, inputs: list[Edge]) -> None:
        """Draw a node, and the arrows that lead to it."""
        id = self.ids[node.row]
        if id not in self.boxes:
            self.boxes[id] = box = self._box(node, id)
            self.arrows += _arrows(node, inputs, self.ids, box)

    def take(self, inputs: list[Edge]) -> None:
        """Draw what is used and nobody draws as a leaf; of gradients that came from elsewhere nothing is said."""
        for source in (edge.source for edge in inputs):
            if source.row not in self.ids and source.kind in ("leaf", "op"):
                # A segment of the log that begins in between has written it again, as a leaf.
                id = self.leaves.setdefault((source.tensor, source.version), f"n{source.row}")
                self.ids[source.row] = id
                self.rows.setdefault(id, (source.row,))
                if id not in self.boxes:
                    self.boxes[id] = _given(self._box(_first(source), id), source)

    def _box(self, node: Node, id: str) -> ViewNode:
        rows = self.rows[id]
        flags = int(node.flags)
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
            parameter=bool(flags & _PARAMETER),
            requires_grad=bool(flags & _REQUIRES_GRAD),
            nonfinite=not self._nonfinite.isdisjoint(rows),
            edited=any(node.graph.value_row(row) != row for row in rows),
            in_place=bool(flags & _IN_PLACE),
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


def _losses(graph: Graph, chosen: np.ndarray) -> set[int]:
    """Those of some rows that are losses, whose backward passes have begun by the end of the last row's step."""
    if not len(chosen):
        return set()
    first, ends = max(int(chosen[0]), graph.log.first), steps(graph.log).last
    following = int(np.searchsorted(ends, chosen[-1]))
    end = ends[following] if following < len(ends) else graph.now  # a scaler multiplies a loss in the same step
    roots = roots_between(graph.log, first, min(int(end), graph.now)).tolist()
    return {unscaled(graph, root) for root in roots if root >= first}


def _ids(log: Log, chosen: np.ndarray) -> tuple[dict[int, str], dict[str, tuple[int, ...]], dict[tuple[int, int], str]]:
    """An id for each row, the rows of each id, and the ids of versions of leaves.

    The rows of one leaf, written again in each segment, share that of the first.
    """
    ids: dict[int, str] = {}
    leaves: dict[tuple[int, int], str] = {}
    rows: dict[str, tuple[int, ...]] = {}
    kinds, tensors, versions = (log.pick(name, chosen).tolist() for name in ("kind", "tensor", "version"))
    for row, kind, tensor, version in zip(chosen.tolist(), kinds, tensors, versions, strict=True):
        id = f"n{row}"
        if kind == _LEAF:
            id = leaves.setdefault((tensor, version), id)
        ids[row] = id
        rows[id] = (*rows.get(id, ()), row)
    return ids, rows, leaves


def _arrows(node: Node, inputs: list[Edge], ids: dict[int, str], box: ViewNode) -> Iterator[ViewEdge]:
    for edge in inputs:
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
