"""The view that passes begin with: a box for each node of a graph, an arrow for each edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.faults import fault_rows
from graphscope.graph.operands import arguments_text
from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node


def whole(
    graph: Graph, graph_pass: Literal["forward", "backward"] | None = None, nodes: Iterable[Node] | None = None
) -> GraphView:
    """Every node of a graph, or of one pass of it, or these nodes alone, with the edges between them.

    Args:
        graph: What to draw; nodes after its `now` are not there.
        graph_pass: Only the nodes of this pass; None takes both.
        nodes: Draw these only, as `graph.select` or `graph.neighbours` found them.
    """
    chosen = [node for node in (graph.nodes if nodes is None else nodes) if graph_pass in (None, node.graph_pass)]
    ids, rows = _ids(chosen)
    nonfinite = set(fault_rows(graph))
    frames = _Frames(graph)
    drawn: dict[str, ViewNode] = {}
    edges: list[ViewEdge] = []
    current = _current(graph, chosen)
    for node in chosen:
        id = ids[node.row]
        if id not in drawn:
            drawn[id] = _box(node, id, rows[id], ids, frames, nonfinite, current)
            edges += _arrows(node, ids, drawn[id])
    return GraphView(tuple(drawn.values()), tuple(edges), frames.in_order(), graph)


def _ids(nodes: list[Node]) -> tuple[dict[int, str], dict[str, tuple[int, ...]]]:
    """An id for each row; the rows of one leaf, written again in each segment, share that of the first."""
    ids: dict[int, str] = {}
    leaves: dict[tuple[int, int], str] = {}
    rows: dict[str, tuple[int, ...]] = {}
    for node in nodes:
        id = f"n{node.row}"
        if node.event.kind == Kind.LEAF:
            id = leaves.setdefault((node.tensor, node.version), id)
        ids[node.row] = id
        rows[id] = (*rows.get(id, ()), node.row)
    return ids, rows


def _current(graph: Graph, nodes: list[Node]) -> int | None:
    return max((node.row for node in nodes), default=None) if graph.placed else None


def _box(
    node: Node,
    id: str,
    rows: tuple[int, ...],
    ids: dict[int, str],
    frames: _Frames,
    nonfinite: set[int],
    current: int | None,
) -> ViewNode:
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
        cluster=frames.of(node.scope_number),
        forward=None if forward is None else ids.get(forward.row),
        parameter=bool(flags & Flag.PARAMETER),
        requires_grad=bool(flags & Flag.REQUIRES_GRAD),
        nonfinite=not nonfinite.isdisjoint(rows),
        edited=any(node.graph.value_row(row) != row for row in rows),
        in_place=bool(flags & Flag.IN_PLACE),
        current=current in rows,
    )


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
