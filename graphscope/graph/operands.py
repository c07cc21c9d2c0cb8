"""What stood at each place of an op: an input or a constant, its name in the formula, and the rule of its gradient."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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


_WORD: Final = re.compile(r"[A-Za-z_]\w*")


def saved(node: Node) -> tuple[list[Operand], bool]:
    """What the rules of an op need: operands, by the names in their text, and whether its output is needed, too."""
    wanted = {word for operand in node.operands for word in _WORD.findall(operand.rule)}
    return [operand for operand in node.operands if operand.name in wanted], "out" in wanted


def _row(edges: dict[int, Edge], number: int) -> str:
    return f"#{edges[number].source.row}" if number in edges else "?"


def arguments_text(node: Node) -> str:
    """The constants that the op of a forward node was given, in their places: `(1, ·)`; empty where it has none."""
    given = node.arguments
    attributes = {name: value for name, value in given.attributes.items() if not name.startswith("_")}
    operands = given.operands or ()
    if node.kind != "op" or not (attributes or any(not isinstance(each, Input) for each in operands)):
        return ""
    texts = [spelled(each, lambda _: "·") for each in operands]
    texts += [f"{name}={spelled(value, lambda _: '·')}" for name, value in attributes.items()]
    return f"({', '.join(texts)})"


def attributes_of(node: Node) -> list[tuple[str, str]]:
    """The attributes that an op was given: their names, and what they are; those for its own use left out."""
    edges = {edge.number: edge for edge in node.inputs}
    return [
        (name, spelled(value, lambda number: _row(edges, number)))
        for name, value in node.arguments.attributes.items()
        if not name.startswith("_")
    ]
