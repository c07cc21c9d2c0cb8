"""A number for each node, by which Model Explorer colours the graph that `model-explorer` wrote."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from graphscope.errors import ExportError
from graphscope.exporters.model_explorer import GRAPH
from graphscope.exporters.registry import exporter
from graphscope.exporters.summaries import finite_count, value_summary

if TYPE_CHECKING:
    from graphscope.eventlog.values import Summary
    from graphscope.graph.view import GraphView, ViewNode

__all__ = ["Measure", "model_explorer_data"]

Measure = Literal["size", "largest", "zeros", "nonfinite", "time"]

_COLOURS: Final = [
    {"stop": 0, "bgColor": "#ffffff"},
    {"stop": 0.5, "bgColor": "#ffdf5d"},
    {"stop": 1, "bgColor": "#d73a49"},
]


@exporter("model-explorer-data", suffix=".nodedata.json", is_whole=True, most=100_000)
def model_explorer_data(view: GraphView, *, measure: Measure = "size") -> str:
    """Data of nodes for Model Explorer: how large values and gradients are, and what else colours a graph.

    Args:
        measure: What is told of each value, in the backward pass of each gradient: the size of its elements (root of
            their mean square), the largest, the share of zeros, how many are NaN or Inf; or the microseconds it took.
    """
    found = {node.id: _measured(node, view, measure) for node in view.nodes}
    results = {id: {"value": number} for id, number in found.items() if number is not None and math.isfinite(number)}
    if not results:
        raise ExportError(f"there is nothing to measure: no node tells its {measure}", _CURES[measure == "time"])
    return json.dumps({GRAPH: {"name": _NAMES[measure], "results": results, "gradient": _COLOURS}}) + "\n"


_CURES: Final = (
    "record with values (gs.record(values='summary')), or choose --measure time",
    "choose ops of a recording, or another measure",
)

_NAMES: Final[dict[Measure, str]] = {
    "size": "size of elements",
    "largest": "largest element",
    "zeros": "share of zeros",
    "nonfinite": "NaN and Inf",
    "time": "microseconds",
}


def _measured(node: ViewNode, view: GraphView, measure: Measure) -> float | None:
    if measure == "time":
        return _time(node, view)
    summary = value_summary(node, view)
    return None if summary is None or not summary.count else _OF_SUMMARIES[measure](summary)


def _time(node: ViewNode, view: GraphView) -> float | None:
    if view.graph is None or node.kind == "leaf":
        return None
    return sum(view.graph.node(row).duration for row in node.rows) / 1000


def _size(summary: Summary) -> float | None:
    return math.hypot(summary.mean, summary.std) if finite_count(summary) else None


def _largest(summary: Summary) -> float | None:
    return max(abs(summary.minimum), abs(summary.maximum)) if finite_count(summary) else None


def _zeros(summary: Summary) -> float:
    return summary.zero / summary.count


def _nonfinite(summary: Summary) -> float:
    return summary.nan + summary.inf


_OF_SUMMARIES: Final[dict[Measure, Callable[[Summary], float | None]]] = {
    "size": _size,
    "largest": _largest,
    "zeros": _zeros,
    "nonfinite": _nonfinite,
}
