"""Labels of a language model that both the data and the model shift: each place learns the token after the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.batches import losses
from graphscope.diagnose.values.op_rows import op_rows
from graphscope.diagnose.values.origins import argument, moves, operand
from graphscope.eventlog.names import place_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_LEAST: Final = 3
_MOST: Final = 8
"""So many passes must show it, and so many are looked at, spread over the run."""
_LEAST_LABELS: Final = 48
_LEAST_TOKENS: Final = 4
"""So many labels of a pass are compared, of so many different tokens, at least."""
_FEW: Final = 0.5
"""Who learns the next token has more labels that are it."""


def candidates(log: Log) -> list[int]:
    """The last row of the only line with labels: who predicts several tokens ahead has a loss of the next one, too."""
    groups = losses(log)
    return [groups[0][-1]] if len(groups) == 1 and len(groups[0]) >= _LEAST else []


@check(
    "labels shifted twice",
    reads=("rows", "values"),
    rows=candidates,
    shows="run",
    sample="""
        import torch

        tokens = torch.randint(0, 20, (8, 13))
        inputs, labels = tokens[:, :-1], tokens[:, 1:]
        table = torch.randn(20, 20, requires_grad=True)
        for _ in range(4):
            scores = torch.nn.functional.embedding(inputs, table)[:, :-1]
            loss = torch.nn.functional.cross_entropy(scores.reshape(-1, 20), labels[:, 1:].reshape(-1))
            loss.backward()
        """,
    healthy="""
        import torch

        tokens = torch.randint(0, 20, (8, 13))
        inputs = labels = tokens
        table = torch.randn(20, 20, requires_grad=True)
        for _ in range(4):
            scores = torch.nn.functional.embedding(inputs, table)[:, :-1]
            loss = torch.nn.functional.cross_entropy(scores.reshape(-1, 20), labels[:, 1:].reshape(-1))
            loss.backward()
        """,
)
def labels_shifted_twice(graph: Graph, row: int) -> Iterator[Finding]:
    """The labels of a language model are the tokens after the next: the data shifts them, and the model does as well.

    It is told from the ids themselves: of each place that is scored, its label is the id two places further on.
    """
    (group,) = losses(graph.log)
    places = np.unique(np.linspace(0, len(group) - 1, _MOST).astype(int)).tolist()
    fed = op_rows(graph.log, {"embedding"})
    if not all(_is_two_ahead(graph.node(group[place]), fed) for place in places):
        return
    node = graph.node(row)
    verdict = (
        f"the labels of {node.op}{where(node)} are the tokens after the next: they came shifted by one place, and are "
        "shifted again"
    )
    cure = "shift once: hand over labels that are the input ids themselves, or leave out the shift ahead of the loss"
    evidence = {"passes": len(group)}
    yield Finding(
        "labels_shifted_twice", "warning", row, row, *place_of(node.site), (title(node),), "shifted twice", verdict,
        cure, evidence,
    )  # fmt: skip


def _is_two_ahead(loss: Node, fed: np.ndarray) -> bool:
    label, ids = operand(loss, "target", 1), _ids(loss, fed)
    answer = None if label is None else label.value
    if ids is None or answer is None or answer.dtype.kind != "i" or not loss.inputs:
        return False
    rows, length = ids.shape
    if length < 4 or answer.size not in (rows * length, rows * (length - 1)):
        return False
    answer = answer.reshape(rows, -1)
    if not _begins_at_the_first(loss.inputs[0].source, ids.shape, answer.shape[1]):
        return False
    told, next_ones, after = answer[:, : length - 2], ids[:, 1:-1], ids[:, 2:]
    known = told >= 0
    if known.sum() < _LEAST_LABELS or len(np.unique(told[known])) < _LEAST_TOKENS:
        return False
    return bool((told == after)[known].all() and (told == next_ones)[known].mean() < _FEW)


def _ids(loss: Node, fed: np.ndarray) -> np.ndarray | None:
    """The ids of the newest batch of sequences ahead of a loss; None where they are not known."""
    for row in fed[fed < loss.row][::-1][:_MOST].tolist():
        given = (edge.source for edge in loss.graph.node(row).inputs)
        ids = next((each for each in given if each.dtype.startswith("int")), None)
        if ids is not None and len(ids.shape) == 2:
            return ids.value
    return None


def _begins_at_the_first(scores: Node, ids: tuple[int, ...], width: int) -> bool:
    """Whether the scores that a loss takes are those of the first places of each sequence, in their order."""
    while moves(scores) or scores.op == "log_softmax":
        before = scores.inputs[0].source
        if before.shape[:2] == ids and scores.shape[:2] == (ids[0], width) and width < ids[1]:
            return _takes_the_first(scores, before.shape)
        scores = before
    return width == ids[1] and scores.shape[:2] == ids


def _takes_the_first(part: Node, shape: tuple[int, ...]) -> bool:
    """Whether a part of a tensor has the first places along its second axis."""
    index = argument(part, "index", 1) if part.op == "getitem" else None
    entries = index if isinstance(index, tuple) else (index,)
    if len(shape) != 3 or not all(each is Ellipsis or isinstance(each, slice) for each in entries):
        return False
    places = np.broadcast_to(np.arange(shape[1])[:, None], shape)[entries]
    return places.shape == part.shape and bool((places[0, :, 0] == np.arange(part.shape[1])).all())
