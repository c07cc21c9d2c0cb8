"""Probabilities where scores are meant: softmax ahead of a loss that applies softmax itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import axis, is_forward, operand
from graphscope.diagnose.values.squashing import blamed, probabilities, softmax_axis_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph


def losses(log: Log) -> list[int]:
    """The rows of ops that apply log-softmax to what they are given."""
    return distinct(log, op_rows(log, _LOSSES))


_LOSSES: Final = frozenset(
    {
        "cross_entropy", "cross_entropy_loss", "log_softmax", "softmax_cross_entropy_with_logits",
        "sparse_softmax_cross_entropy_with_logits",
    }
)  # fmt: skip


@check(
    "softmax twice",
    reads=("rows",),
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
    """Softmax was applied to what goes into a loss that applies softmax itself.

    A log-softmax ahead of one over the same axis changes nothing, and is no fault.
    """
    loss = graph.node(row)
    given = operand(loss, "input", 0) if is_forward(loss, _LOSSES) else None
    if given is None:
        return
    made = [(each, softmax_axis_of(each)) for each in probabilities(given)]
    if not made or any(found is None for _, found in made):
        return
    first = made[0][0]
    if loss.op == "log_softmax" and loss.shape == first.shape and axis(loss) != softmax_axis_of(first):
        return  # over another axis: attention, perhaps
    place = blamed(first)
    verdict = (
        f"{first.op}{where(first)} makes probabilities, and {loss.op}{where(loss)} takes them for scores and applies "
        "softmax again: the loss can't come near 0, and gradients are small"
    )
    cure = f"give {loss.op} the scores themselves: leave the softmax out of what goes into the loss"
    evidence = {"loss": Row(loss.row), "classes": first.shape[softmax_axis_of(first) or 0] if first.shape else 0}
    yield Finding(
        "double_softmax", "warning", row, first.row, *place, (title(first),), "softmax twice", verdict, cure, evidence
    )
