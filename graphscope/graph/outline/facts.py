"""What headers tell of what lies beneath them: the loss of a step, the shapes that a module takes and gives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length
from graphscope.graph.series.every_step import every_step, norms_of_steps
from graphscope.graph.series.losses import unscaled
from graphscope.graph.series.rates import rates_of
from graphscope.graph.sizes import counts_of, norms_of, norms_of_sums
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph

_MOST_ELEMENTS: Final = 1 << 22
"""Of gradients of more elements in all the norm is not worked out while somebody waits for a line."""
_LOOKED_AT: Final = 1 << 12
"""So many rows of a section are looked at from either end."""


class StepFacts(NamedTuple):
    """What a training step says of itself; None where that is not known."""

    loss: float | None
    """What its last backward pass began from, as it was before a GradScaler scaled it."""
    norm: float | None
    """The 2-norm of all gradients of leaves that its backward passes made, of the loss as it was."""
    rate: float | None
    """The learning rate of its last update."""


def of_step(graph: Graph, first: int, last: int, begins: np.ndarray, count: int) -> StepFacts:
    """The facts of the step from row `first` to `last`; where these do not tell one, as the series of all steps does.

    Args:
        graph: The graph, with what a person has edited.
        first: Its first row.
        last: Its last row.
        begins: Where its backward passes begin.
        count: Which step it is, counted from 1.
    """
    loss = loss_of(graph, int(begins[-1])) if len(begins) else None
    norm = gradient_norm(graph, int(begins[0]), last) if len(begins) else None
    found = StepFacts(loss, norm, _rate(graph.log, max(first, last - _LOOKED_AT), last))
    if None not in found:
        return found
    kept = _in_series(graph.log, count)
    return StepFacts(*(other if own is None else own for own, other in zip(found, kept, strict=True)))


def _in_series(log: Log, count: int) -> StepFacts:
    """What the series tell of a step that has ended."""
    every, norms = _series(log)
    told = every[every["step"] == count]
    rates, of_gradients = told["rate"][~np.isnan(told["rate"])], norms["norm"][norms["step"] == count]
    found = (values[:1].tolist() for values in (told["loss"][told["has_loss"]], of_gradients, rates))
    return StepFacts(*(next(iter(each), None) for each in found))


@once_a_length
def _series(log: Log) -> tuple[np.ndarray, np.ndarray]:
    return every_step(log), norms_of_steps(log)


def loss_of(graph: Graph, begin: int) -> float | None:
    """The loss that a backward pass began from, by the row where it did; None where it is no number, or not known."""
    try:
        inputs = graph.log.event(begin).inputs
        if not inputs:
            return None
        row, slot = inputs[0]
        loss = unscaled(graph, row)
        value = graph.node(loss).output(slot if loss == row else 0)
        return _number(graph.log.value(begin) if value is None else value)  # where it may be kept nowhere else
    except LogError:
        return None


def _number(value: np.ndarray | None) -> float | None:
    return float(value.reshape(-1)[0]) if value is not None and value.size == 1 else None


def _scale_of(graph: Graph, begin: int) -> float:
    """What a GradScaler multiplied the loss of a backward pass by; 1 where none did, and where it is not known."""
    try:
        inputs = graph.log.event(begin).inputs
        root = graph.node(inputs[0][0]) if inputs else None
    except LogError:
        return 1.0
    if root is None or (loss := unscaled(graph, root.row)) == root.row:
        return 1.0
    factors = (edge.source.value for edge in root.inputs if edge.source.row != loss)
    return _number(next(factors, None)) or 1.0


def gradient_norm(graph: Graph, begin: int, last: int) -> float | None:
    """The 2-norm of all gradients of leaves that the rows from `begin` to `last` made; None where it is not known.

    Args:
        begin: The row where a backward pass began. Where a GradScaler had scaled the loss, the norm is that of the
            gradients of the loss as it was.
        last: The last row of those that are looked at.
    """
    log = graph.log
    kinds = log.column("kind", begin, last + 1)
    rows = begin + np.flatnonzero(kinds == Kind.ACCUMULATE)
    tensors = log.pick("tensor", log.pick("forward", rows).astype(np.int64)).astype(np.int64)
    of_leaves = (log.pick("kind", tensors) == Kind.LEAF) | (tensors < log.first)  # which only leaves outlive
    rows, tensors = rows[of_leaves], tensors[of_leaves]
    rows = graph.value_rows(rows)
    _, which, times = np.unique(tensors, return_inverse=True, return_counts=True)
    single = times[which] == 1
    flags = log.pick("flags", rows)
    is_whole = (flags & int(Flag.KEPT | Flag.INLINE)) != 0
    is_known = is_whole | (single & ((flags & int(Flag.SUMMARY)) != 0))
    beside = rows[(flags & int(Flag.INLINE)) == 0]
    if len(rows) == 0 or not is_known.all() or (len(beside) and log.has_dropped(int(beside.min()), int(beside.max()))):
        return None
    if int(counts_of(log, rows[is_whole]).sum()) > _MOST_ELEMENTS:
        return None
    several = np.unique(which[~single], return_inverse=True)[1]
    sizes = np.append(norms_of(log, rows[single]), norms_of_sums(log, rows[~single], several))
    with np.errstate(all="ignore"):
        norm = float(np.sqrt(np.square(sizes).sum()))
    return norm if math.isnan(norm) else norm / _scale_of(graph, begin)


def _rate(log: Log, first: int, last: int) -> float | None:
    kinds, flags = log.column("kind", first, last + 1), log.column("flags", first, last + 1)
    writes = first + np.flatnonzero((kinds == Kind.OP) & ((flags & int(Flag.IN_PLACE)) != 0))
    rate = float(rates_of(log, writes[-1:])[0]) if len(writes) else math.nan
    return None if math.isnan(rate) else rate


class Flow(NamedTuple):
    """What goes into the call of a module, and what comes out of it."""

    taken: tuple[int, ...] | None
    """The shape of the first thing that it takes; None where it takes nothing from outside."""
    given: tuple[int, ...] | None
    """The shape of what it makes last."""


def of_call(log: Log, first: int, last: int) -> Flow:
    """What the rows of a call take and give."""
    head = _ops(log, first, min(last, first + _LOOKED_AT))
    tail = _ops(log, max(first, last - _LOOKED_AT), last)
    taken = None
    for row in head.tolist():
        named = sources(log, np.array([row]), 0)
        if 0 <= named[0] < first:
            taken = log.event(int(named[0])).shape
            break
    return Flow(taken, log.event(int(tail[-1])).shape if len(tail) else None)


def _ops(log: Log, first: int, last: int) -> np.ndarray:
    return first + np.flatnonzero(log.column("kind", first, last + 1) == Kind.OP)


def parameters_of(log: Log, first: int, last: int) -> tuple[int, list[str]]:
    """How many parameters the rows of an optimizer's step write to, and the ops that do."""
    kinds, flags = log.column("kind", first, last + 1), log.column("flags", first, last + 1)
    writes = first + np.flatnonzero((kinds == Kind.OP) & ((flags & int(Flag.IN_PLACE)) != 0))
    tensors = each_once(log.pick("tensor", writes)).astype(np.int64)
    count = int(((log.pick("flags", tensors) & int(Flag.PARAMETER | Flag.REQUIRES_GRAD)) != 0).sum()) or len(tensors)
    return count, [log.op(int(number)).name for number in log.pick("op", writes[-1:])]


def line_of(log: Log, section: Any) -> Site | None:
    """The program's own line that a section was made by: of a library's rows the one that led there."""
    sites = log.column("site", int(section["first"]), min(int(section["last"]), int(section["first"]) + 64) + 1)
    number = next((int(each) for each in sites if each), 0)
    site = log.site(number) if number else None
    return site if site is None or not site.caller else log.site(site.caller)
