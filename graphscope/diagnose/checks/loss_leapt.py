"""A loss that is many times what it ever was, from one step to the next, and stays so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, step_of, title, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.loss_leaps import leaps
from graphscope.diagnose.training.objectives import objective
from graphscope.eventlog.schema import Flag
from graphscope.graph.sizes import norms_of

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

_GROWN: Final = 3.0
"""What a loss is computed of has changed where it is so many times as large."""


@check(
    "loss that leaps",
    reads=("marks", "training", "rows", "series", "values"),
    rows=lambda log: [leap.row for leap in leaps(log)],
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
    leap = next(leap for leap in leaps(graph.log) if leap.row == row)
    known, earlier = objective(graph, leap.row), objective(graph, leap.before)
    if known is None or earlier is None or known.node.op != earlier.node.op:  # something else is added to it now
        return
    node = graph.node(row)
    since = "in the step before" if leap.follows else "in the step recorded before"
    why, cure = _of_what(earlier.node, known.node, since)
    verdict = (
        f"{node.name or 'the loss'}{where(node)} leaps from {leap.value_before:.4g} to {leap.value_after:.4g} in "
        f"{leap.step or 'one step'}, and is {leap.least:.4g} or more from there on{why}"
    )
    evidence = {"loss before": leap.value_before, "loss after": leap.value_after, "least loss since": leap.least}
    explained = Explanation("fine", "leapt", verdict, (step_of(node, "leaps"),), cure)
    found = finding("loss_leapt", "warning", row, explained, (node.name or "loss",), evidence)
    yield replace(found, step=leap.step)


def _of_what(before: Node, after: Node, since: str) -> tuple[str, str]:
    """What the loss is computed of that has grown since a step before, and what to look at."""
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
    return f": {title(most)} that it is computed of is {times:.3g} times as large as {since}", cure


_CURE: Final = "see what is other in that step: its data, its weights, the learning rate"
_OF_DATA: Final = "look at the data of that step, and at what scales it: goto it, then inputs"
_OF_MODEL: Final = (
    "see what wrote into the weights between those steps, and whether the inputs are as before; clip gradients between "
    "backward() and step()"
)
