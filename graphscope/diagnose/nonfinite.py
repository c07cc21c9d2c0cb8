"""Why a value or a gradient is not finite: where its first NaN or Inf was born, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.diagnose.births import born_backward, born_forward
from graphscope.diagnose.deliberate import is_deliberate, is_sound
from graphscope.diagnose.explanation import Explanation, steps, title, where
from graphscope.diagnose.flow import hops, is_finite
from graphscope.diagnose.paths import Ways
from graphscope.diagnose.subject import Subject

if TYPE_CHECKING:
    from graphscope.graph import Node


def explain_nonfinite_value(subject: Subject) -> Explanation | None:
    """Why the value itself is not finite; None when it is."""
    newest = subject.graph.node(max(subject.rows))
    if is_finite(newest):
        return None
    if is_deliberate(newest):
        verdict = f"{subject.title} is inf as the program asked for: a constant of it is infinite, as a mask's is"
        path = steps([newest], {newest.row: "inf on purpose"})
        return Explanation("nonfinite", "deliberate", verdict, path, "softmax makes 0 of -inf: no fault")
    return _told(newest, [subject.node], f"{subject.title} is {_kinds(newest)}")


def explain_nonfinite(subject: Subject) -> Explanation | None:
    """Why the gradient is not finite; None when it is."""
    gradient = subject.node.grad
    if gradient is None or np.isfinite(gradient).all():
        return None
    what = f"{subject.title}.grad is {'nan' if np.isnan(gradient).any() else 'inf'}"
    last = None
    for hop in hops(subject.node):
        if is_finite(subject.graph.node(hop.row)):
            continue
        last = hop
        if is_finite(hop.grad):
            return _told_of_rule(hop.owner, [subject.node, *hop.trail], what)
    if last is None:
        verdict = f"{what}: its contributions are finite, and their sum overflows"
        path = steps([subject.node])
        return Explanation("nonfinite", "overflow of a sum", verdict, path, "`contributions` lists them")
    nodes = [subject.node, *last.trail]
    verdict = f"{what}: the backward pass began with a gradient that is not finite{where(nodes[-1])}"
    return Explanation("nonfinite", "began so", verdict, steps(nodes, {nodes[-1].row: "began so"}))


def _told_of_rule(owner: Node, nodes: list[Node], what: str) -> Explanation:
    """A rule made it of a finite gradient: of what its op had been given, or by itself."""
    while (
        owner.kind == "grad" and owner.forward is not None
    ):  # a part of the rule of a call: the call had been given it
        owner = owner.forward
    sick = [node for node in (owner, *(edge.source for edge in owner.inputs)) if not is_sound(node)]
    if sick:
        return _told(min(sick, key=lambda node: node.row), nodes, what)
    why, cure = born_backward(owner)
    verdict = f"{what}: the first non-finite gradient comes from the rule of {owner.op}{where(owner)}: {why}"
    path = steps(nodes if owner in nodes else [*nodes, owner], {owner.row: why})
    return Explanation("nonfinite", "born backward", verdict, path, cure)


def _told(sick: Node, nodes: list[Node], what: str) -> Explanation:
    """Where what makes a node non-finite was born."""
    born = _birth(sick)
    poisoned = _poisoned_by(born) if born.kind == "leaf" else None
    if poisoned is not None:
        before = Subject(born.graph.at(poisoned.row).node(born.row))
        found = explain_nonfinite(before)
        if found is not None:
            return _poisoned(found, nodes, what)
    if born.kind == "leaf":
        verdict = f"{what}: {title(born)}{where(born)} holds {_kinds(born)} from the beginning"
        path = steps(_with(nodes, born), {born.row: "not finite"})
        return Explanation("nonfinite", "data", verdict, path, "clean the data")
    if born.kind in ("grad", "accumulate"):
        rules = [edge.source.forward for edge in born.inputs if edge.source.kind == "grad"]
        if len(rules) == 1 and rules[0] is not None:
            return _poisoned(_told_of_rule(rules[0], [rules[0]], what), nodes, what)
    why, cure = born_forward(born)
    verdict = f"{what}: the first non-finite value was made by {born.op}{where(born)}: {why}"
    return Explanation("nonfinite", "born forward", verdict, steps(_with(nodes, born), {born.row: why}), cure)


def _poisoned(found: Explanation, nodes: list[Node], what: str) -> Explanation:
    """The same birth, of a gradient that a step of the optimizer took over."""
    _, _, why = found.verdict.partition(": ")
    verdict = f"{what}, since a step took over a gradient that was not finite: {why}"
    path = (*steps([node for node in nodes if all(node.row != step.row for step in found.path)]), *found.path)
    return Explanation("nonfinite", "poisoned by a step", verdict, path, found.cure, found.others)


def _birth(sick: Node) -> Node:
    """The oldest non-finite node that this one was computed from."""
    node = sick
    while True:
        worse = [edge.source for edge in node.inputs if edge.source.row < node.row and not is_sound(edge.source)]
        if not worse:
            return _poisoned_leaf(node) or node
        node = min(worse, key=lambda each: each.row)


def _poisoned_leaf(node: Node) -> Node | None:
    """A leaf among the inputs that an optimizer wrote unseen, after a gradient that was not finite."""
    for edge in node.inputs:
        if edge.source.kind == "leaf" and _poisoned_by(edge.source, node.row) is not None:
            return edge.source
    return None


def _poisoned_by(leaf: Node, before: int | None = None) -> Node | None:
    """The contribution that was not finite before a row, if one was."""
    rows = [row for row in leaf.backward if row.kind == "accumulate" and (before is None or row.row < before)]
    return next((row for row in rows if not is_finite(row)), None)


def _with(nodes: list[Node], born: Node) -> list[Node]:
    """The path, so that it holds the node where it began."""
    if born in nodes:
        return nodes
    ways = Ways(born.graph, nodes[-1].row, {born.row})
    between = ways.path() if nodes[-1].row in ways.reached else [born, nodes[-1]]
    return [*nodes[:-1], *between[::-1]]


def _kinds(node: Node) -> str:
    found = node.summary
    if found is None:
        return "not finite"
    return " and ".join(name for name, number in (("nan", found.nan), ("inf", found.inf)) if number) or "not finite"
