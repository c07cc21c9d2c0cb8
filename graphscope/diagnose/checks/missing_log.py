"""Losses that are to be given logarithms of probabilities, and are given something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.training.batches import LAYERS
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import is_forward, operand, origins
from graphscope.diagnose.values.squashing import blamed, is_sigmoid, probabilities, softmax_axis_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_LOSSES: Final = frozenset({"nll_loss", "kl_div", "ctc_loss"})
_LAYERS: Final = LAYERS | {"addmm", "bmm", "embedding"}
_LEAST: Final = 0.01
"""No logarithm of a probability lies above 0; rounding takes it no farther than this."""


def losses(log: Log) -> list[int]:
    """The first of each line of the losses that take logarithms of probabilities."""
    return distinct(log, op_rows(log, _LOSSES))


@check(
    "logarithm forgotten",
    reads=("rows", "values"),
    rows=losses,
    sample="""
        import torch

        scores = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.3, 0.2]], requires_grad=True)
        labels = torch.tensor([1, 0])
        probabilities = scores.softmax(-1)
        loss = torch.nn.functional.nll_loss(probabilities, labels)
        loss.backward()
        """,
    healthy="""
        import torch

        scores = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.3, 0.2]], requires_grad=True)
        labels = torch.tensor([1, 0])
        probabilities = scores.log_softmax(-1)
        loss = torch.nn.functional.nll_loss(probabilities, labels)
        loss.backward()
        """,
)
def missing_log(graph: Graph, row: int) -> Iterator[Finding]:
    """A loss that takes logarithms of probabilities is given probabilities themselves, or scores."""
    loss = graph.node(row)
    given = operand(loss, "log_probs" if loss.op == "ctc_loss" else "input", 0) if is_forward(loss, _LOSSES) else None
    if given is None:
        return
    made = [*probabilities(given)]
    scores = [*origins(given)]
    if made and all(softmax_axis_of(each) is not None or is_sigmoid(each) for each in made):
        first = made[0]
        place = blamed(first)
        what, cure = f"{first.op}{where(first)} makes probabilities", "take log_softmax in its place"
    elif scores and all(each.op in _LAYERS for each in scores) and _is_above(given):
        first = loss
        place = blamed(loss, settings=True)
        what = f"{scores[0].op}{where(scores[0])} makes scores of any size"
        cure = "apply log_softmax to the scores first"
        cure += ", or take cross_entropy, which does so itself" if loss.op == "nll_loss" else ""
    else:
        return
    verdict = (
        f"{what}, and {loss.op}{where(loss)} takes them for logarithms of probabilities: it has no least value that "
        "means anything"
    )
    summary = graph.log.summary(given.row, 0)
    evidence: dict[str, float] = {"loss": Row(loss.row)}
    evidence |= {"largest": summary.maximum} if summary is not None and summary.finite else {}
    names = (title(first),)
    yield Finding("missing_log", "error", row, first.row, *place, names, "no logarithms", verdict, cure, evidence)


def _is_above(node: Node) -> bool:
    """Whether numbers lie above 0, where the logarithm of no probability lies."""
    summary = node.graph.log.summary(node.row, 0)
    return summary is not None and bool(summary.finite) and summary.maximum > _LEAST
