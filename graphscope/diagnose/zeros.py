"""Why a gradient is zero: the rule that multiplied it by zeros, and why those are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import Explanation, Symptom, steps, title, where
from graphscope.diagnose.flow import Hop, hops, share_of_zeros
from graphscope.diagnose.zeroing import reason

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
    found = list(hops(subject.node))
    for hop in found:
        if share_of_zeros(hop.grad) != 1 and _made_nothing(hop):
            if subject.graph.value_row(hop.row) != hop.row:
                return replaced(subject, "zero", f"{subject.title}.grad is zero", [subject.node, *hop.trail[:-1]])
            return _told(subject, hop, f"{subject.title}.grad is zero")
    if len(found) > 1 and not any(_made_nothing(hop) for hop in found):
        words = f"{subject.title}.grad is zero: its {len(subject.node.contributions)} contributions cancel each other"
        return Explanation("zero", "cancelled", words, steps([subject.node]), "`contributions` lists them")
    roots = [hop for hop in found if not hop.grad.inputs]
    nodes = [subject.node, *(roots[0].trail if roots else ())]
    words = f"{subject.title}.grad is zero: the backward pass began with a gradient of zero at {title(nodes[-1])}"
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
    owner = worst[1].trail[-1]
    _, why, _ = reason(owner)
    return f"{said}, most of that since {owner.op}{where(owner)}: {why}."


def _made_nothing(hop: Hop) -> bool:
    return share_of_zeros(hop.grad.graph.node(hop.row)) == 1


def _told(subject: Subject, hop: Hop, what: str) -> Explanation:
    owner = hop.trail[-1]
    cause, why, cure = reason(owner)
    nodes = [subject.node, *hop.trail]
    verdict = f"{what}: {owner.op}{where(owner)} lets nothing through: {why}"
    return Explanation("zero", cause, verdict, steps(nodes, {owner.row: "zeros"}), cure)
