"""What stood at each place of an op: an input or a constant, its name in the formula, and the rule of its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphscope.eventlog.typed import Input, spelled

if TYPE_CHECKING:
    from graphscope.graph.node import Edge, Node


@dataclass(frozen=True, slots=True)
class Operand:
    """One place of an op."""

    name: str
    """What the formula calls it."""
    edge: Edge | None
    """Where it came from; None of a constant."""
    text: str = ""
    """A constant as people write it; tensors in it are `#12`."""
    constant: Any = None
    rule: str = ""
    """How its gradient is computed; empty where it has none."""


def operands_of(node: Node) -> list[Operand]:
    """The operands of the op of a node, in order; what was left out is not among them."""
    op = node.graph.log.op(node.event.op)
    edges = {edge.number: edge for edge in node.inputs}
    given = node.arguments.operands
    found = []
    for place, value in enumerate(given if given is not None else map(Input, edges)):
        name = op.inputs[place] if place < len(op.inputs) else f"input {place}"
        rule = op.vjp[min(place, len(op.vjp) - 1)] if op.vjp else ""
        edge = edges.get(value.number) if isinstance(value, Input) else None
        if edge is not None:
            found.append(Operand(name, edge, rule="" if rule == "no gradient" else rule))
        elif value is not None and not isinstance(value, Input):
            found.append(Operand(name, None, spelled(value, lambda number: _row(edges, number)), value))
    return found


def _row(edges: dict[int, Edge], number: int) -> str:
    return f"#{edges[number].source.row}" if number in edges else "?"


def constants_of(node: Node) -> list[tuple[str, str]]:
    """The constants that an op was given: what they are called, and what they are; those for its own use left out."""
    edges = {edge.number: edge for edge in node.inputs}
    operands = [(each.name, each.text) for each in node.operands if each.edge is None]
    return operands + [
        (name, spelled(value, lambda number: _row(edges, number)))
        for name, value in node.arguments.attributes.items()
        if not name.startswith("_")
    ]
