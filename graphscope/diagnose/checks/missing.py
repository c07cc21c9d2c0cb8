"""A leaf that a backward pass should have brought a gradient, and did not: which, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.backward_passes import incomplete_passes, pass_that_ends_with
from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, title
from graphscope.diagnose.finding import Finding, alike, finding
from graphscope.diagnose.missing_causes import explain_missing, gradient_itself
from graphscope.diagnose.subject import Subject
from graphscope.graph.faults import is_finite

if TYPE_CHECKING:
    from graphscope.graph import Graph

INTENDED: Final = frozenset({"frozen", "not accumulated", "cleared"})
"""Causes that are what the program asked for."""


def explain(subject: Subject) -> Explanation | None:
    """Why a tensor has no gradient; None when it has one, or when its value is what is wrong with it."""
    if subject.is_gradient:
        return gradient_itself(subject)
    sick = not subject.is_leaf and not is_finite(subject.node)
    return None if sick or not subject.is_missing else explain_missing(subject)


@check(
    "leaf without a gradient",
    reads=("marks", "rows"),
    rows=incomplete_passes,
    shows="pass",
    explain=explain,
    sample="""
        import torch

        w = torch.tensor([1.0, 2.0], requires_grad=True)
        v = torch.tensor([3.0, 4.0], requires_grad=True)
        loss = (w.detach() * v).sum()
        loss.backward()
        """,
    healthy="""
        import torch

        w = torch.tensor([1.0, 2.0], requires_grad=True)
        v = torch.tensor([3.0, 4.0], requires_grad=True)
        loss = (w * v).sum()
        loss.backward()
        """,
)
def missing(graph: Graph, row: int) -> Iterator[Finding]:
    """A backward pass has ended, and a leaf that requires grad has got no gradient.

    Looked at are the leaves that require grad and took part in a forward pass since the last backward. A pass that
    fills no leaf at all (`autograd.grad`) leaves none out; what the program has frozen is not missing. Leaves with the
    same cause share a finding.
    """
    ended = pass_that_ends_with(graph, row)
    if ended is None or not ended.filled:
        return
    found = ((graph.node(leaf), Subject(graph.at(ended.end).node(leaf))) for leaf in ended.left_out)
    explained = ((title(leaf), explain_missing(subject)) for leaf, subject in found)
    for names, answer in alike((name, each) for name, each in explained if each.cause not in INTENDED):
        yield finding("missing", "warning", row, answer, names, {"leaves": len(names), "backward": ended.begin})
