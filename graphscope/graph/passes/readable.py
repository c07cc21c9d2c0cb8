"""As few boxes as a person can read: the least folding that does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from graphscope.graph.passes.cut import nearest
from graphscope.graph.passes.leaves import split_shared_leaves
from graphscope.graph.passes.repeats import fold_repeats
from graphscope.graph.passes.scopes import fold_scopes
from graphscope.graph.passes.sums import join_rules
from graphscope.graph.view import GraphView

GOOD: Final = 60
"""So many boxes can be read without a search."""
MOST: Final = 80
"""So many are drawn where no folding brings it down to that."""


class Readable(NamedTuple):
    """A view that can be read at a glance."""

    view: GraphView
    told: str
    """What was done to it; empty where nothing was."""


def readable(view: GraphView) -> Readable:
    """A view of few boxes, folded no more than that takes."""
    ways = []
    for way in _ways(view):
        if boxes(way.view) <= GOOD:
            return way
        ways.append(way)
    folded = ways[-1].view
    cut = Readable(nearest(folded, MOST), f"{MOST} of {len(folded.nodes):,} boxes are drawn, those nearest to the loss")
    return next((way for way in ways if boxes(way.view) <= MOST), cut)


def boxes(view: GraphView) -> int:
    """How many boxes a picture of a view has."""
    return len(split_shared_leaves(view).nodes)


def _ways(view: GraphView) -> Iterator[Readable]:
    """The view folded more and more."""
    yield Readable(view, "")
    view = join_rules(view)
    yield Readable(view, "what one op does in backward is one box")
    deepest = max((cluster.depth for cluster in view.clusters if cluster.kind == "scope"), default=-1) + 1
    for depth in range(deepest, 0, -1):
        yield Readable(fold_scopes(view, depth, is_opened=False), f"modules {depth} deep are folded")
    for depth in range(deepest, 0, -1):
        yield Readable(
            fold_repeats(fold_scopes(view, depth, is_opened=False)), f"repeats, and modules {depth} deep, are folded"
        )
    if not deepest:
        yield Readable(fold_repeats(view), "repeats are folded")
