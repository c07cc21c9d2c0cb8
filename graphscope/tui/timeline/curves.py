"""The loss and the size of the gradient in each backward pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph.outline import facts

if TYPE_CHECKING:
    from graphscope.graph import Graph
    from graphscope.graph.outline import Steps

POINTS: Final = 120
"""So many passes are looked at; of more, a sample."""


@dataclass(frozen=True)
class Curves:
    """Points of curves: rows and what was there, None where that was not kept."""

    rows: list[int]
    losses: list[float | None]
    norms: list[float | None]
    """The norm of all gradients of leaves that the pass made."""


def curves_of(graph: Graph, steps: Steps, first: int, stop: int) -> Curves:
    """The curves of the rows `first <= row < stop`, and one point beyond at the left; with what a person has edited."""
    low, high = np.searchsorted(steps.begins, (first, stop))
    places = np.arange(max(int(low) - 1, 0), high)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), POINTS)).astype(int))]
    made = Curves([], [], [])
    for place in chosen.tolist():
        begin, end = int(steps.begins[place]), int(steps.ends[place])
        made.rows.append(begin)
        made.losses.append(facts.loss_of(graph, begin))
        made.norms.append(facts.gradient_norm(graph, begin, end))
    return made
