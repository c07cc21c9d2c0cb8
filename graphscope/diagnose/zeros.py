"""Why a gradient is zero: the rule that multiplied it by zeros, and why those are there."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import Explanation, Symptom, steps, title, where
from graphscope.diagnose.flow import Hop, hops, share_of_zeros
from graphscope.diagnose.zeroing import Evidence, reason

if TYPE_CHECKING:
    from graphscope.diagnose.subject import Subject
    from graphscope.graph import Node

MOSTLY: Final = 0.5
"""From this share of zeros on, a gradient that is not all zero is told about too."""


def explain_zero(subject: Subject) -> Explanation | None:
    """Why all of a gradient is zero; None when it is not."""
    gradient = subject.node.grad
    if gradient is None or gradient.size == 0 or np.count_nonzero(gradient):
        return None
    what = f"{subject.title}.grad is zero"
    if _summed_to_more(subject.node):
        return replaced(subject, "zero", what, [subject.node])
    for hop in hops(subject.node):
        if share_of_zeros(hop.grad) == 1 and _summed_to_more(hop.grad):
            return replaced(subject, "zero", what, [subject.node, *hop.trail])
        if share_of_zeros(hop.grad) != 1 and _made_nothing(hop):
            if subject.graph.value_row(hop.row) != hop.row:
                return replaced(subject, "zero", what, [subject.node, *hop.trail[:-1]])
            return _told(subject, hop, what)
    found = list(hops(subject.node))
    if len(found) > 1 and not any(_made_nothing(hop) for hop in found):
        words = f"{what}: its {len(subject.node.contributions)} contributions cancel each other"
        return Explanation("zero", "cancelled", words, steps([subject.node]), "`contributions` lists them")
    roots = [hop for hop in found if not hop.grad.inputs]
    nodes = [subject.node, *(roots[0].trail if roots else ())]
    words = f"{what}: the backward pass began with a gradient of zero at {title(nodes[-1])}"
    return Explanation("zero", "began with zero", words, steps(nodes, {nodes[-1].row: "began with zero"}))


def replaced(subject: Subject, symptom: Symptom, what: str, nodes: Sequence[Node]) -> Explanation:
    """The gradient that arrived is another than the one that was computed."""
    verdict = f"{what}: what was computed is something else, and was replaced at {title(nodes[-1])}{where(nodes[-1])}"
    cure = "look at the hooks (register_hook), at writes to .grad, and at `set grad = ...` in the debugger"
    return Explanation(symptom, "replaced", verdict, steps(nodes, {nodes[-1].row: "replaced"}), cure)


def mostly_zero(subject: Subject) -> str:
    """What is to be said of a gradient that is zero in most places; empty otherwise."""
    gradient = subject.node.grad
    if gradient is None or gradient.size == 0:
        return ""
    share = 1 - np.count_nonzero(gradient) / gradient.size
    if share < MOSTLY:
        return ""
    worst: tuple[float, Hop] | None = None
    for hop in hops(subject.node):
        before, after = share_of_zeros(hop.grad), share_of_zeros(subject.graph.node(hop.row))
        if before is not None and after is not None and (worst is None or after - before > worst[0]):
            worst = (after - before, hop)
    said = f"{share:.0%} of it is zero"
    if worst is None or worst[0] <= 0:
        return f"{said}."
    owner, before_it = worst[1].owner, worst[1].before
    _, why, _ = reason(Evidence(owner, before_it.owner if before_it else subject.node))
    return f"{said}, most of that since {owner.op}{where(owner)}: {why}."


def _summed_to_more(node: Node) -> bool:
    """Whether what arrived at a node does not sum up to zero: then something took its place."""
    if node.kind == "leaf":
        return False  # its gradient is that very sum
    values = [each.value for each in node.contributions]
    known = [value for value in values if value is not None]
    if len(known) < 2 or len(known) < len(values):
        return False
    with np.errstate(all="ignore"):
        return bool(np.count_nonzero(functools.reduce(np.add, known)))


def _made_nothing(hop: Hop) -> bool:
    return share_of_zeros(hop.grad.graph.node(hop.row)) == 1


def _told(subject: Subject, hop: Hop, what: str) -> Explanation:
    owner = hop.owner
    cause, why, cure = reason(Evidence(owner, hop.before.owner if hop.before else subject.node, hop.grad.value))
    nodes = [subject.node, *hop.trail]
    verdict = f"{what}: {owner.op}{where(owner)} lets nothing through: {why}"
    return Explanation("zero", cause, verdict, steps(nodes, {owner.row: "zeros"}), cure)
