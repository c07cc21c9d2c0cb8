"""Probabilities where scores are meant: sigmoid ahead of a loss that applies sigmoid itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import is_forward, operand
from graphscope.diagnose.values.squashing import blamed, is_sigmoid, probabilities, softmax_axis_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

LOSSES: Final = frozenset(
    {"binary_cross_entropy_with_logits", "multilabel_soft_margin_loss", "logsigmoid", "binary_cross_entropy"}
)


def losses(log: Log) -> list[int]:
    """The rows of ops that apply sigmoid to what they are given, and of the loss that takes probabilities."""
    return distinct(log, op_rows(log, LOSSES))


@check(
    "sigmoid twice",
    reads=("rows",),
    rows=losses,
    sample="""
        import torch

        scores = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
        labels = torch.tensor([1.0, 0.0, 1.0])
        probabilities = torch.sigmoid(scores)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(probabilities, labels)
        loss.backward()
        """,
    healthy="""
        import torch

        scores = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
        labels = torch.tensor([1.0, 0.0, 1.0])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, labels)
        loss = loss + torch.nn.functional.binary_cross_entropy(torch.sigmoid(scores), labels)
        loss.backward()
        """,
)
def double_sigmoid(graph: Graph, row: int) -> Iterator[Finding]:
    """Sigmoid was applied to what goes into a loss that applies sigmoid itself, or applied twice."""
    loss = graph.node(row)
    given = operand(loss, "input", 0) if is_forward(loss, LOSSES) else None
    if given is None:
        return
    made = list(probabilities(given))
    if loss.op == "binary_cross_entropy":  # it takes the sigmoid of scores; not that of a sigmoid
        made = [inner for each in made if is_sigmoid(each) for inner in _given(each)]
    if not made or not all(is_sigmoid(each) or softmax_axis_of(each) is not None for each in made):
        return
    first = made[0]
    verdict = (
        f"{first.op}{where(first)} makes probabilities, and {loss.op}{where(loss)} takes them for scores and applies "
        "sigmoid again: what it sees lies between 0.5 and 0.73"
    )
    if loss.op == "binary_cross_entropy":
        verdict = f"sigmoid was applied twice to what goes into {loss.op}{where(loss)}, first{where(first)}"
    cure = f"give the scores themselves to {loss.op}: leave this {first.op} out"
    if loss.op == "binary_cross_entropy":
        cure = f"apply sigmoid once: leave this {first.op} out"
    names, evidence = (title(first),), {"loss": Row(loss.row)}
    yield Finding(
        "double_sigmoid", "warning", row, first.row, *blamed(first), names, "sigmoid twice", verdict, cure, evidence
    )


def _given(node: Node) -> list[Node]:
    return [inner for edge in node.inputs[:1] for inner in probabilities(edge.source)]
