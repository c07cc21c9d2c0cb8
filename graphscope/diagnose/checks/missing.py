"""A leaf that a backward pass should have brought a gradient, and did not: which, and why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, title, where
from graphscope.diagnose.finding import Finding, Row, alike, finding
from graphscope.diagnose.gradients.cut_terms import cut_terms
from graphscope.diagnose.gradients.first_order import Term, dead_terms
from graphscope.diagnose.gradients.leaf_losses import leaf_losses
from graphscope.diagnose.gradients.lone_losses import lone_losses
from graphscope.diagnose.gradients.missing_causes import explain_missing, gradient_itself
from graphscope.diagnose.gradients.passes import incomplete_passes, pass_that_ends_with
from graphscope.diagnose.gradients.read_as_numbers import read_as_numbers
from graphscope.diagnose.gradients.replaced_leaves import ReplacedLeaf, replaced_leaves
from graphscope.diagnose.gradients.unreached import unreached
from graphscope.diagnose.subject import Subject
from graphscope.diagnose.training.optimizer_order import orders
from graphscope.eventlog.names import place_of
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


def never_reached(graph: Graph) -> Iterator[Finding]:
    """The leaves that are meant to learn and get no gradient in the whole run, as something cuts the way."""
    without = [*leaf_losses(graph)] or [*lone_losses(graph)]
    told = {tensor for loss in without for tensor in loss.tensors}
    leaves = [leaf for leaf in islice(unreached(graph), _MOST) if leaf.tensor not in told]
    found = ((title(leaf), explain_missing(Subject(leaf))) for leaf in leaves)
    for names, answer in alike((name, each) for name, each in found if each.cause in CUTTING):
        blamed = None if answer.step is None else answer.step.row
        row = leaves[0].row if blamed is None else blamed
        yield finding("missing", "warning", row, answer, names, {})
    yield from _of_own_passes(graph, told)
    for loss in without:
        yield finding("missing", "error", loss.row, loss.found, loss.names, {}, loss.first)
    for each in read_as_numbers(graph):
        verdict = f"no gradient comes to {each.name}: it is read as a plain number here, and no op takes it"
        cure = f"compute with the tensor itself: leave .item(), float(), .data or .detach() of {each.name} out"
        yield Finding(
            "missing", "warning", each.row, None, *each.place, (each.name,), "left the graph", verdict, cure,
            first_row=each.first,
        )  # fmt: skip
    for replaced in replaced_leaves(graph):
        yield _replaced(replaced)
    for cut in cut_terms(graph):
        yield finding("missing", "warning", cut.row, cut.found, cut.names, {}, cut.first)
    for term in dead_terms(graph):
        yield _without_graph(graph, term)


def _of_own_passes(graph: Graph, told: set[int]) -> Iterator[Finding]:
    """Leaves that get gradients of other losses only, which are cleared: the pass ahead of their step brings none."""
    for order in orders(graph.log):
        ends = order.fruitless()
        ends = ends[ends <= graph.now]
        if (
            order.is_alone
            and told.isdisjoint(order.optimizer.tensors)
            and len(ends) >= max(_STEPS, len(order.steps) - 1)
        ):
            passed = graph.at(int(ends[0]))
            leaves = [passed.node(tensor) for tensor in order.tensors.tolist()[:_MOST] if tensor <= ends[0]]
            found = ((title(leaf), explain_missing(Subject(leaf))) for leaf in leaves)
            for names, answer in alike((name, each) for name, each in found if each.cause in CUTTING):
                row = leaves[0].row if answer.step is None or answer.step.row is None else answer.step.row
                yield finding("missing", "warning", row, answer, names, {"passes": len(ends)})


_STEPS: Final = 3
_MOST: Final = 200
"""So many leaves are explained."""

CUTTING: Final = frozenset({"detach", "no_grad", "no rule", "left the graph", "none from a rule"})
"""Causes that are places of the program; whatever else leaves a leaf out cuts no way."""


def _replaced(found: ReplacedLeaf) -> Finding:
    update, name = found.update, title(found.update)
    file, line = place_of(update.site)
    verdict = (
        f"{name} gets no gradient any more: {update.op}{where(update)} made a new tensor in the place of the leaf, and "
        f"the gradient that came to it (#{found.passed}) is not kept, as .grad keeps those of leaves only"
    )
    cure = f"write the leaf in place: with torch.no_grad(): {name} -= ..., and clear its gradient"
    row = update.row
    return Finding("missing", "error", row, row, file, line, (name,), "replaced", verdict, cure)


def _without_graph(graph: Graph, term: Term) -> Finding:
    file, line = place_of(graph.log.site(graph.index.event(term.begin).site))
    verdict = (
        f"{title(term.value)}{where(term.value)} is a part of the loss that teaches nothing: it was made of gradients "
        "that came without a graph of their own, so that none flows through them to the parameters"
    )
    cure = "torch.autograd.grad(..., create_graph=True), or backward(create_graph=True)"
    names, evidence = (title(term.value),), {"gradient": Row(term.gradient.row), "backward pass": Row(term.begin)}
    row = term.value.row
    return Finding("missing", "warning", row, row, file, line, names, "no create_graph", verdict, cure, evidence)


@check(
    "gradient that never arrives",
    reads=("marks", "training", "rows"),
    rows=incomplete_passes,
    shows="pass",
    explain=explain,
    of_run=never_reached,
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
        yield finding("missing", "warning", row, answer, names, {"backward pass": Row(ended.begin)})
