"""Folding module scopes: each call of a module becomes one box, which holds what it did in both passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from graphscope.graph.outline.origins import is_making
from graphscope.graph.passes.cut import without_empty_frames
from graphscope.graph.passes.merge import altered, common, facts, merge_edges
from graphscope.graph.view import Cluster, GraphView, ViewNode


def fold_scopes(view: GraphView, depth: int = 1, *, is_opened: bool = True) -> GraphView:
    """Put what lies in a scope `depth` levels below the root, or deeper, into one box for each call of that scope.

    What undoes a call in the backward pass is of its box. A leaf goes along when nothing outside of the box uses it,
    and it is of that scope or of a module's making; so does what adds to its gradient.

    Args:
        view: The view.
        depth: So deep the scopes lie that become boxes.
        is_opened: A scope that lies less deep is drawn with all that is in it, even where it holds no other.
    """
    clusters = {cluster.id: cluster for cluster in view.clusters}
    outer = {cluster.parent for cluster in view.clusters}
    scopes = {
        node.id: node.cluster
        if not is_opened
        and node.cluster is not None
        and node.cluster not in outer
        and clusters[node.cluster].depth < depth
        else _scope_at(node.cluster, clusters, depth)
        for node in view.nodes
    }
    kinds = {node.id: node.kind for node in view.nodes}
    boxes = _calls((node for node in view.nodes if not _follows(node, kinds)), scopes)
    scope_of = {box: scopes[id] or "" for id, box in reversed(boxes.items())}
    boxes |= _leaves(view, scopes, boxes, scope_of)
    boxes |= _sums(view, boxes)
    members: dict[str, list[ViewNode]] = {}
    for node in view.nodes:
        if node.id in boxes:
            members.setdefault(boxes[node.id], []).append(node)
    made = {box: _box(box, nodes, clusters[scope_of[box]]) for box, nodes in members.items()}
    drawn: dict[str, ViewNode] = {}
    for node in view.nodes:
        into = boxes.get(node.id)
        kept = altered(node, forward=boxes.get(node.forward or "", node.forward)) if into is None else made[into]
        drawn.setdefault(kept.id, kept)
    # Which input or output of a module an arrow is of is not said; how many there are says nothing about iterations.
    edges = (
        altered(
            edge, slot=0 if edge.source in boxes else edge.slot, argument=0 if edge.target in boxes else edge.argument
        )
        for edge in view.edges
    )
    merged = tuple(altered(edge, count=1) for edge in merge_edges(edges, boxes))
    return without_empty_frames(replace(view, nodes=tuple(drawn.values()), edges=merged))


def _scope_at(cluster: str | None, clusters: Mapping[str, Cluster], depth: int) -> str | None:
    """The scope at `depth` levels that a cluster lies in; None when it lies less deep."""
    while cluster is not None and clusters[cluster].depth > depth - 1:
        cluster = clusters[cluster].parent
    return cluster if cluster is not None and clusters[cluster].depth == depth - 1 else None


def _follows(node: ViewNode, kinds: Mapping[str, str]) -> bool:
    """Whether a node lies wherever its neighbours do: a leaf, or what adds to the gradient of one."""
    return node.kind == "leaf" or (node.kind == "accumulate" and kinds.get(node.forward or "", "leaf") == "leaf")


def _calls(nodes: Iterable[ViewNode], scopes: Mapping[str, str | None]) -> dict[str, str]:
    """The box of each node: that of the forward node it belongs to, else a stretch of one pass and scope."""
    boxes: dict[str, str] = {}
    seen: set[str] = set()
    newest: dict[str, tuple[str | None, str]] = {}
    for node in nodes:
        seen.add(node.id)
        if node.forward in seen:
            if node.forward in boxes:
                boxes[node.id] = boxes[node.forward]
            continue
        scope = scopes[node.id]
        last, box = newest.get(node.graph_pass, (None, ""))
        if scope is not None:
            box = box if scope == last else f"b{node.id[1:]}"
            boxes[node.id] = box
        newest[node.graph_pass] = (scope, box)
    return boxes


def _leaves(
    view: GraphView, scopes: Mapping[str, str | None], calls: Mapping[str, str], scope_of: Mapping[str, str]
) -> dict[str, str]:
    """The box of each leaf that nothing outside of it uses."""
    users: dict[str, set[str | None]] = {}
    for edge in view.edges:
        if edge.kind != "link":
            users.setdefault(edge.source, set()).add(calls.get(edge.target))
    found: dict[str, str] = {}
    for node in view.nodes:
        if node.kind == "leaf" and len(boxes := users.get(node.id, set())) == 1:
            (box,) = boxes
            if box is not None and (_is_made(node) or scopes[node.id] == scope_of[box]):
                found[node.id] = box
    return found


def _is_made(leaf: ViewNode) -> bool:
    """Whether a module made it: a parameter, or what else it keeps; also where a library fills it by its own means."""
    if leaf.parameter or leaf.site is None:
        return leaf.parameter
    return is_making(leaf.site) or (leaf.site.caller > 0 and not leaf.name)


def _sums(view: GraphView, boxes: Mapping[str, str]) -> dict[str, str]:
    """The box of each addition to the gradient of a leaf, where all that it adds comes from there."""
    sources: dict[str, set[str | None]] = {}
    for edge in view.edges:
        if edge.kind == "gradient":
            sources.setdefault(edge.target, set()).add(boxes.get(edge.source))
    found: dict[str, str] = {}
    for node in view.nodes:
        if node.kind == "accumulate" and node.id not in boxes and len(given := sources.get(node.id, set())) == 1:
            (box,) = given
            if box is not None and boxes.get(node.forward or "", box if node.forward is None else None) == box:
                found[node.id] = box
    return found


def _box(id: str, nodes: list[ViewNode], scope: Cluster) -> ViewNode:
    name, _, kind = scope.label.partition(": ")
    last = [node for node in nodes if node.kind == "op" and node.graph_pass == "forward"][-1:] or nodes[-1:]
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
        **{**facts(nodes), "parameter": False, "in_place": False, "requires_grad": False},
    )
