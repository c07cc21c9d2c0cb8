"""Gradients that are clipped when it is too late, too early, or while they are scaled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.optimizer_order import Order, last_before, orders
from graphscope.graph.training import Call, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
_MOST: Final = 0.9
"""So many clips, and such a share of them, must be in vain."""
_NO_LIMIT: Final = 1e6
"""Who clips to more than that asks for the norm."""


def vain_clips(log: Log) -> list[int]:
    """The third clip in vain of each optimizer where nearly all are."""
    found = (row for order in orders(log) for row, _ in _vain(order))
    return sorted({*found, *(each.row for each in _empty(log)[_LEAST - 1 : _LEAST])})


@check(
    "gradients clipped at the wrong time",
    reads=("marks", "training", "rows"),
    rows=vain_clips,
    shows="run",
    sample="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for _ in range(6):
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            optimizer.step()
            torch.nn.utils.clip_grad_norm_([weight], 1.0)
        """,
    healthy="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for _ in range(6):
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            torch.nn.utils.clip_grad_norm_([weight], 1.0)
            optimizer.step()
        """,
)
def clip_order(graph: Graph, row: int) -> Iterator[Finding]:
    """Gradients are clipped after the step, before the backward pass, or before they are unscaled.

    Or none are, as the clip is given no parameters.
    """
    for each in _empty(graph.log)[_LEAST - 1 : _LEAST]:
        if each.row == row:
            yield _of_nothing(graph.log, each)
    for order in orders(graph.log):
        for found, cause in _vain(order):
            if found == row:
                read, (words, cure) = order.read, _WORDS[cause]
                place = read.place(read.call(row).site)
                verdict = f"the gradients of {order.title} are clipped {words}"
                evidence = {"clips": len(_clips(order)), "steps": len(order.steps)}
                yield Finding("clip_order", "warning", row, None, *place, order.names, cause, verdict, cure, evidence)


def _empty(log: Log) -> list[Call]:
    """The clips of no gradient at all, where that goes for all but the first of their line."""
    calls = training(log).calls("clip_grad_norm_", "clip_grad_value_")
    if len(calls) <= _LEAST or len({each.site for each in calls}) > 1 or not len(training(log).step_ends):
        return []
    empty = [each for each in calls if not each.facts.get("tensors")]
    return empty if len(empty) >= len(calls) - 1 else []


def _of_nothing(log: Log, clip: Call) -> Finding:
    place, clips = training(log).place(clip.site), len(_empty(log))
    verdict = f"{clip.name} is given no parameters, in {clips} steps: the gradients stay as they are"
    cure = "hand over net.parameters() in each step, or a list: a generator that was gone through has none left"
    evidence = {"clips of nothing": clips}
    return Finding("clip_order", "warning", clip.row, None, *place, (), "nothing to clip", verdict, cure, evidence)


_LATE: Final = "clipped after the step"
_EARLY: Final = "clipped before backward"
_SCALED: Final = "clipped before unscale_"
_WORDS: Final = {
    _LATE: ("after the step, which has taken them as they were", "clip between backward() and step()"),
    _EARLY: (
        "when they are cleared and backward() is yet to come: there is nothing to clip",
        "clip between backward() and step()",
    ),
    _SCALED: (
        "while a GradScaler has them scaled up: the limit holds for gradients of another size",
        "call scaler.unscale_(optimizer) before clipping",
    ),
}


def _clips(order: Order) -> np.ndarray:
    """The clips of this optimizer's gradients."""
    tensors, limit = order.optimizer.tensors, _NO_LIMIT
    calls = order.read.calls("clip_grad_norm_", "clip_grad_value_")
    rows = [
        each.row
        for each in calls
        if (each.facts.get("limit") or 0.0) < limit and not tensors.isdisjoint(each.facts.get("tensors", ()))
    ]
    return np.array(rows, np.int64)


def _vain(order: Order) -> Iterator[tuple[int, str]]:
    clips = _clips(order)
    if len(clips) < _LEAST:
        return
    grown, ended = last_before(order.grown, clips), last_before(order.ends, clips)
    cleared, unscaled = last_before(order.clears, clips), last_before(order.unscaled, clips)
    late, early = (grown < ended) & (ended > cleared), (grown < cleared) & (cleared > ended)
    scales = order.read.rows("scaler.scale") if len(order.scaler_steps) else order.scaler_steps
    following = np.searchsorted(order.scaler_steps, clips) < len(order.scaler_steps)
    scaled = following & (grown > ended) & (unscaled < grown) & (last_before(scales, clips) > ended)
    for cause, found in ((_LATE, late), (_EARLY, early), (_SCALED, scaled)):
        if found.sum() >= max(_LEAST, _MOST * len(clips)):
            yield int(clips[found][_LEAST - 1]), cause
