"""Gradients that every step clips to next to nothing, for an optimizer whose steps are as small as they are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.clips_by_hand import Clipping, clippings
from graphscope.diagnose.training.optimized import Group, late_to_early
from graphscope.diagnose.training.optimizer_order import Order, orders
from graphscope.eventlog.grouping import those
from graphscope.eventlog.schema import Flag
from graphscope.graph import series
from graphscope.graph.sizes import norms_of
from graphscope.graph.training import CLIPS, Call

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_GROWING: Final = ("SGD", "ASGD")
"""Optimizers whose steps grow with the gradient; others divide by its size, and lose nothing when all are clipped."""
_LEAST: Final = 10
"""So many clips of a line are asked for."""
_LEAST_OF_ZERO: Final = 3
"""And so many that leave nothing."""
_MOST: Final = 64
"""So many of them are looked at, spread over the run."""
_PART: Final = 0.01
"""Who clips to less than that part of the norm cuts off no outliers, but nearly all there is."""
_NEARLY_ALL: Final = 0.95
_TINY: Final = 1e-4
"""Weights that each step changes by less than that part take thousands of steps to get anywhere."""
_NO_BETTER: Final = 0.9
_BEHIND: Final = 8
"""The write that clips is among so many rows ahead of the mark of the call."""


class _Clipped(NamedTuple):
    """Clips of one line that leave next to nothing."""

    site: int
    first: int
    """The row of the first of them, and of one where there are enough to be sure."""
    shown: int
    clips: int
    limit: float
    """The norm that they leave."""
    norm: float
    """What the norm is ahead of the clip, usually."""
    largest: float
    """The same of the largest element, which a clip by value bounds; NaN of one by norm."""
    ratio: float
    """What a step changes of the weights, as a part of them."""
    fallen: float
    """The loss in the end, as a multiple of what it was."""


@check(
    "gradients clipped to next to nothing",
    reads=("marks", "training", "rows", "series", "values"),
    shows="run",
    sample="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for _ in range(12):
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            torch.nn.utils.clip_grad_norm_([weight], 1e-4)
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for _ in range(12):
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            torch.nn.utils.clip_grad_norm_([weight], 1.0)
            optimizer.step()
        """,
)
def clipped_away(graph: Graph) -> Iterator[Finding]:
    """Gradients are clipped to a small part of their norm in every step, and SGD learns next to nothing.

    Or they are clipped to nothing at all.
    """
    for order in orders(graph.log):
        zero = _of_no_limit(order)
        if zero is not None:
            yield zero
        elif order.optimizer.type in _GROWING and len(order.steps) >= _LEAST:
            found = [*map(partial(_of_calls, order), _lines(order)), *map(partial(_of_writes, order), clippings(order))]
            yield from (_finding(order, each) for each in found if each is not None)


def _finding(order: Order, found: _Clipped) -> Finding:
    times = found.norm / found.limit
    verdict = (
        f"every step clips the gradients of {order.title} to a norm of {found.limit:.2g}, 1/{times:,.0f} of the "
        f"{found.norm:.2g} that they have: its steps grow with the gradient, so each changes the weights by "
        f"{found.ratio:.2g} of what they are, and the loss hardly falls"
    )
    usual = f"have a norm of about {found.norm:.1g}"
    if np.isfinite(found.largest):
        usual = f"reach about {found.largest:.1g} in single elements"
    cure = f"clip to a limit that binds now and then: these gradients usually {usual}"
    evidence = {
        "limit": found.limit,
        "norm before": found.norm,
        "update to weight": found.ratio,
        "late loss to early loss": found.fallen,
        "clips": found.clips,
    }
    place = order.read.place(found.site)
    return Finding(
        "clipped_away", "warning", found.shown, None, *place, order.names, "limit too low", verdict, cure, evidence,
        confidence="likely", first_row=found.first,
    )  # fmt: skip


def _of_no_limit(order: Order) -> Finding | None:
    """Calls with a limit of 0, behind which every step of the optimizer finds gradients of zeros alone."""
    reached = set(order.grown_tensors.tolist())
    calls = [
        each
        for each in order.read.calls(*CLIPS)
        if each.facts.get("limit") == 0 and reached <= set(each.facts.get("tensors", ()))
    ]
    updates = series.updates(order.read.log)
    used = updates["gradient"][np.isin(updates["tensor"], order.tensors)]
    if len(calls) < max(_LEAST_OF_ZERO, _NEARLY_ALL * len(order.steps)) or not len(used) or not (used == 0).all():
        return None
    first, shown = calls[0], calls[_LEAST_OF_ZERO - 1]
    verdict = (
        f"{first.name} with a limit of 0 makes all gradients of {order.title} zero, in every step: nothing is learnt "
        "from them"
    )
    cure = "leave the call out where nothing is to be clipped; a limit of 0 does not switch it off"
    return Finding(
        "clipped_away", "warning", shown.row, None, *order.read.place(first.site), order.names, "limit of 0", verdict,
        cure, {"limit": 0.0, "clips": len(calls)}, first_row=first.row,
    )  # fmt: skip


def _lines(order: Order) -> Iterator[list[Call]]:
    """The clips by norm of an optimizer's gradients, those of each line."""
    lines: dict[int, list[Call]] = {}
    for each in order.read.calls("clip_grad_norm_"):
        if not order.optimizer.tensors.isdisjoint(each.facts.get("tensors", ())) and each.facts.get("limit"):
            lines.setdefault(each.site, []).append(each)
    return (clips for clips in lines.values() if len(clips) >= _LEAST)


def _of_calls(order: Order, clips: list[Call]) -> _Clipped | None:
    log = order.read.log
    looked_at = np.unique(np.linspace(0, len(clips) - 1, _MOST).astype(int)).tolist()
    factors = np.array([_factor(log, clips[place]) for place in looked_at])
    limits = np.array([float(clips[place].facts["limit"]) for place in looked_at])
    rows = np.array([each.row for each in clips])
    with np.errstate(all="ignore"):
        norms = limits / factors
    return _judged(order, clips[0].site, rows, frozenset(clips[-1].facts["tensors"]), factors, norms)


def _of_writes(order: Order, found: Clipping) -> _Clipped | None:
    if len(found.rows) < max(_LEAST, _NEARLY_ALL * len(order.steps)):
        return None
    with np.errstate(all="ignore"):
        factors = found.after / found.before
    judged = _judged(order, found.site, found.rows, found.tensors, factors, found.before)
    return None if judged is None else judged._replace(largest=found.largest)


def _judged(
    order: Order, site: int, rows: np.ndarray, clipped: frozenset[int], factors: np.ndarray, norms: np.ndarray
) -> _Clipped | None:
    """What the clips of a line do; None where they leave enough.

    Args:
        order: What is done with the gradients.
        site: The line.
        rows: Where it clips.
        clipped: The parameters whose gradients it clips.
        factors: What is left of the norm in some of the steps.
        norms: What the norm was in these.
    """
    if not ((factors > 0) & (factors < _PART)).mean() >= _NEARLY_ALL:
        return None
    log = order.read.log
    updates = series.updates(log)
    updates = those(updates, np.isin(updates["tensor"], [*(clipped & order.optimizer.tensors)]))
    rates = updates["rate"]
    if not len(updates) or rates[-1] > rates[len(rates) // 2]:  # it warms up
        return None
    ratio, fallen = _change(updates), late_to_early(Group(log, updates).losses)
    if not (ratio < _TINY and fallen >= _NO_BETTER):
        return None
    known = factors > 0
    norm, limit = float(np.median(norms[known])), float(np.median((norms * factors)[known]))
    return _Clipped(site, int(rows[0]), int(rows[_LEAST - 1]), len(rows), limit, norm, np.nan, ratio, fallen)


def _change(updates: np.ndarray) -> float:
    """The norm of what a step adds to all weights together, as a part of theirs; NaN where that is not known."""
    known = updates[np.isfinite(updates["update"]) & np.isfinite(updates["weight"])]
    if not len(known):
        return np.nan
    added, there = (np.bincount(known["step"], np.square(known[name])) for name in ("update", "weight"))
    return float(np.median(np.sqrt(added[there > 0] / there[there > 0])))


def _factor(log: Log, clip: Call) -> float:
    """What a clip multiplies gradients by; NaN where that is not known."""
    for row in range(clip.row - 1, max(clip.row - _BEHIND, log.first) - 1, -1):
        event = log.event(row)
        if event.flags & Flag.IN_PLACE and int(log.raw(row)["site"]) == clip.site:
            return _multiplier(log.graph.node(row))
    return np.nan


def _multiplier(write: Node) -> float:
    if len(write.inputs) > 1:
        return float(norms_of(write.graph.log, np.array([write.inputs[1].source.row]))[0])
    constants = [each.constant for each in write.operands if isinstance(each.constant, int | float)]
    return float(constants[0]) if constants else np.nan
