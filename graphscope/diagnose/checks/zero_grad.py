"""Gradients that are cleared at the wrong time, or never: steps use what steps before them used, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.source.places import is_behind_the_loop
from graphscope.diagnose.training.by_hand import updates_by_hand
from graphscope.diagnose.training.left_over import LeftOver, left_over
from graphscope.diagnose.training.optimizer_order import Order, last_before, orders
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.diagnose.training.rewritten_gradients import rewritten
from graphscope.eventlog.each_once import each_once
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
"""So many steps must show it."""
_NEVER: Final = 2
"""So many where nothing is ever cleared, and each step goes on with the gradients of the one before."""
_MOST: Final = 0.9
"""Such a share of all steps must lose what they should use."""


@check(
    "gradients cleared at the wrong time",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for _ in range(6):
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for batch in range(12):
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            if batch % 2:
                optimizer.step()
                optimizer.zero_grad()
        """,
)
def zero_grad(graph: Graph) -> Iterator[Finding]:
    """Gradients are not cleared between steps, or are cleared before the step that should use them."""
    for order in orders(graph.log):
        told: set[int] = set()
        for find, tell in ((_kept, _missing), (_lost, _misplaced), (_thrown, _discarding)):
            row = find(order)
            if row is not None and row not in told:
                told.add(row)
                yield tell(order, row)
    for each in left_over(graph.log):
        yield _of_another(each)
    for begin in _kept_by_hand(graph.log):
        yield _missing_by_hand(graph, begin)


def _kept(order: Order) -> int | None:
    """The step that makes it sure that steps use again what earlier ones have used."""
    leftovers = order.leftovers()
    never = not len(order.clears) and bool(leftovers[1:].all())
    least, found = _NEVER if never else _LEAST, order.steps[leftovers]
    return int(found[least - 1]) if len(found) >= least else None


def _lost(order: Order) -> int | None:
    """The third step whose gradients were cleared ahead of it, where this goes for nearly all steps."""
    lost = order.is_lost()
    if order.starts_with_a_step or not order.is_alone or lost.sum() < max(_LEAST, _MOST * len(lost)):
        return None  # of steps that come ahead of the backward passes `step_order` tells
    if len(order.fruitless()) > len(lost) - lost.sum():
        return None  # the pass that was to bring gradients came behind that and brought none: `missing` tells
    return int(order.steps[lost][_LEAST - 1])


def _thrown(order: Order) -> int | None:
    """The step by which it is sure that of several passes ahead of each but the last is used."""
    found = order.discarded() if order.is_alone else None
    return None if found is None else int(order.ends[_LEAST - 1])


def _missing(order: Order, row: int) -> Finding:
    read, names, leftovers = order.read, order.names, order.leftovers()
    (begin,) = last_before(read.backward_begins, np.array([row])).tolist()
    place = read.place(int(read.log.raw(begin if begin >= 0 else row)["site"]))
    verdict = (
        f"the gradients of {listed(names, 3) if names else 'the parameters'} are not cleared between the steps of "
        f"{order.title}: this backward pass adds to what earlier steps have used, in {leftovers.sum()} of "
        f"{len(leftovers)} steps"
    )
    cure = "call zero_grad() of this optimizer ahead of backward(), once for each step"
    evidence = {"steps": len(leftovers), "steps with old gradients": int(leftovers.sum())}
    first = int(order.steps[leftovers][0])
    return Finding(
        "zero_grad", "warning", row, None, *place, names, "gradients pile up", verdict, cure, evidence, first_row=first
    )


@once_a_length
def _kept_by_hand(log: Log) -> dict[int, dict[int, list[int]]]:
    """By the third pass that adds to what updates by hand have used: the parameters, and where such passes begin."""
    rows, begins = parameter_rows(log), training(log).backward_begins
    found: dict[int, dict[int, list[int]]] = {}
    for tensor, updates in updates_by_hand(log).items():
        mine = rows.grown.tensors == tensor
        grown, is_fresh = rows.grown.rows[mine], rows.is_fresh[mine]
        after = grown[1:][~is_fresh[1:]]
        used = np.array([each.row for each in updates])
        between = np.searchsorted(used, after) > np.searchsorted(used, grown[:-1][~is_fresh[1:]])
        passes = each_once(np.searchsorted(begins, after[between]))
        is_kept = len(passes) >= _LEAST and not is_fresh[1:].any()
        if is_kept and not len(rewritten(log).of([tensor]).rows):  # one that decays is a momentum
            found.setdefault(int(begins[passes[_LEAST - 1] - 1]), {})[tensor] = begins[passes - 1].tolist()
    return found


def _missing_by_hand(graph: Graph, begin: int) -> Finding:
    read, kept = training(graph.log), _kept_by_hand(graph.log)[begin]
    names = tuple(filter(None, map(read.name, kept)))
    passes, first = max(map(len, kept.values())), min(each[0] for each in kept.values())
    verdict = (
        f"the gradients of {listed(names, 3) if names else 'the parameters'} are not cleared between updates by hand: "
        f"this backward pass adds to what the updates before have used, in {passes} passes"
    )
    cure = "clear the gradients behind the update: p.grad = None, or net.zero_grad(), once for each step"
    place, evidence = read.place(int(graph.log.raw(begin)["site"])), {"passes with old gradients": passes}
    return Finding(
        "zero_grad", "warning", begin, None, *place, names, "gradients pile up", verdict, cure, evidence,
        first_row=first,
    )  # fmt: skip


def _misplaced(order: Order, row: int) -> Finding:
    read, names, lost = order.read, order.names, order.is_lost()
    (clear,) = last_before(order.clears, np.array([row])).tolist()
    place = read.place(int(read.log.raw(clear)["site"]))
    verdict = (
        f"gradients are cleared after the backward pass and ahead of the step of {order.title}, which finds none, in "
        f"{lost.sum()} of {len(lost)} steps"
    )
    cure = "clear gradients ahead of backward(), or after step()"
    evidence = {"steps": len(lost), "steps without gradients": int(lost.sum())}
    first = int(order.steps[lost][0])
    return Finding(
        "zero_grad", "error", row, None, *place, names, "cleared before the step", verdict, cure, evidence,
        first_row=first,
    )  # fmt: skip


def _discarding(order: Order, row: int) -> Finding:
    read, names, found = order.read, order.names, order.discarded()
    assert found is not None
    place = read.place(int(read.log.raw(found.clear)["site"]))
    verdict = (
        f"{order.title} steps after every {found.period} backward passes, and gradients are cleared ahead of each: "
        f"what {found.passes} of {found.total} passes have found is used by no step"
    )
    cure = "clear gradients once for each step, behind step()"
    (begin,) = last_before(read.backward_begins, np.array([found.clear])).tolist()
    step = read.place(read.call(int(order.steps[0])).site)
    if is_behind_the_loop(read.log, read.place(int(read.log.raw(begin)["site"])), step):
        place, cure = step, "move this line into the loop: one step for each backward pass"
    evidence = {"passes": found.total, "passes that are not used": found.passes}
    return Finding(
        "zero_grad", "error", row, None, *place, names, "cleared between passes", verdict, cure, evidence,
        first_row=found.clear,
    )  # fmt: skip


def _of_another(found: LeftOver) -> Finding:
    order, read = found.order, found.order.read
    verdict = (
        f"{order.title} steps with gradients of two losses: this backward pass adds to what the loss of "
        f"{found.other.title} has left in them, in {found.steps} steps"
    )
    cure = "call zero_grad() of this optimizer right ahead of this backward pass"
    place, evidence = read.place(int(read.log.raw(found.begin)["site"])), {"steps": found.steps}
    names = order.names
    return Finding(
        "zero_grad", "error", found.row, None, *place, names, "gradients of another loss", verdict, cure, evidence,
        first_row=found.begin,
    )  # fmt: skip
