"""Gradients that are clipped when it is too late, too early, or while they are scaled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding, Severity
from graphscope.diagnose.gradients.unreached import assigned
from graphscope.diagnose.training.optimizer_order import Order, last_before, orders
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.graph import series
from graphscope.graph.training import CLIPS, Call, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
_MOST: Final = 0.9
"""So many clips, and such a share of them, must be in vain."""
_EXPLODED: Final = 1e3
"""A loss that grows to so many times what it was at first has exploded."""
_NO_LIMIT: Final = 1e6
"""Who clips to more than that asks for the norm."""


@check(
    "gradients clipped at the wrong time",
    reads=("marks", "training", "rows"),
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
def clip_order(graph: Graph) -> Iterator[Finding]:
    """Gradients are clipped after the step, before the backward pass, or before they are unscaled.

    Or none are, as the clip is given no parameters, or others.
    """
    for each in _empty(graph.log)[_LEAST - 1 : _LEAST]:
        yield _of_nothing(graph.log, each)
    for order in orders(graph.log):
        for found in _vain(order):
            yield _in_vain(graph, order, found)


def _in_vain(graph: Graph, order: Order, found: Vain) -> Finding:
    words, cure = _WORDS[found.cause]
    place = order.read.place(order.read.call(found.row).site)
    verdict = f"the gradients of {order.title} are clipped {words}"
    return _found(graph.log, found.row, found.first, place, order.names, found.cause, verdict, cure, found.clips)


def _found(
    log: Log, row: int, first: int, place: tuple[str, int], names: tuple[str, ...], cause: str, verdict: str,
    cure: str, clips: int,
) -> Finding:  # fmt: skip
    """A finding, which is an error where the loss has exploded behind the clips that were to keep it from that."""
    grown = _explosion(log)
    severity: Severity = "error" if grown else "warning"
    evidence = {"clips": clips, **grown}
    return Finding("clip_order", severity, row, None, *place, names, cause, verdict, cure, evidence, first_row=first)


def _explosion(log: Log) -> dict[str, float]:
    """The first loss and the largest, and the largest norm of a parameter's gradient; empty where no loss exploded."""
    values = series.losses(log)["value"]
    finite = np.abs(values[np.isfinite(values)])
    if not len(finite) or finite.max() <= _EXPLODED * max(finite[0], 1.0):
        return {}
    sizes = series.updates(log)["gradient"]
    sizes = sizes[np.isfinite(sizes)]
    return {
        "first loss": finite[0],
        "largest loss": finite.max(),
        **({"largest norm of a gradient": sizes.max()} if len(sizes) else {}),
    }


def _empty(log: Log) -> list[Call]:
    """The clips of no gradient at all, where that goes for all but the first of their line."""
    read = training(log)
    calls = read.calls(*CLIPS)
    if len(calls) <= _LEAST or len({each.site for each in calls}) > 1 or not len(read.step_ends):
        return []
    having = read.optimized | set(parameter_rows(log).grown.tensors.tolist()) | assigned(log.graph)
    empty = [each for each in calls if having.isdisjoint(each.facts.get("tensors", ()))]
    return empty if len(empty) >= len(calls) - 1 else []


def _of_nothing(log: Log, clip: Call) -> Finding:
    place, clips = training(log).place(clip.site), len(_empty(log))
    is_of_others = bool(clip.facts.get("given") or clip.facts.get("tensors"))
    what, cure = _OF_OTHERS if is_of_others else _OF_NONE
    verdict = f"{clip.name} is given {what}, in {clips} steps: the gradients stay as they are"
    return _found(log, clip.row, _empty(log)[0].row, place, (), "nothing to clip", verdict, cure, clips)


_OF_NONE: Final = (
    "no parameters",
    "hand over net.parameters() in each step, or a list: a generator that was gone through has none left",
)
_OF_OTHERS: Final = (
    "parameters that never have a gradient and that no optimizer steps",
    "hand over the parameters that the optimizer steps: these may be those of a copy, a teacher or a frozen part",
)
_LATE: Final = "clipped after the step"
_EARLY: Final = "clipped before backward"
_SCALED: Final = "clipped before unscale_"
_WORDS: Final = {
    _LATE: (
        "after step(), which has used them unclipped",
        "clip between backward() and step()",
    ),
    _EARLY: (
        "before backward(), right after they were cleared: there is nothing to clip yet",
        "clip between backward() and step()",
    ),
    _SCALED: (
        "while a GradScaler has them scaled up: the limit is that of gradients of another size",
        "call scaler.unscale_(optimizer) before clipping",
    ),
}


def _clips(order: Order) -> np.ndarray:
    """The clips of this optimizer's gradients."""
    tensors, limit = order.optimizer.tensors, _NO_LIMIT
    calls = order.read.calls(*CLIPS)
    rows = [
        each.row
        for each in calls
        if (each.facts.get("limit") or 0.0) < limit and not tensors.isdisjoint(each.facts.get("tensors", ()))
    ]
    return np.array(rows, np.int64)


class Vain(NamedTuple):
    """Clips that change nothing, or something else than they should."""

    row: int
    """The third."""
    first: int
    clips: int
    cause: str


def _vain(order: Order) -> Iterator[Vain]:
    clips = _clips(order)
    if len(clips) < _LEAST:
        return
    grown, ended = last_before(order.grown, clips), last_before(order.ends, clips)
    grown = np.where(grown < 0, -1, np.maximum(grown, last_before(order.given(), clips)))
    cleared, unscaled = last_before(order.clears, clips), last_before(order.unscaled, clips)
    late, early = (grown >= 0) & (grown < ended) & (ended > cleared), (grown < cleared) & (cleared > ended)
    scales = order.read.rows("scaler.scale") if len(order.scaler_steps) else order.scaler_steps
    following = np.searchsorted(order.scaler_steps, clips) < len(order.scaler_steps)
    scaled = following & (grown > ended) & (unscaled < grown) & (last_before(scales, clips) > ended)
    for cause, found in ((_LATE, late), (_EARLY, early), (_SCALED, scaled)):
        if found.sum() >= max(_LEAST, _MOST * len(clips)):
            first = int((ended if cause == _LATE else clips)[found][0])  # the step that took them as they were
            yield Vain(int(clips[found][_LEAST - 1]), _first(order, first, cause), len(clips), cause)


def _first(order: Order, row: int, cause: str) -> int:
    """The first clip in vain: of those ahead of backward() the very first finds no gradients at all."""
    calls = order.read.calls(*CLIPS) if cause == _EARLY else []
    lines = {each.site for each in calls if each.row == row}
    return min([row, *(each.row for each in calls if each.site in lines and not each.facts.get("tensors"))])
