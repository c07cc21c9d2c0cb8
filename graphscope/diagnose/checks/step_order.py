"""Steps that come ahead of the backward passes whose gradients they are to use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.source.places import only_mention
from graphscope.diagnose.training.optimizer_order import Order, are_taken, orders
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.each_once import each_once
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
_MOST: Final = 0.9
"""So many steps, and such a share of them, find gradients that were cleared."""
_PASSES: Final = 5
"""After so many passes an optimizer should have made a step."""
_LOOKED_AT: Final = 64


@check(
    "step ahead of backward",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for _ in range(6):
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            optimizer.step()
            loss.backward()
        """,
    healthy="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for _ in range(6):
            optimizer.step()
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
        """,
)
def step_order(graph: Graph) -> Iterator[Finding]:
    """An optimizer steps before the backward pass, when the gradients of the last one are cleared already.

    Or it clears gradients again and again, and never steps.
    """
    for row in _never(graph.log):
        yield _idle(graph.log, row)
    for order in orders(graph.log):
        if (third := _early(order)) is not None:
            read, lost = order.read, order.is_lost()
            place = read.place(read.call(third).site)
            verdict = (
                f"{order.title} steps here before backward() has brought gradients: those of the pass before are "
                f"cleared by then, in {lost.sum() + 1} of {len(lost)} steps"
            )
            cure = "call step() after backward(), and zero_grad() ahead of it"
            evidence = {"steps": len(lost), "steps without gradients": int(lost.sum()) + 1}
            yield Finding(
                "step_order", "error", third, None, *place, order.names, "step before backward", verdict, cure,
                evidence, first_row=int(order.steps[0]),
            )  # fmt: skip


def _never(log: Log) -> list[int]:
    """The last gradient of a run in which gradients are cleared for pass after pass, and nothing uses them."""
    read, rows = training(log), parameter_rows(log)
    passes = each_once(np.searchsorted(read.backward_begins, rows.grown.rows))
    if not read.optimizers or len(passes) < _PASSES or len(read.rows("zero_grad")) < _PASSES:
        return []
    if read.step_ends.size or len(read.rows("step", "scaler.step")) or rows.written.of(rows.grown.tensors).rows.size:
        return []
    return [] if are_taken(read, rows.grown.rows[:_LOOKED_AT]) else [int(rows.grown.rows[-1])]


def _idle(log: Log, row: int) -> Finding:
    read = training(log)
    begins = read.backward_begins
    place = only_mention(log, "step") or read.place(int(log.raw(int(begins[begins < row][-1]))["site"]))
    kind = next(iter(read.optimizers.values())).type
    verdict = f"{kind} never steps: {len(begins)} backward passes bring gradients, and these are cleared"
    cure, evidence = "call step() of the optimizer behind backward()", {"passes": len(begins), "steps": 0}
    return Finding(
        "step_order", "error", row, None, *place, (), "never steps", verdict, cure, evidence, first_row=int(begins[0])
    )


def _early(order: Order) -> int | None:
    lost = order.is_lost()[1:]
    if not order.starts_with_a_step or not order.is_alone or lost.sum() < max(_LEAST - 1, _MOST * len(lost)):
        return None
    return int(order.steps[_LEAST - 1])
