"""Iterations of one loop in a view: the same places of the program in the same order, each fed by the one before.

Layers that are equal but for a number in their names are iterations, too: a stack of them is a loop over modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from graphscope.graph.modules.repeats import without_numbers
from graphscope.graph.passes.periods import candidate_periods, stretches
from graphscope.graph.view import GraphView, ViewEdge, ViewNode


@dataclass(frozen=True, slots=True)
class Loop:
    """Boxes that come again: `boxes[i]` is place `i % period` of iteration `i // period`; the last may be cut short."""

    boxes: tuple[ViewNode, ...]
    period: int

    @property
    def count(self) -> int:
        """The number of iterations."""
        return -(-len(self.boxes) // self.period)

    def places(self) -> Iterator[tuple[ViewNode, ...]]:
        """For each place in an iteration, its boxes in all iterations."""
        for place in range(self.period):
            yield self.boxes[place :: self.period]


@dataclass(frozen=True, slots=True)
class _Wire:
    """Where an input comes from, told without naming an iteration."""

    argument: int
    kind: str
    back: int | None
    """So many iterations before; None from outside the loop."""
    source: Any
    """The place in that iteration, or what kind of box outside."""


def find_loops(view: GraphView) -> list[Loop]:
    """The loops of a view, innermost first; no box lies in two."""
    signatures = _signatures(view)
    # Leaves appear when a program makes them or first uses them, so they do not keep the beat; they follow later.
    boxes = [node for node in view.nodes if node.kind != "leaf"]
    sequence = [signatures[node.id] for node in boxes]
    wires: dict[str, list[ViewEdge]] = {}
    known = view.by_id()
    for edge in view.edges:
        # The gradients of a box that holds both passes go as its data do, and come from behind.
        if edge.kind == "data" or (edge.kind == "gradient" and known[edge.target].graph_pass != "both"):
            wires.setdefault(edge.target, []).append(edge)
    outside = {node.id: _outside(node, signatures[node.id]) for node in known.values()}
    taken = bytearray(len(boxes))
    loops = []
    for period in candidate_periods(sequence):
        for begin, end in stretches(sequence, period):
            if any(taken[begin:end]):
                continue
            for first, last in _consistent(boxes[begin:end], period, wires, outside):
                loops.append(Loop(tuple(boxes[begin + first : begin + last]), period))
                taken[begin + first : begin + last] = b"\1" * (last - first)
    return loops


def _signatures(view: GraphView) -> dict[str, int]:
    """A number for each box: the same for boxes that the same place of the program made in the same way."""
    numbers: dict[object, int] = {}
    found: dict[str, int] = {}
    leaves = {node.id for node in view.nodes if node.kind == "leaf"}
    for node in view.nodes:
        place: object = node.site
        if node.kind == "scope":
            place = without_numbers(node.scope)
        elif node.site is None:
            place = node.id  # who knows where it came from: it is like no other
        forward = found.get(node.forward or "")
        place = (place, without_numbers(node.scope), without_numbers(node.name), node.requires_grad)
        if node.kind == "accumulate" and node.forward not in leaves:
            place, forward = None, None  # the first iteration sums the gradient of what the loop began with
        described = (node.kind, node.op, node.graph_pass, place, node.shape, node.dtype, forward)
        found[node.id] = numbers.setdefault(described, len(numbers))
    return found


def _outside(node: ViewNode, signature: int) -> object:
    """What may stand in for a box outside the loop in another iteration: data of its shape, weights of its place."""
    if node.kind == "leaf" and not (node.requires_grad or node.parameter):
        return ("data", node.shape, node.dtype)
    return signature


def _consistent(
    boxes: Sequence[ViewNode], period: int, edges: Mapping[str, list[ViewEdge]], outside: Mapping[str, object]
) -> list[tuple[int, int]]:
    """The parts of a stretch whose iterations are wired alike and feed one another, as begin and end."""
    position = {node.id: place for place, node in enumerate(boxes)}
    wired = [
        tuple(_wire(edge, place // period, position, period, outside) for edge in edges.get(node.id, ()))
        for place, node in enumerate(boxes)
    ]
    iterations = [wired[begin : begin + period] for begin in range(0, len(boxes), period)]
    parts = []
    first = 0
    for number, (earlier, later) in enumerate(pairwise(iterations)):
        if not _alike(earlier, later, number - first):
            parts.append((first, number + 1))
            first = number + 1
    parts.append((first, len(iterations)))
    return [
        (begin * period, min(end * period, len(boxes)))
        for begin, end in parts
        if min(end * period, len(boxes)) - begin * period >= 2 * period and _flows(iterations[begin + 1])
    ]


def _wire(
    edge: ViewEdge, iteration: int, position: Mapping[str, int], period: int, outside: Mapping[str, object]
) -> _Wire:
    place = position.get(edge.source)
    if place is None:
        return _Wire(edge.argument, edge.kind, None, outside[edge.source])
    return _Wire(edge.argument, edge.kind, iteration - place // period, place % period)


def _alike(earlier: list[tuple[_Wire, ...]], later: list[tuple[_Wire, ...]], age: int) -> bool:
    """Whether two iterations in a row are wired alike; what later ones get from before, early ones get from outside."""
    for wires, others in zip(earlier, later, strict=False):
        if len(wires) != len(others):
            return False
        for wire, other in zip(wires, others, strict=True):
            begins = wire.back is None and other.back is not None and other.back > age
            if wire != other and not (begins and wire.argument == other.argument and wire.kind == other.kind):
                return False
    return True


def _flows(iteration: list[tuple[_Wire, ...]]) -> bool:
    return any(wire.back is not None and wire.back > 0 for wires in iteration for wire in wires)
