"""Folding module scopes: each call of a module becomes one box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphscope.graph.passes.cut import without_empty_frames
from graphscope.graph.passes.merge import common, merge_edges
from graphscope.graph.view import Cluster, GraphView, ViewNode


def fold_scopes(view: GraphView, depth: int = 1) -> GraphView:
    """Put what lies in a scope `depth` levels below the root, or deeper, into one box for each call of that scope.

    A leaf goes along when it is of that scope and nothing outside the box uses it.
    """
    clusters = {cluster.id: cluster for cluster in view.clusters}
    scopes = {node.id: _scope_at(node.cluster, clusters, depth) for node in view.nodes}
    used = {edge.source for edge in view.edges if edge.kind != "link"}
    calls = _calls([node for node in view.nodes if not _comes_along(node, used)], scopes)
    boxes = calls | _companions(view, scopes, calls, used)
    members: dict[str, list[ViewNode]] = {}
    for node in view.nodes:
        if node.id in boxes:
            members.setdefault(boxes[node.id], []).append(node)
    scope_of = {box: scopes[id] for id, box in calls.items()}
    made = {box: _box(box, nodes, clusters[scope_of[box] or ""], boxes) for box, nodes in members.items()}
    drawn: dict[str, ViewNode] = {}
    for node in view.nodes:
        into = boxes.get(node.id)
        kept = replace(node, forward=boxes.get(node.forward or "", node.forward)) if into is None else made[into]
        drawn.setdefault(kept.id, kept)
    # How many arrows lead from one box to another says nothing about iterations.
    edges = tuple(replace(edge, count=1) for edge in merge_edges(view.edges, boxes))
    return without_empty_frames(replace(view, nodes=tuple(drawn.values()), edges=edges))


def _scope_at(cluster: str | None, clusters: Mapping[str, Cluster], depth: int) -> str | None:
    """The scope at `depth` levels that a cluster lies in; None when it lies less deep."""
    while cluster is not None and clusters[cluster].depth > depth - 1:
        cluster = clusters[cluster].parent
    return cluster if cluster is not None and clusters[cluster].depth == depth - 1 else None


def _comes_along(node: ViewNode, used: set[str]) -> bool:
    """Whether a node lies wherever its neighbour does: a leaf, or a contribution to a leaf's gradient."""
    return node.kind == "leaf" or (node.kind == "accumulate" and node.id not in used)


def _calls(nodes: list[ViewNode], scopes: Mapping[str, str | None]) -> dict[str, str]:
    """The box of each node: a stretch of nodes of one pass and scope, with none of another scope in between."""
    boxes: dict[str, str] = {}
    newest: dict[str, tuple[str | None, str]] = {}
    for node in nodes:
        scope = scopes[node.id]
        last, box = newest.get(node.graph_pass, (None, ""))
        if scope is not None:
            box = box if scope == last else f"b{node.id[1:]}"
            boxes[node.id] = box
        newest[node.graph_pass] = (scope, box)
    return boxes


def _companions(
    view: GraphView, scopes: Mapping[str, str | None], calls: Mapping[str, str], used: set[str]
) -> dict[str, str]:
    """The box of each leaf and contribution whose neighbours all lie in one box of its own scope."""
    neighbours: dict[str, set[tuple[str | None, str | None]]] = {}
    for edge in view.edges:
        if edge.kind != "link":
            neighbours.setdefault(edge.source, set()).add((calls.get(edge.target), scopes[edge.target]))
            neighbours.setdefault(edge.target, set()).add((calls.get(edge.source), scopes[edge.source]))
    found: dict[str, str] = {}
    for node in view.nodes:
        beside = neighbours.get(node.id, set())
        if _comes_along(node, used) and len(beside) == 1:
            ((box, scope),) = beside
            if box is not None and scope == scopes[node.id]:
                found[node.id] = box
    return found


def _box(id: str, nodes: list[ViewNode], scope: Cluster, boxes: Mapping[str, str]) -> ViewNode:
    name, _, kind = scope.label.partition(": ")
    last = [node for node in nodes if node.kind not in ("leaf", "accumulate")][-1:] or nodes[-1:]
    forward = common((boxes.get(node.forward) for node in nodes if node.forward and node.kind == "grad"), None)
    return ViewNode(
        id,
        tuple(sorted(row for node in nodes for row in node.rows)),
        "scope",
        name,
        op=kind,
        name=scope.path,
        graph_pass=common((node.graph_pass for node in nodes if node.kind != "leaf"), "both"),
        shape=last[0].shape,
        dtype=last[0].dtype,
        scope=scope.path,
        cluster=scope.parent,
        forward=forward if forward != id else None,
        nonfinite=any(node.nonfinite for node in nodes),
        edited=any(node.edited for node in nodes),
        current=any(node.current for node in nodes),
        breakpoint=any(node.breakpoint for node in nodes),
    )
