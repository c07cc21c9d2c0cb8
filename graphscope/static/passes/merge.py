"""Computing once what is computed several times."""

from __future__ import annotations

from typing import Any

from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.node_kinds import frozen, is_pure
from graphscope.static.graphs.rewriting import rewrite


def merge(graph: Graph) -> Graph:
    """Keep one of several nodes that compute the same of the same."""
    known: dict[Any, tuple[Value, ...]] = {}

    def merged(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
        if not is_pure(node) or node.bodies:
            return None
        try:
            key = (node.op, tuple(_key(value) for value in inputs), frozen(node.attributes))
            found = known.get(key)
        except TypeError:  # an attribute that can't be compared
            return None
        if found is not None:
            kept = found[0].node
            kept.origins = tuple(dict.fromkeys((*kept.origins, *node.origins)))
            return found
        made = new.append(
            node.op, inputs, node.attributes, name=node.name, after=(), origins=node.origins,
            types=[(value.shape, value.dtype) for value in node.outputs],
        )  # fmt: skip
        known[key] = made.outputs
        return made.outputs

    return rewrite(graph, merged)


def _key(value: Any) -> Any:
    return value if isinstance(value, Value) else (value.__class__, value)
