"""What gradients sum up to where a second contribution has come: a node that adds one has but this one as its value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from graphscope.eventlog.schema import Flag
from graphscope.exporters.page.value_samples import EXACT, samples

if TYPE_CHECKING:
    import numpy as np

    from graphscope.graph.view import GraphView

__all__ = ["gradient_sums"]

MOST: Final = 5_000
"""Of a larger view no sums are told: each is made of all that came before it."""


def gradient_sums(view: GraphView, budget: int) -> dict[str, Any]:
    """Small sums, as columns like those of samples, for the nodes that added to what was there already."""
    graph, nodes = view.graph, view.nodes

    def size(place: int) -> int:
        return math.prod(nodes[place].shape or ())

    def value(place: int) -> np.ndarray | None:
        return None if graph is None else graph.node(nodes[place].rows[0]).grad

    def is_added(place: int) -> bool:
        return graph is not None and not graph.node(nodes[place].rows[0]).flags & Flag.FRESH

    known = enumerate(nodes) if len(nodes) <= MOST else ()
    sums = [place for place, node in known if node.kind == "accumulate" and size(place) <= EXACT and is_added(place)]
    return samples([sums], value, size, budget)
