"""Recorded slices run again with other values or other cotangents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.replay.recorded_calls import Call, call_of

# A log tells for each node its op and inputs; its rows are in an order in which they can run. So what follows from
# changed nodes is computed again, row by row, and the rest is taken from the log.

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

Place = tuple[int, int]
"""A row of the log, and which of its outputs."""


def forward(graph: Graph, target: Node, changes: Mapping[int, Any]) -> dict[Place, Any]:
    """What follows from other values of some nodes, up to a node.

    Args:
        graph: The recorded graph.
        target: The last node of the slice.
        changes: Row and the value that is to stand there, of the recorded shape.

    Returns:
        For each output that was computed again, and for those that were changed, its value by row and slot.

    Raises:
        StaticError: A node on the way can't be run again, or a value does not fit; the message says which.
    """
    found: dict[Place, Any] = {}
    for row, value in changes.items():
        node = graph.node(row)
        array = np.asarray(value, dtype=node.dtype or None)
        if array.shape != node.shape:
            raise StaticError(
                f"#{row} {node.label} has shape {node.shape}; the value given has {array.shape}",
                hint="give one of the recorded shape",
            )
        found[row, 0] = array
    for node in _slice(graph, target):
        if node.kind != "op" or (node.row, 0) in found:
            continue
        if any((edge.source.row, edge.slot) in found for edge in node.inputs):
            for slot, value in enumerate(_call(node, found).run()):
                found[node.row, slot] = value
    return found


def backward(
    graph: Graph, target: Node, cotangents: Mapping[int, Any] | None = None, changes: Mapping[int, Any] | None = None
) -> dict[int, Any]:
    """The backward pass from a node once more: the gradients of all that it depends on, by row.

    Args:
        graph: The recorded graph.
        target: Where the pass begins, with ones unless `cotangents` says otherwise.
        cotangents: Row and the cotangent that is to stand in the place of what arrives there.
        changes: As for `forward`: the pass goes over what follows from them.

    Raises:
        StaticError: As `forward`.
    """
    values = forward(graph, target, changes or {})
    given = {row: np.asarray(value) for row, value in (cotangents or {}).items()}
    arrived: dict[Place, Any] = {}
    if target.row not in given:
        given[target.row] = np.ones(target.shape, target.dtype)
    found: dict[int, Any] = {}
    for node in reversed(_slice(graph, target)):
        own = given.get(node.row, arrived.get((node.row, 0)))
        if node.row in given:
            own = np.broadcast_to(np.asarray(own, dtype=node.dtype or None), node.shape)
        slots = [own, *(arrived.get((node.row, slot)) for slot in range(1, len(node.outputs)))]
        if all(slot is None for slot in slots):
            continue
        if own is not None:
            found[node.row] = own
        if node.kind != "op":
            continue
        call = _call(node, values)
        whole = [
            np.zeros(shape, dtype) if part is None else part
            for part, (shape, dtype) in zip(slots, node.outputs, strict=True)
        ]
        results = call.gradients(whole)
        for number, edge in enumerate(node.inputs):
            gradient = results[call.places[number]]
            if gradient is not None:
                place = edge.source.row, edge.slot
                arrived[place] = gradient if place not in arrived else arrived[place] + gradient
    return found


def _call(node: Node, values: Mapping[Place, Any]) -> Call:
    """The call that a node records, with those of its inputs that were computed again."""
    places = [(edge.source.row, edge.slot) for edge in node.inputs]
    return call_of(node).with_inputs({number: values[each] for number, each in enumerate(places) if each in values})


def _slice(graph: Graph, target: Node) -> list[Node]:
    """A node and all that it was made of, in the order of the log."""
    seen = {target.row: target}
    pending = [target]
    while pending:
        for edge in pending.pop().inputs:
            if edge.source.row not in seen:
                seen[edge.source.row] = edge.source
                pending.append(edge.source)
    return [seen[row] for row in sorted(seen)]
