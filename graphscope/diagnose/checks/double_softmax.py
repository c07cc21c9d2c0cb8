"""Probabilities where scores are meant: softmax ahead of a loss that applies softmax itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.values.distributions import class_axis, rows_given_distributions
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import axis, is_forward, operand, origin
from graphscope.diagnose.values.squashing import blamed, probabilities, softmax_axis_of
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node


def losses(log: Log) -> list[int]:
    """The rows of ops that apply log-softmax to what they are given; those where it is known by values, too."""
    return sorted({*distinct(log, op_rows(log, _LOSSES)), *losses_given_distributions(log)})


@once_a_length
def losses_given_distributions(log: Log) -> set[int]:
    """The rows of those of which several steps tell by values that they are given probabilities, and no softmax's."""
    found = rows_given_distributions(log, op_rows(log, _PLAIN))
    return {row for row in found if _softmax_ahead(log.graph.node(row)) is None}


_LOSSES: Final = frozenset(
    {
        "cross_entropy", "cross_entropy_loss", "log_softmax", "softmax_cross_entropy_with_logits",
        "sparse_softmax_cross_entropy_with_logits",
    }
)  # fmt: skip


_PLAIN: Final = frozenset({"cross_entropy", "cross_entropy_loss", "log_softmax"})
"""Those whose first operand is scores, with the classes along a known axis."""


@check(
    "softmax twice",
    reads=("rows", "values"),
    rows=losses,
    sample="""
        import torch

        scores = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.3, 0.2]], requires_grad=True)
        labels = torch.tensor([1, 0])
        probabilities = scores.softmax(-1)
        loss = torch.nn.functional.cross_entropy(probabilities, labels)
        loss.backward()
        """,
    healthy="""
        import torch

        scores = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.3, 0.2]], requires_grad=True)
        labels = torch.tensor([1, 0])
        loss = torch.nn.functional.cross_entropy(scores, labels)
        loss = loss + torch.nn.functional.nll_loss(scores.softmax(-1).log(), labels)
        loss.backward()
        """,
)
def double_softmax(graph: Graph, row: int) -> Iterator[Finding]:
    """Probabilities go into a loss that applies softmax itself: those of a softmax, or what each row of adds up to 1.

    A log-softmax ahead of one over the same axis changes nothing, and is no fault.
    """
    loss = graph.node(row)
    given = operand(loss, "input", 0) if is_forward(loss, _LOSSES) else None
    if given is None:
        return
    first = _softmax_ahead(loss)
    if first is not None:
        yield from _of_softmax(loss, first)
    elif row in losses_given_distributions(graph.log):
        yield _of_distributions(loss, given)


def _softmax_ahead(loss: Node) -> Node | None:
    """The softmax, or the first of several, that all of what a loss is given comes from."""
    given = operand(loss, "input", 0)
    made = [] if given is None else list(probabilities(given))
    return made[0] if made and all(softmax_axis_of(each) is not None for each in made) else None


def _of_softmax(loss: Node, first: Node) -> Iterator[Finding]:
    if loss.op == "log_softmax" and loss.shape == first.shape and axis(loss) != softmax_axis_of(first):
        return  # over another axis: attention, perhaps
    place = blamed(first)
    verdict = (
        f"{first.op}{where(first)} makes probabilities, and {loss.op}{where(loss)} takes them for scores and applies "
        "softmax again: the loss can't come near 0, and gradients are small"
    )
    cure = f"give {loss.op} the scores themselves: leave the softmax out of what goes into the loss"
    evidence = {"loss": Row(loss.row), "classes": first.shape[softmax_axis_of(first) or 0] if first.shape else 0}
    names = (title(first),)
    yield Finding(
        "double_softmax", "warning", loss.row, first.row, *place, names, "softmax twice", verdict, cure, evidence
    )


def _of_distributions(loss: Node, given: Node) -> Finding:
    """What is known by values: as a mixture of softmaxes has no scores, the loss is to be another."""
    made = origin(given)
    verdict = (
        f"{made.op}{where(made)} makes probabilities, which add up to 1 over the classes in every step, and "
        f"{loss.op}{where(loss)} takes them for scores and applies softmax to them: the loss can't come near 0, and "
        "gradients are small"
    )
    cure = "give it scores, without the softmax; or take the logarithm of the probabilities"
    cure += " alone" if loss.op == "log_softmax" else ", and nll_loss"
    evidence = {"made by": Row(made.row), "classes": given.shape[class_axis(loss, given) or 0]}
    return Finding(
        "double_softmax", "warning", loss.row, loss.row, *blamed(loss, settings=True), (title(made),),
        "given probabilities", verdict, cure, evidence,
    )  # fmt: skip
