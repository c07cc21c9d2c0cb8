"""JSON: the graph as data; `assets/graph.schema.json` says what is in it."""

from __future__ import annotations

import json as codec
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from graphscope.exporters.registry import exporter
from graphscope.exporters.summaries import finite_count, gradient_summary, value_summary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphscope.eventlog.values import Summary
    from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

__all__ = ["json", "schema"]

VERSION: Final = 1
"""Version of this format; it grows when the meaning of a field changes, not when one is added."""


@exporter("json", suffix=".json", is_whole=True)
def json(view: GraphView) -> str:
    """Nodes, edges and clusters as JSON, an entry a line, with the statistics of every value."""
    parts = {
        "clusters": map(cluster_entry, view.clusters),
        "nodes": (node_entry(node, view) for node in view.nodes),
        "edges": map(edge_entry, view.edges),
    }
    lists = (f'"{name}": [{listed(entries)}]' for name, entries in parts.items())
    return "{" + ",\n".join([f'"format": "graphscope-graph",\n"version": {VERSION}', *lists]) + "}\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of what `json` writes."""
    text = files("graphscope.exporters").joinpath("assets/graph.schema.json").read_text(encoding="utf-8")
    parsed: dict[str, Any] = codec.loads(text)
    return parsed


def listed(entries: Iterable[dict[str, Any]]) -> str:
    """Entries of a list, one a line."""
    lines = [codec.dumps(entry, allow_nan=False) for entry in entries]
    return "\n" + ",\n".join(lines) + "\n" if lines else ""


def node_entry(node: ViewNode, view: GraphView) -> dict[str, Any]:
    """A node as plain data."""
    return {
        "id": node.id,
        "kind": node.kind,
        "op": node.op,
        "name": node.name,
        "label": node.label,
        "arguments": node.arguments,
        "pass": node.graph_pass,
        "rows": list(node.rows),
        "count": node.count,
        "shape": None if node.shape is None else list(node.shape),
        "dtype": node.dtype,
        "site": None
        if node.site is None
        else {"file": node.site.file, "line": node.site.line, "function": node.site.function},
        "scope": node.scope,
        "cluster": node.cluster,
        "forward": node.forward,
        "parameter": node.parameter,
        "requires_grad": node.requires_grad,
        "nonfinite": node.nonfinite,
        "edited": node.edited,
        "in_place": node.in_place,
        "current": node.current,
        "breakpoint": node.breakpoint,
        "compared": node.compared,
        "stats": statistics(value_summary(node, view)),
        "grad_stats": statistics(gradient_summary(node, view)),
    }


def edge_entry(edge: ViewEdge) -> dict[str, Any]:
    """An edge as plain data."""
    return {
        "source": edge.source,
        "target": edge.target,
        "slot": edge.slot,
        "argument": edge.argument,
        "kind": edge.kind,
        "shape": None if edge.shape is None else list(edge.shape),
        "count": edge.count,
        "carried": edge.carried,
        "compared": edge.compared,
    }


def cluster_entry(cluster: Cluster) -> dict[str, Any]:
    """A cluster as plain data."""
    return {
        "id": cluster.id,
        "kind": cluster.kind,
        "label": cluster.label,
        "path": cluster.path,
        "parent": cluster.parent,
        "count": cluster.count,
    }


def statistics(summary: Summary | None) -> dict[str, Any] | None:
    """Statistics as plain data; the range and the mean are null when no element is finite (JSON has no NaN)."""
    if summary is None:
        return None
    known = finite_count(summary) > 0
    of_finite = {"min": summary.minimum, "max": summary.maximum, "mean": summary.mean, "std": summary.std}
    counts = {"nan": summary.nan, "inf": summary.inf, "zero": summary.zero, "count": summary.count}
    return {name: number if known and math.isfinite(number) else None for name, number in of_finite.items()} | counts
