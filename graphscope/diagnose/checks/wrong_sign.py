"""An objective that is ascended: the error is made larger, or the likelihood smaller."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, step_of, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.objectives import objective, only_losses, trains_weights
from graphscope.diagnose.training.optimized import LEAST, optimizer_at
from graphscope.graph import series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_WORSE: Final = 1.1
"""The error grew by that much, from the first to the last quarter of the steps."""

_WANTED: Final = re.compile("reward|score|utility|gain|likelihood|log_?prob|elbo|objective|return", re.IGNORECASE)
"""What is called so is to become large: its own sign is right, that of the loss that is made of it is not."""


def _rows(log: Log) -> list[int]:
    found = only_losses(log)
    if len(found) < 2 * LEAST or not len(series.updates(log)):
        return []
    return [int(found["root"][0])] if _grows(np.abs(found["value"]), found["value"]) else []


def _grows(sizes: np.ndarray, values: np.ndarray) -> bool:
    """Whether a loss goes away from zero: those that are errors get larger, as do the logarithms of probabilities."""
    known = sizes[np.isfinite(sizes)]
    if len(known) < 2 * LEAST or len(np.unique(np.sign(values[np.isfinite(values)]))) > 1:
        return False
    part = len(known) // 4
    return bool(np.median(known[-part:]) > _WORSE * np.median(known[:part]) and known[-1] > known[0])


@check(
    "objective that is ascended",
    reads=("marks", "rows", "values"),
    rows=_rows,
    shows="run",
    sample="""
        import torch

        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        x = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
        optimizer = torch.optim.SGD([weight], lr=0.05)
        for _ in range(12):
            optimizer.zero_grad()
            error = ((x @ weight - 3.0) ** 2).mean()
            loss = -error
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        x = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
        optimizer = torch.optim.SGD([weight], lr=0.05)
        for _ in range(12):
            optimizer.zero_grad()
            reward = -((x @ weight - 3.0) ** 2).mean()
            loss = -reward
            loss.backward()
            optimizer.step()
        """,
)
def wrong_sign(graph: Graph, row: int) -> Iterator[Finding]:
    """What is minimised is the negative of an error, or a likelihood itself; and it gets worse."""
    found = objective(graph, row)
    update = series.updates(graph.log)[0]
    maximized = bool(graph.log.arguments(int(update["row"])).attributes.get("maximize"))
    if found is None or found.ascended == maximized or not trains_weights(graph):
        return
    losses = only_losses(graph.log)["value"]
    what = "a likelihood gets smaller" if found.likelihood else "an error gets larger"
    name = f"{found.node.op}{where(found.node)}"
    verdict = f"the objective is ascended: {what} by minimising the negative of {name}"
    cure = "take the minus away: backward() and step() minimise"
    if found.likelihood:
        verdict = f"the objective is ascended: {what} by minimising {name} itself"
        cure = "minimise the negative of the likelihood"
    negated = found.negated
    wanted = negated is not None and _WANTED.search(negated.source_line.partition("=")[0])
    blamed = step_of(graph.node(row) if negated is None or wanted else negated, "has the wrong sign")
    if wanted:
        cure = "minimise its negative"
    if maximized:
        verdict = f"the objective is ascended: {what}, since the optimizer maximises {name}"
        blamed, cure = optimizer_at(graph, int(update["row"]), "maximises an error"), "leave maximize=True away"
    evidence = {"first loss": float(losses[0]), "last loss": float(losses[-1]), "passes": len(losses)}
    explained = Explanation("fine", "wrong sign", verdict, (blamed,), cure)
    yield finding("wrong_sign", "error", row, explained, (graph.node(row).name or "loss",), evidence)
