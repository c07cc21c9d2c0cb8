"""Runs of a network without gradients whose results are compared with labels: evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.training.modal_layers import (
    DROPOUTS,
    NORMS,
    dropout_rows,
    may_require_gradients,
    norm_rows,
    takes_statistics,
)
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

COMPARING: Final = frozenset(
    {
        "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
        "binary_cross_entropy_with_logits", "kl_div", "eq",
    }
)  # fmt: skip
"""Ops that compare what a network says with what it should say."""
_MOST_ROWS: Final = 4000
"""So many rows that follow from one are looked at."""
_MOST_RUNS: Final = 64


@dataclass(frozen=True, slots=True)
class Run:
    """A layer that acts as in training, in a run without gradients."""

    row: int
    """The row of the layer: dropout, or a batch norm that takes the statistics of the batch."""
    op: str
    compared: int
    """The op that compares its outcome."""
    parameters: frozenset[int]
    """The parameters that the layer depends on, as tensors."""
    data: frozenset[int]
    """The rows of the data that it was run on."""


def layers_in_training(log: Log) -> np.ndarray:
    """The rows of layers that act as in training, where gradients are off."""
    dropping, normal = (_without_gradients(log, rows) for rows in (dropout_rows(log), norm_rows(log)))
    normal = normal[[takes_statistics(log, row) for row in normal.tolist()]]
    return np.union1d(dropping, normal)


def _without_gradients(log: Log, rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows[(log.pick("flags", rows) & int(Flag.NO_GRAD)) != 0])


def evaluations(graph: Graph) -> Iterator[Run]:
    """The runs whose outcome is compared and is of no use to training; of each stretch between steps the first."""
    log, read = graph.log, training(graph.log)
    rows = layers_in_training(log)
    if not len(rows) or not read.optimized:
        return
    stops = np.union1d(read.step_ends, read.backward_ends)
    places = np.searchsorted(stops, rows)
    _, first = np.unique(places, return_index=True)
    for row in rows[first][:_MOST_RUNS].tolist():
        place = int(np.searchsorted(stops, row))
        start = int(stops[place - 1]) if place else log.first
        stop = int(stops[place]) if place < len(stops) else log.end
        found = _run(graph, row, start, stop)
        if found is not None:
            yield found


def _run(graph: Graph, row: int, start: int, stop: int) -> Run | None:
    compared = _compared(graph, row)
    if compared is None:
        return None
    parameters, data = _sources(graph, row, start)
    if not parameters or not data or any(_is_trained_on(graph, each) for each in data):
        return None  # without data it is weights that are put in order
    others = layers_in_training(graph.log)
    same = others[(others > row) & (others < stop)]
    event = graph.index.event(row)
    for each in same.tolist():
        other = graph.index.event(each)
        if (other.site, other.scope) == (event.site, event.scope) and _sources(graph, each, start)[1] & data:
            return None  # the same data again and again: what dropout makes of it is wanted
    op = graph.node(row).op
    return Run(row, op if op in DROPOUTS | NORMS else "dropout", compared, parameters, data)


def _compared(graph: Graph, row: int) -> int | None:
    """The first op that compares what follows from a row; None where there is none, or where training uses it."""
    waiting, seen, found = [row], {row}, None
    while waiting:
        for user, _, _ in graph.index.users(waiting.pop(), graph.now + 1):
            if user in seen:
                continue
            seen.add(user)
            event = graph.index.event(user)
            if event.kind == Kind.OP and may_require_gradients(graph.log, event.flags):
                return None
            if len(seen) > _MOST_ROWS or event.graph_pass == Pass.BACKWARD:
                return None
            if event.kind == Kind.OP and event.flags & Flag.IN_PLACE and event.tensor < row:
                continue  # a running mean, or a sum over batches
            if graph.log.op(event.op).name in COMPARING:
                found = user if found is None else min(found, user)
            waiting.append(user)
    return found


def _sources(graph: Graph, row: int, start: int) -> tuple[frozenset[int], frozenset[int]]:
    """The learned parameters that a row depends on, and the rows of the data that came to the first of them."""
    optimized = training(graph.log).optimized

    def is_parameter(each: int) -> bool:
        return graph.index.event(each).tensor in optimized

    @cache
    def inputs(each: int) -> tuple[int, ...]:
        return tuple(
            source for source, _ in graph.index.event(each).inputs if source < each and graph.log.holds(source)
        )

    order, waiting, seen = [], [row], {row}
    while waiting and len(seen) < _MOST_ROWS:
        at = waiting.pop()
        order.append(at)
        if at > start and not is_parameter(at):
            fresh = [each for each in inputs(at) if each not in seen]
            seen.update(fresh)
            waiting += fresh
    learned: dict[int, bool] = {}
    for at in sorted(order):
        learned[at] = is_parameter(at) or (at > start and any(learned.get(each, False) for each in inputs(at)))
    parameters = frozenset(graph.index.event(at).tensor for at in order if is_parameter(at))
    data = frozenset(
        each
        for at in order
        if learned[at] and not is_parameter(at) and at > start
        for each in inputs(at)
        if not learned.get(each, False) and not _is_state(graph, each)
    )
    return parameters, data


def _is_state(graph: Graph, row: int) -> bool:
    """Whether a row is of a buffer: a name with a dot, as modules give them."""
    return "." in graph.node(row).name


def _is_trained_on(graph: Graph, row: int) -> bool:
    """Whether ops with gradients take a row in as well."""
    users = graph.index.using(row, graph.now + 1)
    return any(may_require_gradients(graph.log, graph.index.event(each).flags) for each in users)
