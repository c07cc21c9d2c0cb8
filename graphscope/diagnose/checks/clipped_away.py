"""Gradients that every step clips to next to nothing, for an optimizer whose steps are as small as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.optimized import Group, late_to_early
from graphscope.diagnose.training.optimizer_order import Order, orders
from graphscope.eventlog.grouping import those
from graphscope.eventlog.schema import Flag
from graphscope.graph import series
from graphscope.graph.sizes import norms_of
from graphscope.graph.training import Call

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_GROWING: Final = ("SGD", "ASGD")
"""Optimizers whose steps grow with the gradient; others divide by its size, and lose nothing when all are clipped."""
_LEAST: Final = 10
"""So many clips of a line are asked for."""
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

    clips: list[Call]
    limit: float
    norm: float
    """What the norm is ahead of the clip, usually."""
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
    """Gradients are clipped to a small part of their norm in every step, and SGD learns next to nothing."""
    for order in orders(graph.log, _LEAST):
        if order.optimizer.type in _GROWING:
            for found in filter(None, (_of_line(order, clips) for clips in _lines(order))):
                yield _finding(order, found)


def _finding(order: Order, found: _Clipped) -> Finding:
    first, shown = found.clips[0], found.clips[_LEAST - 1]
    times = found.norm / found.limit
    verdict = (
        f"every step clips the gradients of {order.title} to a norm of {found.limit:.2g}, 1/{times:,.0f} of the "
        f"{found.norm:.2g} that they have: its steps grow with the gradient, so each changes the weights by "
        f"{found.ratio:.2g} of what they are, and the loss hardly falls"
    )
    cure = f"clip to a limit that binds now and then: these gradients usually have a norm of about {found.norm:.1g}"
    evidence = {
        "limit": found.limit,
        "norm before": found.norm,
        "update to weight": found.ratio,
        "late loss to early loss": found.fallen,
        "clips": len(found.clips),
    }
    place = order.read.place(first.site)
    return Finding(
        "clipped_away", "warning", shown.row, None, *place, order.names, "limit too low", verdict, cure, evidence,
        confidence="likely", first_row=first.row,
    )  # fmt: skip


def _lines(order: Order) -> Iterator[list[Call]]:
    """The clips by norm of an optimizer's gradients, those of each line."""
    lines: dict[int, list[Call]] = {}
    for each in order.read.calls("clip_grad_norm_"):
        if not order.optimizer.tensors.isdisjoint(each.facts.get("tensors", ())) and each.facts.get("limit"):
            lines.setdefault(each.site, []).append(each)
    return (clips for clips in lines.values() if len(clips) >= _LEAST)


def _of_line(order: Order, clips: list[Call]) -> _Clipped | None:
    log = order.read.log
    looked_at = np.unique(np.linspace(0, len(clips) - 1, _MOST).astype(int)).tolist()
    factors = np.array([_factor(log, clips[place]) for place in looked_at])
    limits = np.array([float(clips[place].facts["limit"]) for place in looked_at])
    if not ((factors > 0) & (factors < _PART)).mean() >= _NEARLY_ALL:
        return None
    updates = series.updates(log)
    updates = those(updates, np.isin(updates["tensor"], list({*clips[-1].facts["tensors"]} & order.optimizer.tensors)))
    rates = updates["rate"]
    if not len(updates) or rates[-1] > rates[len(rates) // 2]:  # it warms up
        return None
    ratio, fallen = _change(updates), late_to_early(Group(log, updates).losses)
    if not (ratio < _TINY and fallen >= _NO_BETTER):
        return None
    norm = float(np.median((limits / factors)[factors > 0]))
    return _Clipped(clips, float(np.median(limits)), norm, ratio, fallen)


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
