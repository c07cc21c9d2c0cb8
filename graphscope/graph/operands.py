"""What stood at each place of an op: an input or a constant, its name in the formula, and the rule of its gradient."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphscope.eventlog.typed import Input, spelled

if TYPE_CHECKING:
    from graphscope.eventlog.arguments import Arguments
    from graphscope.eventlog.names import Op
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
    for name, rule, value in _places(op, list(map(Input, edges)) if given is None else list(given)):
        edge = edges.get(value.number) if isinstance(value, Input) else None
        if edge is not None:
            found.append(Operand(name, edge, rule=rule))
        elif value is not None and not isinstance(value, Input):
            found.append(Operand(name, None, spelled(value, lambda number: _row(edges, number)), value))
    return found


NO_RULE: Final = "no gradient"
"""What a log says in the place of a rule where an input has none."""

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_PLACE: Final = re.compile(r"\bi\b")
"""In rules of inputs that stand in a list: which of them."""


def _places(op: Op, given: list[Any]) -> Iterator[tuple[str, str, Any]]:
    """What the formula calls what stood at each place of an op, its rule, and what it was."""
    last = len(op.inputs) - 1
    if last >= 0 and op.inputs[last].startswith("*") and len(given) > last:
        given = [*given[:last], tuple(given[last:])]
    for place, value in enumerate(given):
        name = op.inputs[place].removeprefix("*") if place <= last else f"input {place}"
        rule = op.vjp[min(place, len(op.vjp) - 1)] if op.vjp else ""
        rule = "" if rule == NO_RULE else rule
        if rule and isinstance(value, (list, tuple)) and any(isinstance(each, Input) for each in value):
            for number, each in enumerate(value):
                yield f"{name}[{number}]", _PLACE.sub(str(number), rule), each
        else:
            yield name, rule, value


def saved(node: Node) -> tuple[list[Operand], bool]:
    """What the rules of an op need: operands, by the names in their text, and whether its output is needed, too."""
    wanted = {word for operand in node.operands for word in _WORD.findall(operand.rule)}
    return [each for each in node.operands if each.name.partition("[")[0] in wanted], "out" in wanted


def _row(edges: dict[int, Edge], number: int) -> str:
    return f"#{edges[number].source.row}" if number in edges else "?"


def arguments_text(node: Node) -> str:
    """The constants that the op of a forward node was given, in their places: `(1, ·)`; empty where it has none."""
    return call_text(node.arguments) if node.kind == "op" else ""


def call_text(given: Arguments) -> str:
    """The constants that a call was given, in their places: `(1, ·)`; empty where it has none."""
    attributes = {name: value for name, value in given.attributes.items() if not name.startswith("_")}
    operands = given.operands or ()
    if not (attributes or any(not isinstance(each, Input) for each in operands)):
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
