"""The loss and the size of the gradient in each backward pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.graph import Graph
    from graphscope.graph.outline import Steps

POINTS: Final = 120
"""So many passes are looked at; of more, a sample."""

_MOST: Final = 64


@dataclass(frozen=True)
class Curves:
    """Points of curves: rows and what was there."""

    rows: list[int]
    losses: list[float]
    norms: list[float]
    """The norm of all gradients of leaves that the pass added up; NaN where they were not kept."""


def curves_of(graph: Graph, steps: Steps, first: int, stop: int) -> Curves:
    """The curves of the rows `first <= row < stop`, and one point beyond at the left; with what a person has edited."""
    low, high = np.searchsorted(steps.begins, (first, stop))
    places = np.arange(max(int(low) - 1, 0), high)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), POINTS)).astype(int))]
    made = Curves([], [], [])
    for place in chosen.tolist():
        begin, end = int(steps.begins[place]), int(steps.ends[place])
        made.rows.append(begin)
        made.losses.append(_loss(graph, begin))
        made.norms.append(_norm(graph, begin, end))
    return made


def _loss(graph: Graph, begin: int) -> float:
    try:
        inputs = graph.log.event(begin).inputs
        value = graph.node(inputs[0][0]).output(inputs[0][1]) if inputs else None
    except LogError:
        return math.nan
    return float(value.reshape(-1)[0]) if value is not None and value.size == 1 else math.nan


def _norm(graph: Graph, begin: int, end: int) -> float:
    log = graph.log
    total, known = 0.0, False
    for offset in np.flatnonzero(log.column("kind", begin, end) == Kind.ACCUMULATE)[:_MOST].tolist():
        value = log.value(graph.value_row(begin + offset))
        if value is not None and value.dtype.kind == "f":
            known = True
            total += float(np.square(value, dtype=np.float64).sum())
    return math.sqrt(total) if known and math.isfinite(total) else math.nan
