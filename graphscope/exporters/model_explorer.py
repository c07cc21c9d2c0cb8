"""A graph as Model Explorer reads it: nodes in layers of steps, passes and modules, each with what is known of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from graphscope.eventlog.names import place_of, short_place
from graphscope.exporters.dot_syntax import printable
from graphscope.exporters.labels import shape_text
from graphscope.exporters.program_name import program_name
from graphscope.exporters.registry import exporter
from graphscope.exporters.summaries import gradient_summary, value_summary
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.values import Summary
    from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

__all__ = ["GRAPH", "model_explorer"]

GRAPH: Final = "run"
"""The id of the graph, by which data of its nodes finds it."""

_NOT_FINITE: Final = {"backgroundColor": "#ffd7d5", "borderColor": "#cf222e"}
_LINK: Final = "#8250df"
_OUTSIDE: Final = "outside of steps"


@exporter("model-explorer", suffix=".explorer.json", is_whole=True, most=100_000)
def model_explorer(view: GraphView) -> str:
    """A graph for Model Explorer: both passes in layers of steps and modules, with statistics, lines and links."""
    layers = _Layers(view)
    arrows = {target: list(edges) for target, edges in groupby(_by_target(view.edges), lambda edge: edge.target)}
    graph = {
        "id": GRAPH,
        "nodes": [_node(node, view, layers.of(node), arrows.get(node.id, [])) for node in view.nodes],
        "groupNodeAttributes": {"": {"program": program_name(view)}, **layers.attributes},
        "tasksData": {"edgeOverlaysDataListLeftPane": [_links(view.edges)], "edgeOverlaysDataListRightPane": []},
    }
    return json.dumps({"label": program_name(view), "graphs": [graph], "graphSorting": "node_count_desc"}) + "\n"


class _Layers:
    """The layers that nodes lie in: a training step where there are several, a pass, and the modules."""

    def __init__(self, view: GraphView) -> None:
        self.attributes: dict[str, dict[str, str]] = {}
        """What is told of a layer, by its path."""
        self._clusters = {each.id: each for each in view.clusters}
        self._step: Callable[[int], str] = lambda _: ""
        if view.graph is not None and len(numbers := step_numbers(view.graph.log)) > 1:
            self._step = lambda row: numbers.title(row) or _OUTSIDE

    def of(self, node: ViewNode) -> str:
        """The path of the layer that a node lies in."""
        path = "/".join(filter(None, (self._step(node.rows[0] if node.rows else 0), node.graph_pass)))
        for each in reversed(list(self._around(node.cluster))):
            path = f"{path}/{_part(each.label)}"
            self.attributes.setdefault(path, {"path": each.path, "module": each.label})
        return path

    def _around(self, cluster: str | None) -> Iterator[Cluster]:
        while cluster is not None:
            yield self._clusters[cluster]
            cluster = self._clusters[cluster].parent


def _part(name: str) -> str:
    """A part of a path, in which a slash is no separator."""
    return printable(name).replace("/", "\N{DIVISION SLASH}") or "module"


def _by_target(edges: Iterable[ViewEdge]) -> list[ViewEdge]:
    return sorted(edges, key=lambda edge: edge.target)


def _node(node: ViewNode, view: GraphView, layer: str, arrows: list[ViewEdge]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": node.id,
        "label": printable(node.label),
        "namespace": layer,
        "attrs": [{"key": key, "value": value} for key, value in _facts(node, view) if value],
        "incomingEdges": [_incoming(edge) for edge in arrows if edge.kind != "link"],
        "outputsMetadata": [
            {"id": str(slot), "attrs": [{"key": "shape", "value": f"{dtype}[{shape_text(shape)}]"}]}
            for slot, (shape, dtype) in enumerate(_outputs(node, view))
        ],
    }
    return found | ({"style": _NOT_FINITE} if node.nonfinite else {})


def _incoming(edge: ViewEdge) -> dict[str, str]:
    return {
        "sourceNodeId": edge.source,
        "sourceNodeOutputId": str(edge.slot),
        "targetNodeInputId": str(edge.argument),
    }


def _facts(node: ViewNode, view: GraphView) -> Iterator[tuple[str, Any]]:
    """What is told of a node, each with its name; a node that it tells of can be gone to by a click."""
    yield "rows", ", ".join(f"#{row}" for row in node.rows)
    yield "kind", node.kind
    yield "op", printable(node.op)
    yield "name", printable(node.name)
    yield "arguments", printable(node.arguments)
    yield "module", printable(node.scope)
    if node.site is not None:
        yield "line", short_place(*place_of(node.site))
    if view.graph is not None and node.rows and node.kind != "scope":
        told = view.graph.node(node.rows[0])
        yield "code", printable(told.source_line.strip())
        yield "nanoseconds", f"{told.duration:,}" if told.duration else ""
    if node.forward is not None:
        yield "forward node", {"type": "node_ids", "nodeIds": [node.forward]}
    yield "value", _statistics(value_summary(node, view))
    yield "gradient", _statistics(gradient_summary(node, view))
    yield "is", ", ".join(words for name, words in _STATES.items() if getattr(node, name))


_STATES: Final = {
    "loss": "loss",
    "parameter": "parameter",
    "in_place": "changed in place",
    "edited": "edited",
    "nonfinite": "not finite",
}


def _statistics(summary: Summary | None) -> str:
    if summary is None:
        return ""
    told = f"mean {summary.mean:.4g}, std {summary.std:.4g}, from {summary.minimum:.4g} to {summary.maximum:.4g}"
    counts = {"NaN": summary.nan, "Inf": summary.inf, "zero": summary.zero}
    return ", ".join([told, *(f"{count:,} {name}" for name, count in counts.items() if count)])


def _outputs(node: ViewNode, view: GraphView) -> Iterable[tuple[tuple[int, ...], str]]:
    if view.graph is not None and len(node.rows) == 1:
        return view.graph.node(node.rows[0]).outputs
    return [] if node.shape is None else [(node.shape, node.dtype)]


def _links(edges: Iterable[ViewEdge]) -> dict[str, Any]:
    """Arrows from forward nodes to the backward nodes that answer them, shown at the node that is selected."""
    links = [{"sourceNodeId": each.source, "targetNodeId": each.target} for each in edges if each.kind == "link"]
    overlay = {
        "name": "forward to backward",
        "edgeColor": _LINK,
        "edges": links,
        "showEdgesConnectedToSelectedNodeOnly": True,
    }
    return {"type": "edge_overlays", "name": "passes", "overlays": [overlay]}
