"""Passes that keep a part of a view: the surroundings of a node, or what a node was computed from."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import replace

from graphscope.errors import SelectorError
from graphscope.graph.node import Node
from graphscope.graph.view import GraphView


def neighbourhood(view: GraphView, node: Node | int, radius: int = 1) -> GraphView:
    """The boxes at most `radius` arrows away from a node, in any direction.

    Raises:
        SelectorError: The node is not in the view.
    """
    beside: dict[str, list[str]] = {}
    for edge in view.edges:
        beside.setdefault(edge.source, []).append(edge.target)
        beside.setdefault(edge.target, []).append(edge.source)
    return keep(view, _reach(_ids_of(view, node), beside, radius))


def slice_to(view: GraphView, node: Node | int) -> GraphView:
    """What a node was computed from: all that leads to it by data and gradients, with the links in between.

    Raises:
        SelectorError: The node is not in the view.
    """
    above: dict[str, list[str]] = {}
    for edge in view.edges:
        if edge.kind != "link":
            above.setdefault(edge.target, []).append(edge.source)
    return keep(view, _reach(_ids_of(view, node), above, None))


def nearest(view: GraphView, most: int) -> GraphView:
    """So many boxes, counted with the copies of leaves: those that lie nearest to the losses, else to the last."""
    beside: dict[str, list[str]] = {}
    for edge in view.edges:
        beside.setdefault(edge.source, []).append(edge.target)
        beside.setdefault(edge.target, []).append(edge.source)
    users = Counter(edge.source for edge in view.edges if edge.kind != "link")
    copies = {node.id: max(users[node.id], 1) if node.kind == "leaf" else 1 for node in view.nodes}
    waiting = deque([node.id for node in view.nodes if node.loss] or [view.nodes[-1].id])
    kept: set[str] = set()
    while waiting:
        id = waiting.popleft()
        if id not in kept and copies[id] <= most:
            most -= copies[id]
            kept.add(id)
            waiting += beside.get(id, ())
    return keep(view, kept)


def keep(view: GraphView, ids: set[str]) -> GraphView:
    """The view with these boxes alone, the arrows between them, and the frames that still hold something."""
    nodes = tuple(node for node in view.nodes if node.id in ids)
    nodes = tuple(replace(node, forward=None) if node.forward not in ids else node for node in nodes)
    edges = tuple(edge for edge in view.edges if edge.source in ids and edge.target in ids)
    return without_empty_frames(replace(view, nodes=nodes, edges=edges))


def without_empty_frames(view: GraphView) -> GraphView:
    """The view without clusters that hold no node, neither directly nor in a cluster inside."""
    parents = {cluster.id: cluster.parent for cluster in view.clusters}
    held: set[str] = set()
    for node in view.nodes:
        cluster = node.cluster
        while cluster is not None and cluster not in held:
            held.add(cluster)
            cluster = parents.get(cluster)
    return replace(view, clusters=tuple(cluster for cluster in view.clusters if cluster.id in held))


def _ids_of(view: GraphView, node: Node | int) -> list[str]:
    row = node if isinstance(node, int) else node.row
    found = [each.id for each in view.nodes if row in each.rows]
    if not found:
        raise SelectorError(f"#{row} is not in this picture", hint="it is of the other pass, a mark, or not there yet")
    return found


def _reach(start: Iterable[str], beside: Mapping[str, list[str]], radius: int | None) -> set[str]:
    seen = set(start)
    border = list(seen)
    while border and (radius is None or radius > 0):
        border = list({other for id in border for other in beside.get(id, ())} - seen)
        seen.update(border)
        radius = None if radius is None else radius - 1
    return seen
