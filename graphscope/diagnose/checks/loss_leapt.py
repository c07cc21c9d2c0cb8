"""A loss that is many times what it ever was, from one step to the next, and stays so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, step_of, title, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.objectives import objective
from graphscope.diagnose.training.optimized import LEAST
from graphscope.eventlog.schema import Flag
from graphscope.graph import series
from graphscope.graph.sizes import norms_of
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_LEAP: Final = 30.0
"""So many times the largest loss that the same optimizer ever saw: a spike of noise, or a new task, is no such leap."""

_STAYS: Final = 10.0
"""And so many times as large all the rest: who warms up, or recovers, comes back."""

_LONG: Final = 2 * LEAST
"""So many passes before it and behind it are looked at, at least."""

_GROWN: Final = 3.0
"""What a loss is computed of has changed where it is so many times as large."""


def _leaps(log: Log) -> list[tuple[int, int, float]]:
    """The roots ahead of each leap and behind it, and the least that the loss is from there on; ascending."""
    found = series.losses(log)
    if int(log.metadata.get("every", 1)) > 1 or len(found) < 2 * _LONG:
        return []
    owners, leaps = _owners(log, found["begin"]), []
    for site in np.unique(found["site"]).tolist():
        own = found["site"] == site
        for owner in np.unique(owners[own & (owners > 0)]).tolist():
            leaps += _in_one_row(found[own & (owners == owner)])
    return sorted(leaps, key=lambda leap: leap[1])


def _owners(log: Log, begins: np.ndarray) -> np.ndarray:
    """The optimizer that steps next behind each backward pass; 0 where none does, or it is not known."""
    known = training(log)
    rows = known.rows("step")
    return np.append(known.owners(rows), 0)[np.searchsorted(rows, begins)]


def _in_one_row(found: np.ndarray) -> list[tuple[int, int, float]]:
    values = found["value"]
    if len(values) < 2 * _LONG or not (np.isfinite(values) & (values > 0)).all():
        return []
    most, least = np.maximum.accumulate(values), np.minimum.accumulate(values[::-1])[::-1]
    leapt = (values[1:] >= _LEAP * most[:-1]) & (least[1:] >= _STAYS * most[:-1])
    places = np.flatnonzero(leapt) + 1
    places = places[(places >= _LONG) & (places <= len(values) - _LONG)]
    return [(int(found["root"][place - 1]), int(found["root"][place]), float(least[place])) for place in places]


@check(
    "loss that leaps",
    reads=("marks", "training", "rows", "series", "values"),
    rows=lambda log: [root for _, root, _ in _leaps(log)],
    shows="run",
    sample="""
        import torch

        layer = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=1e-3)
        for step in range(40):
            x = torch.randn(8, 2)
            y = x.sum(1, keepdim=True) * (1 if step < 20 else 100)
            loss = torch.nn.functional.mse_loss(layer(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        layer = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=1e-3)
        for step in range(40):
            x = torch.randn(8, 2)
            y = x.sum(1, keepdim=True)
            loss = torch.nn.functional.mse_loss(layer(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
)
def loss_leapt(graph: Graph, row: int) -> Iterator[Finding]:
    """From one step to the next a loss is many times what it ever was, and it stays so."""
    before, after, least = next(leap for leap in _leaps(graph.log) if leap[1] == row)
    known, earlier = objective(graph, after), objective(graph, before)
    if known is None or earlier is None or known.node.op != earlier.node.op:  # something else is added to it now
        return
    found = series.losses(graph.log)
    values = dict(zip(found["root"].tolist(), found["value"].tolist(), strict=True))
    node = graph.node(row)
    why, cure = _of_what(earlier.node, known.node)
    verdict = (
        f"{node.name or 'the loss'}{where(node)} leaps from {values[before]:.4g} to {values[after]:.4g} in one step, "
        f"and is {least:.4g} or more from there on{why}"
    )
    evidence = {"loss before": values[before], "loss after": values[after], "least loss since": least}
    explained = Explanation("fine", "leapt", verdict, (step_of(node, "leaps"),), cure)
    yield finding("loss_leapt", "warning", row, explained, (node.name or "loss",), evidence)


def _of_what(before: Node, after: Node) -> tuple[str, str]:
    """What the loss is computed of that has grown since the step before, and what to look at."""
    pairs = [(one.source, other.source) for one, other in zip(before.inputs, after.inputs, strict=False)]
    sizes = [norms_of(after.graph.log, np.array([one.row, other.row])) for one, other in pairs]
    grown = [
        (float(size[1] / size[0]), other)
        for size, (_, other) in zip(sizes, pairs, strict=True)
        if size[0] > 0 and size[1] >= _GROWN * size[0]
    ]
    if not grown:
        return "", _CURE
    times, most = max(grown, key=lambda each: each[0])
    cure = _OF_MODEL if most.flags & Flag.REQUIRES_GRAD else _OF_DATA
    return f": {title(most)} that it is computed of is {times:.3g} times as large as in the step before", cure


_CURE: Final = "see what is other in that step: its data, its weights, the learning rate"
_OF_DATA: Final = "look at the data of that step, and at what scales it: goto it, then inputs"
_OF_MODEL: Final = (
    "see what wrote into the weights between those steps, and whether the inputs are as before; clip gradients between "
    "backward() and step()"
)
