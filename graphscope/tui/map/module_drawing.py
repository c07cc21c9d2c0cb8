"""A map of modules as a view that the exporters draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.graph.quantities import count_text, time_text
from graphscope.graph.view import GraphView, NodeKind, ViewEdge, ViewNode
from graphscope.tui.screen_text import number, shape_text

if TYPE_CHECKING:
    from graphscope.graph import Graph
    from graphscope.graph.modules import ModuleBox, ModuleMap

_KINDS: Final[dict[str, NodeKind]] = {"module": "scope", "ops": "op", "input": "leaf", "output": "leaf"}


def view_of(graph: Graph, shown: ModuleMap, current: int) -> GraphView:
    """The view of a map; `current` is the box where one stands, by its place."""
    nodes = tuple(_node(place, box, place == current) for place, box in enumerate(shown.boxes))
    edges = tuple(
        ViewEdge(
            f"m{flow.source}",
            f"m{flow.target}",
            "data",
            shape=flow.shapes[0] if flow.shapes else None,
            carried=flow.is_carried,
        )
        for flow in shown.flows
    )
    return GraphView(nodes, edges, (), graph)


def _node(place: int, box: ModuleBox, is_current: bool) -> ViewNode:
    shape = (box.given or box.taken or ((),))[0]
    return ViewNode(
        f"m{place}",
        (),
        _KINDS[box.kind],
        box.name,
        op=box.type,
        name="" if box.kind == "module" else shape_text(shape) or "scalar",
        arguments=_facts(box) if box.kind == "module" else "",
        shape=shape,
        count=box.count,
        current=is_current,
    )


def _facts(box: ModuleBox) -> str:
    """In few words: shapes stand beside the arrows."""
    times = " + ".join(time_text(half.nanoseconds) for half in (box.forward, box.backward) if half is not None)
    size = f"{count_text(box.size)} par." if box.size else ""
    norm = f"norm {number(box.gradient, 3)}" if box.gradient is not None else ""
    return "  ".join(part for part in (size, times, norm) if part)
