"""Fewer boxes in a backward pass: what a gradient is summed of in one box, and the parts of one rule in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphscope.graph.passes.merge import altered, facts, merge_edges
from graphscope.graph.view import GraphView, ViewNode


def join_sums(view: GraphView) -> GraphView:
    """Draw the contributions to the gradient of an op's result as one sum; those to a leaf's lie beside its uses."""
    kinds = {node.id: node.kind for node in view.nodes}
    sums: dict[str, str] = {}
    become: dict[str, str] = {}
    for node in view.nodes:
        if node.kind == "accumulate" and node.forward is not None and kinds[node.forward] != "leaf":
            become[node.id] = sums.setdefault(node.forward, node.id)
    return _joined(view, become)


def join_rules(view: GraphView) -> GraphView:
    """Draw all that the rule of a node did, and the nodes that a framework made for one call, as one box."""
    rules = {node.id for node in view.nodes if node.kind in ("grad", "scope") and node.graph_pass == "backward"}
    become: dict[str, str] = {}
    for node in view.nodes:
        if node.kind in ("grad", "op") and node.forward in rules:
            become[node.id] = become.get(node.forward or "", node.forward or "")
    return _joined(view, become)


def _joined(view: GraphView, become: Mapping[str, str]) -> GraphView:
    """Boxes put into others, which stay what they are."""
    members: dict[str, list[ViewNode]] = {}
    for node in view.nodes:
        members.setdefault(become.get(node.id, node.id), []).append(node)
    nodes = tuple(
        altered(_with_parts(node, members[node.id]), forward=become.get(node.forward or "", node.forward))
        for node in view.nodes
        if node.id in members
    )
    edges = tuple(altered(edge, count=1) for edge in merge_edges(view.edges, become))
    return replace(view, nodes=nodes, edges=edges)


def _with_parts(node: ViewNode, members: list[ViewNode]) -> ViewNode:
    """A box that stands for others, itself among them."""
    if len(members) == 1:
        return node
    return replace(node, rows=tuple(sorted(row for each in members for row in each.rows)), **facts(members))
