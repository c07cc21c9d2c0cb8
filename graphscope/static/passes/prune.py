"""Leaving out what nothing needs."""

from __future__ import annotations

from graphscope.static.graphs.graph import Graph, needed
from graphscope.static.graphs.rewriting import rewrite


def prune(graph: Graph) -> Graph:
    """Leave out nodes that no output needs and that do nothing else."""
    kept = {*needed(graph), *(value.node for value in graph.inputs)}
    return rewrite(graph, lambda new, node, inputs: None if node in kept else ())
