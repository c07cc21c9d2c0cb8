"""As few boxes as a person can read: the least folding that does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from graphscope.graph.passes.cut import nearest
from graphscope.graph.passes.leaves import shared_leaves
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
    enough = next((way for way in ways if boxes(way.view) <= MOST), None)
    if enough is not None:
        return enough
    folded = ways[-1].view
    cut = nearest(folded, MOST)
    return Readable(cut, f"{boxes(cut)} of {boxes(folded):,} boxes are drawn, those nearest to the loss")


def boxes(view: GraphView) -> int:
    """How many boxes a picture of a view has."""
    return len(view.nodes) + sum(len(users) - 1 for users in shared_leaves(view).values())


def _ways(view: GraphView) -> Iterator[Readable]:
    """The view folded more and more."""
    yield Readable(view, "")
    view = join_rules(view)
    yield Readable(view, "what one op does in backward is one box")
    deepest = max((cluster.depth for cluster in view.clusters if cluster.kind == "scope"), default=-1) + 1
    folded = {}
    for depth in range(deepest, 0, -1):
        folded[depth] = fold_scopes(view, depth, is_opened=False)
        yield Readable(folded[depth], f"modules {depth} deep are folded")
    for depth, closed in folded.items():
        yield Readable(fold_repeats(closed), f"repeats, and modules {depth} deep, are folded")
    if not deepest:
        yield Readable(fold_repeats(view), "repeats are folded")
