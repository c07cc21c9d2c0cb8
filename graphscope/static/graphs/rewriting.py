"""Graphs made of other graphs, node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphscope.static.graphs.graph import Graph, Input, Node, Value


def rewrite(
    graph: Graph, change: Callable[[Graph, Node, tuple[Input, ...]], Sequence[Value] | None], name: str | None = None
) -> Graph:
    """Another graph, made node by node.

    Args:
        graph: The one to begin with; it stays as it is.
        change: Called with the new graph, a node of the old one and the node's inputs in the new one. It gives the new
            values for those of the node (made with `new.add`, or there already), an
            empty sequence to leave it out, or None for a copy of the node.
        name: The new graph's name.
    """
    new = Graph(name or graph.name)
    places: dict[Value, Any] = {}
    nodes: dict[Node, Node] = {}
    for node in graph.nodes:
        inputs = tuple(places.get(value) if isinstance(value, Value) else value for value in node.inputs)
        begin = len(new.nodes)
        found = change(new, node, inputs)
        if found is None:
            copied = copy(new, node, inputs, nodes)
            found = copied.outputs
            nodes[node] = copied
        else:
            for made in new.nodes[begin:]:
                made.site = made.site or node.site
                made.scope = made.scope or node.scope
                if made.origins == (made.name,):
                    made.origins = node.origins
            if found:
                nodes[node] = found[0].node
        places.update(zip(node.outputs, found, strict=False))
    new.inputs = [places[value] for value in graph.inputs]
    new.outputs = [places[value] for value in graph.outputs]
    return new


def copy(new: Graph, node: Node, inputs: Sequence[Input], nodes: Mapping[Node, Node] | None = None) -> Node:
    """Put the like of a node into another graph."""
    after = tuple(nodes[each] for each in node.after if each in nodes) if nodes else ()
    return new.append(
        node.op, inputs, node.attributes, name=node.name, site=node.site, scope=node.scope, bodies=node.bodies,
        after=after, origins=node.origins, types=[(value.shape, value.dtype) for value in node.outputs],
    )  # fmt: skip


def copied(graph: Graph, name: str) -> tuple[Graph, dict[Value, Value]]:
    """A copy to which nodes can be added, and what stands for each value in it."""
    new = Graph(name)
    values: dict[Value, Value] = {}
    nodes: dict[Node, Node] = {}
    for node in graph.nodes:
        inputs = [values[v] if isinstance(v, Value) else v for v in node.inputs]
        made = nodes[node] = copy(new, node, inputs, nodes)
        values.update(zip(node.outputs, made.outputs, strict=True))
    new.inputs = [values[value] for value in graph.inputs]
    new.outputs = [values[value] for value in graph.outputs]
    return new, values
