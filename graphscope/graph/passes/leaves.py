"""Leaves are drawn beside what uses them: that spares a picture its longest arrows."""

from __future__ import annotations

from dataclasses import replace

from graphscope.graph.passes.cut import without_empty_frames
from graphscope.graph.passes.merge import altered
from graphscope.graph.view import GraphView, ViewEdge, ViewNode


def beside_users(view: GraphView) -> GraphView:
    """Draw a parameter in the frame of its only user, wherever it was made, and what adds to its gradient with it."""
    users: dict[str, set[str]] = {}
    for edge in view.edges:
        if edge.kind == "data":
            users.setdefault(edge.source, set()).add(edge.target)
    clusters = {node.id: node.cluster for node in view.nodes}
    moved = {
        node.id: clusters[next(iter(found))]
        for node in view.nodes
        if node.kind == "leaf" and node.parameter and len(found := users.get(node.id, set())) == 1
    }
    moved |= {
        node.id: moved[node.forward] for node in view.nodes if node.kind == "accumulate" and node.forward in moved
    }
    nodes = tuple(altered(node, cluster=moved.get(node.id, node.cluster)) for node in view.nodes)
    return without_empty_frames(replace(view, nodes=nodes))


def without_unused_data(view: GraphView) -> GraphView:
    """Leave out the leaves that nothing uses and that learn nothing, unless there is nothing else."""
    ends = {end for edge in view.edges for end in (edge.source, edge.target)}
    kept = [node for node in view.nodes if node.kind != "leaf" or node.requires_grad or node.current or node.id in ends]
    return without_empty_frames(replace(view, nodes=tuple(kept))) if kept else view


def shared_leaves(view: GraphView, users: int = 2) -> dict[str, list[str]]:
    """The leaves with `users` users or more, each with these."""
    leaves = {node.id for node in view.nodes if node.kind == "leaf"}
    targets: dict[str, dict[str, None]] = {}
    for edge in view.edges:
        if edge.source in leaves and edge.kind != "link":
            targets.setdefault(edge.source, {})[edge.target] = None
    return {id: [*found] for id, found in targets.items() if len(found) >= users}


def split_shared_leaves(view: GraphView, users: int = 2) -> GraphView:
    """Draw each leaf with `users` users or more once beside each of them.

    The first copy keeps the leaf's id, and the links from the leaf to its contributions are left out: a contribution
    names its leaf.
    """
    leaves = {node.id: node for node in view.nodes if node.kind == "leaf"}
    shared = shared_leaves(view, users)
    clusters = {node.id: node.cluster for node in view.nodes}
    copies: dict[tuple[str, str], ViewNode] = {
        (id, target): replace(leaves[id], id=id if place == 0 else f"{id}_{place}", cluster=clusters[target])
        for id, found in shared.items()
        for place, target in enumerate(found)
    }
    nodes: list[ViewNode] = []
    for node in view.nodes:
        nodes += [copies[node.id, target] for target in shared[node.id]] if node.id in shared else [node]
    edges: list[ViewEdge] = []
    for edge in view.edges:
        if edge.source not in shared:
            edges.append(edge)
        elif edge.kind != "link":
            edges.append(replace(edge, source=copies[edge.source, edge.target].id))
    return replace(view, nodes=tuple(nodes), edges=tuple(edges))
