"""Backward passes that begin from a new leaf, which holds as a number what the program computed of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import Explanation, shortened, steps, title, where
from graphscope.diagnose.gradients.exits import MAKING, is_telling, leaves_here, title_of
from graphscope.diagnose.gradients.leaf_losses import LeafLoss
from graphscope.diagnose.gradients.passes import edges_with_gradients, leaves_among
from graphscope.diagnose.gradients.paths import FLOATING
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

_MOST_PASSES: Final = 3
"""So many passes are looked at: `leaf_losses` tells of trainings."""
_MOST_EDGES: Final = 20_000
"""A forward pass of more is not looked through."""


def lone_losses(graph: Graph) -> Iterator[LeafLoss]:
    """The first such pass of a run in which no pass reaches anything but the leaf that it begins from."""
    begins = graph.index.marks(Kind.BACKWARD_BEGIN)
    begins = begins[begins <= graph.now]
    if not 0 < len(begins) <= _MOST_PASSES:
        return
    roots = training(graph.log).roots(begins)
    if (roots < graph.log.first).any() or (graph.log.pick("kind", roots) != Kind.LEAF).any():
        return
    for since, begin, root in zip([graph.log.first, *begins.tolist()], begins.tolist(), roots.tolist(), strict=False):
        loss = graph.node(root)
        if loss.attrs.get("function") not in MAKING:
            continue
        users, sources = _edges(graph, since, loss.row)
        leaves = leaves_among(graph.log, np.unique(sources)) if len(users) <= _MOST_EDGES else {}
        ends = [graph.node(row) for row in np.setdiff1d(users, sources).tolist()]
        held = [each for each in ends if _is_number_of(each, loss)]
        if leaves and held:
            yield _explained(graph, begin, leaves, held[-1], loss)
            return


def _edges(graph: Graph, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """The edges of a forward pass that lead to what requires grad."""
    none = np.zeros(0, np.int64)
    found = [(none, none), *edges_with_gradients(graph.log, start, stop)]
    users, sources = (np.concatenate([pair[place] for pair in found]) for place in (0, 1))
    learning = (graph.log.pick("flags", users) & int(Flag.REQUIRES_GRAD)) != 0
    return users[learning], sources[learning]


def _is_number_of(end: Node, loss: Node) -> bool:
    """Whether a leaf is a result that was taken as a number: the very same, or as the line that makes it says."""
    if not end.dtype.startswith(FLOATING) or prod(end.shape) != prod(loss.shape):
        return False
    given, came = end.value, loss.value
    if given is None or came is None or given.size != 1:
        return leaves_here(loss)
    return leaves_here(loss) or (given.item() == came.item() and is_telling(given.item()))


def _explained(graph: Graph, begin: int, leaves: dict[int, int], end: Node, loss: Node) -> LeafLoss:
    names = tuple(title(graph.node(row)) for _, row in sorted(leaves.items()))
    verdict = (
        f"no gradient flows from {title_of(loss)} to {shortened(names)}: what {end.op}{where(end)} made left "
        "the graph as a plain number, and backward() begins from a new tensor that knows nothing of it"
    )
    cure = f"call backward() on what {end.op} made: .item(), float() and torch.tensor(...) cut it off"
    blamed, note = (end, "leaves the graph") if leaves_here(end) else (loss, "comes back as a new leaf")
    found = Explanation("none", "left the graph", verdict, steps([end, loss], {blamed.row: note}), cure)
    return LeafLoss(begin, names, frozenset(leaves), found, begin)
