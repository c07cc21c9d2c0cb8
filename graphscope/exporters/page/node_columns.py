"""The nodes and edges of a view as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.exporters.page.source_lines import SourceLines
    from graphscope.exporters.page.strings import Strings
    from graphscope.graph.view import GraphView, ViewNode

__all__ = ["FLAGS", "KINDS", "edge_columns", "node_columns", "places_of_ids", "rows_of"]

KINDS: Final = ("leaf", "op", "grad", "accumulate", "scope")
FLAGS: Final = (
    "parameter", "requires_grad", "nonfinite", "edited", "in_place", "current", "breakpoint", "highlighted",
)  # fmt: skip
"""What may hold of a node; each is a bit, in this order."""


def places_of_ids(nodes: tuple[ViewNode, ...]) -> dict[str, int]:
    """The place of each node by its id; copies of a leaf, drawn beside each of its users, are that leaf."""
    first: dict[tuple[int, ...], int] = {}
    return {node.id: first.setdefault(node.rows or (-1 - place,), place) for place, node in enumerate(nodes)}


def rows_of(view: GraphView) -> np.ndarray:
    """The row of each node; of what is no recording, its place."""
    return np.array([node.rows[0] if node.rows else place for place, node in enumerate(view.nodes)], np.int64)


def node_columns(view: GraphView, strings: Strings, lines: SourceLines) -> dict[str, list[Any]]:
    """A column for each thing that is known of nodes; texts and lines by their numbers, other nodes by their places."""
    nodes, places = view.nodes, places_of_ids(view.nodes)
    found: dict[str, list[Any]] = {
        "row": rows_of(view).tolist(),
        "kind": [KINDS.index(node.kind) for node in nodes],
        "backward": [int(node.graph_pass == "backward") for node in nodes],
        "label": strings.numbers(node.label for node in nodes),
        "op": strings.numbers(node.op for node in nodes),
        "name": strings.numbers(node.name for node in nodes),
        "arguments": strings.numbers(node.arguments for node in nodes),
        "shape": strings.numbers("" if node.shape is None else shape_text(node.shape) for node in nodes),
        "dtype": strings.numbers(node.dtype for node in nodes),
        "site": [lines.number(node.site) for node in nodes],
        "forward": [places.get(node.forward or "", -1) for node in nodes],
        "flags": [sum(bool(getattr(node, name)) << bit for bit, name in enumerate(FLAGS)) for node in nodes],
    }
    if view.graph is not None:
        found |= _of_log(view.graph.log, found["row"])
    return found


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as people write it: `4×32`; a single number is a `scalar`."""
    return "×".join(map(str, shape)) or "scalar"


def _of_log(log: Log, rows: list[int]) -> dict[str, list[Any]]:
    """Of each node the first version of its tensor, and how long it ran."""
    numbers = np.array(rows, np.int64)
    if not len(numbers):
        return {"tensor": [], "duration": []}
    order = np.argsort(numbers, kind="stable")
    tensors = log.pick("tensor", numbers).astype(np.int64)
    at = np.minimum(np.searchsorted(numbers[order], tensors), len(order) - 1)
    known = numbers[order][at] == tensors
    return {
        "tensor": np.where(known, order[at], -1).tolist(),
        "duration": log.pick("duration", numbers).tolist(),
    }


def edge_columns(view: GraphView) -> dict[str, list[int]]:
    """The edges: places of nodes, which output and which input, and whether a gradient flows."""
    places = places_of_ids(view.nodes)
    found: dict[str, list[int]] = {name: [] for name in ("source", "target", "slot", "argument", "gradient")}
    for edge in view.edges:
        if edge.kind != "link":
            ends = places[edge.source], places[edge.target]
            entry = (*ends, edge.slot, edge.argument, int(edge.kind == "gradient"))
            for name, value in zip(found, entry, strict=True):
                found[name].append(value)
    return found
