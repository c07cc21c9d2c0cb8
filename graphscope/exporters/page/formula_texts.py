"""What nodes compute, as people write it, with the names and numbers of the program put in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph import filled
from graphscope.graph.rule_text import applied

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.node import Node
    from graphscope.graph.view import GraphView, ViewNode

__all__ = ["formula_lines"]

MOST: Final = 5_000
"""Of so many nodes names and numbers are put in; of a larger view each op tells its formula alone."""
_LONGEST: Final = 240


def formula_lines(view: GraphView) -> list[list[str]]:
    """Lines for each node: the formula of an op, the rules of a backward node; none of leaves."""
    graph = view.graph
    if graph is None:
        return [[] for _ in view.nodes]
    if len(view.nodes) > MOST:
        return _of_ops_alone(view.nodes, graph.log)
    return [[] if each.kind not in ("op", "grad") else _lines(graph.node(each.rows[0])) for each in view.nodes]


def _of_ops_alone(nodes: tuple[ViewNode, ...], log: Log) -> list[list[str]]:
    numbers = log.pick("op", np.array([each.rows[0] for each in nodes], np.int64)).tolist()
    of_ops = {number: _cut([log.op(number).formula]) for number in set(numbers)}
    return [of_ops[number] if each.kind == "op" else [] for each, number in zip(nodes, numbers, strict=True)]


def _lines(node: Node) -> list[str]:
    return _cut(_of_op(node) if node.kind == "op" else _of_rules(node))


def _of_op(node: Node) -> list[str]:
    if not node.formula:
        return []
    value = node.computed if node.event.shape == () else None
    return [node.formula, *filled.in_formula(node, {"out": value})]


def _of_rules(node: Node) -> list[str]:
    """A line for each input that has a gradient: the rule, and what it says of this node."""
    owner = node.forward
    if owner is None or owner.kind != "op":
        return [node.formula]
    known = {"out": owner.computed if owner.shape == () else None, "g": node.value if node.shape == () else None}
    found = []
    for operand in owner.operands:
        if operand.rule and operand.edge is not None:
            rule = applied(owner, operand.rule)
            found.append(f"grad of {operand.name} = {rule}")
            if more := filled.in_rule(owner, rule, known):
                found.append(f"  = {more}")
    return found


def _cut(lines: list[str]) -> list[str]:
    return [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in lines if line]
