"""Steps that come ahead of the backward passes whose gradients they are to use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.optimizer_order import Order, orders

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
_MOST: Final = 0.9
"""So many steps, and such a share of them, find gradients that were cleared."""


def early_steps(log: Log) -> list[int]:
    """The third step of each optimizer whose steps find gradients that were cleared, from the first on."""
    return [row for order in orders(log) if (row := _early(order)) is not None]


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
    """An optimizer steps before the backward pass, when the gradients of the last one are cleared already."""
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


def _early(order: Order) -> int | None:
    lost = order.is_lost()[1:]
    if not order.starts_with_a_step or not order.is_alone or lost.sum() < max(_LEAST - 1, _MOST * len(lost)):
        return None
    return int(order.steps[_LEAST - 1])
