"""Steps that come ahead of the backward passes whose gradients they are to use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.source.places import only_mention
from graphscope.diagnose.training.optimizer_order import Order, orders
from graphscope.diagnose.training.parameter_rows import parameter_rows
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


def early_steps(log: Log) -> list[int]:
    """The third step of each optimizer whose steps find gradients that were cleared, from the first on."""
    found = [row for order in orders(log) if (row := _early(order)) is not None]
    return sorted([*found, *(int(order.grown[-1]) for order in _never(log))])


@check(
    "step ahead of backward",
    reads=("marks", "training", "rows"),
    rows=early_steps,
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
def step_order(graph: Graph, row: int) -> Iterator[Finding]:
    """An optimizer steps before the backward pass, when the gradients of the last one are cleared already.

    Or it clears gradients again and again, and never steps.
    """
    for order in _never(graph.log):
        if row == order.grown[-1]:
            yield _idle(order, row)
    for order in orders(graph.log):
        if row == _early(order):
            read, lost = order.read, order.is_lost()
            place = read.place(read.call(row).site)
            verdict = (
                f"{order.title} steps here before backward() has brought gradients: those of the pass before are "
                f"cleared by then, in {lost.sum() + 1} of {len(lost)} steps"
            )
            cure = "call step() after backward(), and zero_grad() ahead of it"
            evidence = {"steps": len(lost), "steps without gradients": int(lost.sum()) + 1}
            yield Finding(
                "step_order", "error", row, None, *place, order.names, "step before backward", verdict, cure, evidence
            )


def _never(log: Log) -> list[Order]:
    """The optimizers that clear the gradients of pass after pass, and never step; no other does, and nothing else."""
    read, rows = training(log), parameter_rows(log)
    if not read.optimizers or read.step_ends.size or len(read.rows("step", "scaler.step")):
        return []
    known = [order for order in orders(log, least=0) if len(order.clears) >= _PASSES and order.is_alone]
    written = [order for order in known if rows.written.of(order.optimizer.tensors).rows.size]
    return [
        order
        for order in known
        if order not in written and len(order.passes()) >= _PASSES and not order.takers(order.grown[:_LOOKED_AT])
    ]


def _idle(order: Order, row: int) -> Finding:
    read, passes = order.read, len(order.passes())
    begin = int(read.backward_begins[read.backward_begins < row][-1])
    place = only_mention(read.log, "step") or read.place(int(read.log.raw(begin)["site"]))
    verdict = f"{order.title} never steps: {passes} backward passes bring gradients, and these are cleared"
    cure, evidence = "call step() of the optimizer behind backward()", {"passes": passes, "steps": 0}
    return Finding("step_order", "error", row, None, *place, order.names, "never steps", verdict, cure, evidence)


def _early(order: Order) -> int | None:
    lost = order.is_lost()[1:]
    if not order.starts_with_a_step or not order.is_alone or lost.sum() < max(_LEAST - 1, _MOST * len(lost)):
        return None
    return int(order.steps[_LEAST - 1])
