"""A gradient that shrinks from layer to layer until next to nothing of it is left."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, step_of, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.gradients.layer_profile import place_on_way
from graphscope.diagnose.gradients.paths import made_of
from graphscope.diagnose.training.optimized import LEAST, Group, groups, is_matrix, late_to_early, names_of, told
from graphscope.eventlog.grouping import those
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import walk

if TYPE_CHECKING:
    from graphscope.graph import Graph

_SHRUNK: Final = 1e-5
"""Beside the gradient of another layer, that of one in good order is not so small."""

_LEFT: Final = 1e-4
"""Where more is left of a gradient on its way, it is for what a layer is given that its own is small."""

_STILL: Final = 1e-5
"""An update of this part of a weight leaves it where it was."""

_STUCK: Final = 0.95
"""A loss of which more is left in the end has not fallen."""

_LITTLE: Final = 0.8
"""The same where biases alone learn, which bring it down to what a constant can."""

_MOST: Final = 32
"""So many weights are looked at, and so much of what becomes of them."""

_ALWAYS: Final = 0.9
"""In so many of the steps; at first gradients may be small because a later layer begins at zero."""


class _Shrunk(NamedTuple):
    updates: np.ndarray
    """Of the layers whose gradients are that small, in the first step."""
    share: float
    fed: frozenset[int]
    """The parameters whose gradients are not small."""

    @property
    def row(self) -> int:
        return int(self.updates["row"][0])


def _of_group(group: Group) -> _Shrunk | None:
    """The layers of a group whose gradients are small beside those of others, or those of all beside a bias.

    Where weights are so small that activations vanish as well, no weight has a gradient: biases alone tell the way.
    """
    found = group.updates
    found = those(found, (found["gradient"] > 0) & np.isfinite(found["gradient"]))
    layers = found[is_matrix(group.log, found["tensor"])]
    if not len(layers):
        return None
    beside_layers = _beside(group, layers, layers)
    if beside_layers is not None or len(np.unique(layers["tensor"])) < LEAST:
        return beside_layers
    return _beside(group, found, layers) if late_to_early(group.losses) > _LITTLE else None


def _beside(group: Group, found: np.ndarray, layers: np.ndarray) -> _Shrunk | None:
    """The layers whose gradients are small beside the largest of some updates."""
    sizes = found["gradient"] / np.sqrt(found["count"])
    steps, which = np.unique(found["step"], return_inverse=True)
    largest = np.zeros(len(steps))
    np.maximum.at(largest, which, sizes)
    small = sizes < _SHRUNK * largest[which]
    stuck = not late_to_early(group.losses) < _STUCK
    tensors = []
    for tensor in np.intersect1d(found["tensor"][small], layers["tensor"]).tolist():
        own = found["tensor"] == tensor
        with np.errstate(all="ignore"):
            moves = found["update"][own] / found["weight"][own]
        still = bool(np.nanmedian(moves) < _STILL) if not np.isnan(moves).all() else False
        if own.sum() >= LEAST and small[own].mean() >= _ALWAYS and (still or stuck):
            tensors.append(tensor)
    fed = frozenset(
        tensor for tensor in np.unique(found["tensor"]).tolist() if not small[found["tensor"] == tensor].all()
    )
    tensors = [each for each in tensors[:_MOST] if fed.isdisjoint(_ahead_of(group, each))]
    if not tensors:
        return None
    first = np.isin(found["tensor"], tensors) & (found["step"] == found["step"][np.isin(found["tensor"], tensors)][0])
    return _Shrunk(found[first], float((sizes / largest[which])[first].min()), fed)


def _ahead_of(group: Group, tensor: int) -> set[int]:
    """The leaves that the first op that takes a parameter depends on: a gradient that vanishes passes them, too.

    Where they get theirs, no way is closed: the scores of attention, say, are one way beside others, and begin flat.
    """
    graph = group.log.graph
    stop = int(group.updates["row"][group.updates["tensor"] == tensor][0])
    mine, waiting = {tensor}, [tensor, *graph.index.versions(tensor, stop)]
    while waiting:
        for user in sorted(graph.index.using(waiting.pop(0), stop)):
            event = graph.index.event(user)
            if event.kind != Kind.OP or event.tensor == tensor or user in mine:
                continue
            if len(event.inputs) > 1:
                return {graph.index.event(row).tensor for row in walk.reach(user, partial(made_of, graph))} - {tensor}
            mine.add(user)  # the weight in another form
            waiting.append(user)
    return set()


def _is_one_of_many(graph: Graph, update: np.void, shrinking: int, fed: frozenset[int]) -> bool:
    """Whether what becomes of a parameter meets, ahead of the op that shrinks its gradient, what learns all the same.

    That op is then not the only way to what is ahead of it: so it is with positions that are but a part of scores.
    """
    log, stop = graph.log, shrinking + 1
    tensor = int(update["tensor"])
    mine = {tensor, *graph.index.versions(tensor, stop)}
    waiting = sorted(mine)
    while waiting:
        for user in graph.index.using(waiting.pop(), stop):
            event = graph.index.event(user)
            if event.kind != Kind.OP or event.graph_pass != Pass.FORWARD or user in mine:
                continue
            mine.add(user)
            waiting.append(user)
    met = {source for row in mine for source, _ in log.inputs(row)} - mine
    return any(_is_learned_of_data(graph, row, fed) for row in sorted(met)[:_MOST])


def _is_learned_of_data(graph: Graph, row: int, fed: frozenset[int]) -> bool:
    """Whether a result depends on parameters that get gradients, and on something that is no parameter."""
    if graph.index.event(row).kind != Kind.OP:
        return False
    above = [graph.index.event(each) for each in walk.reach(row, partial(made_of, graph))]
    is_of_data = any(each.kind == Kind.LEAF and not each.flags & Flag.REQUIRES_GRAD for each in above)
    return is_of_data and any(each.tensor in fed for each in above)


@check(
    "gradient that vanishes on its way",
    reads=("marks", "rows", "values"),
    shows="run",
    sample="""
        import torch

        first = torch.tensor([[0.3, -0.2], [0.1, 0.2]], requires_grad=True)
        last = torch.tensor([[0.5, -0.5], [0.2, 0.3]], requires_grad=True)
        optimizer = torch.optim.SGD([first, last], lr=0.1)
        x = torch.tensor([[1.0, 2.0], [2.0, -1.0]])
        for _ in range(12):
            optimizer.zero_grad()
            hidden = x @ first
            for _ in range(12):
                hidden = (hidden * 0.5).sigmoid()
            loss = ((hidden @ last - x) ** 2).mean()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        first = torch.tensor([[0.3, -0.2], [0.1, 0.2]], requires_grad=True)
        last = torch.tensor([[0.5, -0.5], [0.2, 0.3]], requires_grad=True)
        optimizer = torch.optim.SGD([first, last], lr=0.1)
        x = torch.tensor([[1.0, 2.0], [2.0, -1.0]])
        for _ in range(12):
            optimizer.zero_grad()
            hidden = x @ first
            for _ in range(12):
                hidden = hidden + (hidden * 0.5).tanh() * 0.1
            loss = ((hidden @ last - x) ** 2).mean()
            loss.backward()
            optimizer.step()
        """,
)
def vanishing_gradient(graph: Graph) -> Iterator[Finding]:
    """In step after step next to nothing of the gradient is left where it comes to the first layers."""
    for found in filter(None, map(_of_group, groups(graph.log))):
        smallest = found.updates[np.argmin(found.updates["gradient"] / np.sqrt(found.updates["count"]))]
        place = place_on_way(graph, smallest)
        if place is None or place.whole > _LEFT or _is_one_of_many(graph, smallest, place.node.row, found.fed):
            continue
        names = names_of(graph, found.updates["tensor"])
        verdict = (
            f"the gradients of {told(names)} have vanished: on their way they shrink to {place.whole:.1g} of what they "
            f"were, most of it by {place.node.op}{where(place.node)}"
        )
        cure = (
            "take an activation that lets gradients through (ReLU, GELU), add residual connections or normalisation, "
            "or initialise by the size of the layers"
        )
        evidence = {"factor": place.whole, "factor of this line": place.line, "to the largest gradient": found.share}
        path = (step_of(place.node, "shrinks the gradient"),)
        explained = Explanation("fine", "vanishing", verdict, path, cure)
        yield finding("vanishing_gradient", "warning", found.row, explained, names, evidence)
