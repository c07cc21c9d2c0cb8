"""What a backward pass gave for each input of a recorded call, and what it was given for its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph import Edge, Node

if TYPE_CHECKING:
    from graphscope.static.replay.recorded_rows import Place


@dataclass(frozen=True)
class Passed:
    """One run of the rule of a call.

    Attributes:
        cotangents: For each output, what had arrived; None where nothing did.
        gradients: For each input that the rule gave a gradient, by row and slot: the sum of what it gave.
        unknown: Why the gradient of an input can't be told, by row and slot.
    """

    cotangents: list[np.ndarray | None]
    gradients: dict[Place, np.ndarray]
    unknown: dict[Place, str]


def newest(node: Node) -> Passed | None:
    """The last run of the rule of a call up to `now`; None where there was none."""
    rules = [each for each in node.backward if each.kind == "grad"]
    if not rules:
        return None
    rule = rules[-1]
    cotangents = _cotangents(node, rule)
    gradients: dict[Place, np.ndarray] = {}
    unknown: dict[Place, str] = {}
    for edge in _results(rule):
        place = _place(node, edge)
        if place is None:
            continue
        value, reason = _given(edge, place)
        if value is None:
            unknown[place] = reason
        else:
            gradients[place] = gradients[place] + value if place in gradients else value
    is_limited = _is_limited(rule)
    is_custom = node.graph.log.op(node.event.op).custom
    for edge in node.inputs:
        place = edge.source.row, edge.slot
        if is_custom and len(rule.outputs) != len(node.outputs):
            unknown[place] = "it hands on what it was given as one of its results"
        elif _is_hooked(edge.source):
            unknown[place] = "the program has a hook on it, which may change what arrives"
        elif place not in gradients and is_limited:
            unknown.setdefault(place, "the pass was asked for the gradients of other tensors")
    return Passed(cotangents, gradients, unknown)


def _cotangents(node: Node, rule: Node) -> list[np.ndarray | None]:
    found: list[np.ndarray | None] = []
    for slot, (shape, _) in enumerate(node.outputs):
        value = rule.output(slot) if slot < len(rule.outputs) else None
        found.append(value if value is not None and value.shape == shape else None)
    return found


def _results(rule: Node) -> list[Edge]:
    """The edges on which the results of a rule leave it; one call may have several backward nodes."""
    found: list[Edge] = []
    pending = [rule]
    while pending:
        for edge in pending.pop().users:
            part = edge.target.event
            if part.kind == Kind.GRAD and part.forward == rule.row:
                pending.append(edge.target)
            elif part.kind in (Kind.GRAD, Kind.ACCUMULATE):
                found.append(edge)
    return found


def _place(node: Node, edge: Edge) -> Place | None:
    """The input of a call that a gradient is for: a custom function has a result for each of its tensors."""
    own = [(each.source.row, each.slot) for each in node.inputs]
    if node.graph.log.op(node.event.op).custom and edge.source.event.forward == node.row:
        return own[edge.slot] if edge.slot < len(own) else None
    owner = edge.target.forward
    return next((place for place in own if owner is not None and place[0] == owner.row), None)


def _given(edge: Edge, place: Place) -> tuple[np.ndarray | None, str]:
    """The value that a rule gave on an edge, and else why it is not known."""
    target = edge.target
    source = target.forward
    if source is not None and len(source.outputs) > 1 and target.kind == "grad":
        if len([each for each in source.users if each.slot == place[1]]) > 1:
            return None, f"#{source.row} {source.label} adds up what comes from several users"
        value = target.output(place[1])
    else:
        value = target.computed
    return value, "" if value is not None else "it was not kept"


def wants_gradient(edge: Edge) -> bool:
    """Whether gradients flow to what an edge brings."""
    source, graph = edge.source, edge.source.graph
    _, dtype = source.outputs[edge.slot]
    said = graph.index.assignments(source.tensor, "requires_grad", edge.target.row)
    first = graph.log.event(source.tensor) if source.tensor >= graph.log.first else source.event
    flags = source.flags | first.flags if first.kind == Kind.LEAF else source.flags  # updates say nothing of it
    flows = graph.log.attrs(graph.index.event(said[-1]).attrs).get("to") if said else flags & Flag.REQUIRES_GRAD
    return bool(flows) and dtype.startswith(("float", "bfloat", "complex"))


def _is_hooked(source: Node) -> bool:
    graph = source.graph
    return bool(source.attrs.get("hooked") or graph.index.assignments(source.tensor, "hook", graph.now + 1))


def _is_limited(rule: Node) -> bool:
    """Whether the pass that a rule ran in was to give some gradients alone."""
    graph = rule.graph
    begins = [row for row in graph.index.marks(Kind.BACKWARD_BEGIN).tolist() if row < rule.row]
    return bool(begins) and bool(graph.log.attrs(graph.index.event(begins[-1]).attrs).get("limited"))
