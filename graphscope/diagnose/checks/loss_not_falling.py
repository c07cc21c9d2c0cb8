"""A loss that does not fall, though it is computed of the same data in each step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, step_of, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.objectives import data_of, objective, only_losses
from graphscope.graph import series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_PASSES: Final = 20
_NOISE: Final = 1e-6
"""A loss that is less by no more than this part of itself is where it was."""


def _rows(log: Log) -> list[int]:
    found = only_losses(log)
    values = found["value"]
    if len(found) < _PASSES or not len(series.updates(log)) or not np.isfinite(values).all() or values[0] <= 0:
        return []
    part = len(values) // 4
    before, after = np.median(values[:part]), np.median(values[-part:])
    return [int(found["root"][-1])] if after >= (1 - _NOISE) * before and values.min() >= 0.9 * before else []


@check(
    "loss that does not fall",
    reads=("marks", "rows", "series"),
    rows=_rows,
    shows="run",
    sample="""
        import torch

        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=1.0)
        x, y = torch.tensor([1.0, 1.0]), torch.tensor([3.0, -3.0])
        for _ in range(24):
            optimizer.zero_grad()
            loss = ((weight * x - y) ** 2).sum()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=1e-2)
        x, y = torch.tensor([1.0, 1.0]), torch.tensor([3.0, -3.0])
        for _ in range(24):
            optimizer.zero_grad()
            loss = ((weight * x - y) ** 2).sum()
            loss.backward()
            optimizer.step()
        """,
)
def loss_not_falling(graph: Graph, row: int) -> Iterator[Finding]:
    """In many steps on the same data the loss has not fallen at all."""
    found = only_losses(graph.log)
    first = int(found["root"][0])
    known = objective(graph, row)
    if known is None or data_of(graph, first) != data_of(graph, row) or not data_of(graph, row):
        return
    node, values = graph.node(row), found["value"]
    verdict = (
        f"{node.name or 'the loss'}{where(node)} has not fallen in {len(found)} passes over the same data: it was "
        f"{values[0]:.4g}, and is {values[-1]:.4g}"
    )
    cure = "see whether the model can fit a handful of examples at all, and with a learning rate ten times as large"
    evidence = {"first loss": float(values[0]), "last loss": float(values[-1]), "passes": len(found)}
    path = (step_of(node, "does not fall"),)
    explained = Explanation("fine", "not falling", verdict, path, cure)
    yield finding("loss_not_falling", "warning", row, explained, (node.name or "loss",), evidence)
