"""A gradient that grows from layer to layer, or from one point in time to the one before, beyond all use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, step_of, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.gradients.layer_profile import place_on_way
from graphscope.diagnose.training.optimized import Group, names_of, told
from graphscope.eventlog.grouping import those
from graphscope.graph import series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_GROWN: Final = 1e4
"""The gradient is that many times as large where it arrives as where it set out."""

_LARGE: Final = 1e2
"""Gradients of so many times their weights are of no use; those that were clipped are smaller."""

_MOST: Final = 4
"""The ways of so many steps are looked at."""


class _Grown(NamedTuple):
    updates: np.ndarray
    """Of the first step in which gradients are that large."""
    steps: int

    @property
    def row(self) -> int:
        return int(self.updates["row"][0])


def _of_group(group: Group) -> _Grown | None:
    found = group.updates
    found = those(found, np.isfinite(found["gradient"]) & np.isfinite(found["weight"]))
    steps, which = np.unique(found["step"], return_inverse=True)
    if not len(steps):
        return None
    gradients, weights = np.zeros(len(steps)), np.zeros(len(steps))
    with np.errstate(all="ignore"):
        np.add.at(gradients, which, found["gradient"] ** 2)
        np.add.at(weights, which, found["weight"] ** 2)
        large = (gradients > _LARGE**2 * weights) & (weights > 0)
    if large.sum() * 2 < len(steps):
        return None
    return _Grown(found[found["step"] == steps[np.argmax(large)]], int(large.sum()))


def _groups(log: Log) -> Iterator[Group]:
    """As elsewhere, but of however few steps: what explodes may do so in the first, and end in NaN."""
    found = series.updates(log)
    sites = log.pick("site", found["row"])
    for site in np.unique(sites).tolist():
        yield Group(log, those(found, sites == site))


@check(
    "gradient that explodes on its way",
    reads=("marks", "rows", "values"),
    shows="run",
    sample="""
        import torch

        weight = torch.tensor([[2.0, 1.0], [1.0, 2.0]], requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=1e-12)
        for _ in range(4):
            optimizer.zero_grad()
            hidden = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
            for _ in range(14):
                hidden = hidden @ weight
            loss = hidden.abs().mean()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.tensor([[0.7, 0.3], [0.3, 0.7]], requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=1e-3)
        for _ in range(4):
            optimizer.zero_grad()
            hidden = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
            for _ in range(14):
                hidden = hidden @ weight
            loss = hidden.abs().mean()
            loss.backward()
            optimizer.step()
        """,
)
def exploding_gradient(graph: Graph) -> Iterator[Finding]:
    """On its way through one backward pass the gradient grows beyond all use, and is not clipped."""
    for found in filter(None, map(_of_group, _groups(graph.log))):
        order = np.argsort(found.updates["gradient"] / np.sqrt(found.updates["count"]))[::-1]
        ways = (place_on_way(graph, update) for update in found.updates[order][:_MOST])
        places = [place for place in ways if place is not None]
        place = max(places, key=lambda place: place.whole, default=None)
        if place is None or place.whole < _GROWN:
            continue
        large = found.updates["gradient"] > _LARGE * found.updates["weight"]
        names = names_of(graph, found.updates["tensor"][large])
        verdict = (
            f"the gradients of {told(names)} explode: on their way they grow {place.whole:.1g} times, most of it by "
            f"{place.node.op}{where(place.node)}"
        )
        cure = (
            "begin with smaller weights there, as layers do by themselves, or add normalisation, and clip with "
            "clip_grad_norm_ ahead of the step"
        )
        largest = float(found.updates["gradient"].max())
        evidence = {
            "factor": place.whole, "factor of this line": place.line, "largest norm": largest, "steps": found.steps,
        }  # fmt: skip
        path = (step_of(place.node, "makes the gradient larger"),)
        explained = Explanation("fine", "exploding", verdict, path, cure)
        yield finding("exploding_gradient", "error", found.row, explained, names, evidence)
