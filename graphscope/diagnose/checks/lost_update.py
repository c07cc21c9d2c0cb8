"""An update that rounding loses: it is smaller than the last bit of the weights that it is added to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.optimized import LEAST, Group, cast_at, groups, is_half, names_of, optimizer_at, told
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.samples import MOST

if TYPE_CHECKING:
    from graphscope.graph import Graph

_LOST: Final = 0.8
"""From this share of elements on that have a gradient and stay as they are, next to no weight is trained."""

_MOST: Final = 0.5
"""The same of half precision, where several parameters don't change at all."""
_MOVED: Final = 0.02
_FEW: Final = 8
_SEVERAL: Final = 2

_IN_A_SAMPLE: Final = f" (of large ones, {MOST:,} elements were looked at)"
_SIZEABLE: Final = 1e-6
"""A gradient that is smaller than this part of its weights may be so because there is nothing more to learn."""


class _Lost(NamedTuple):
    updates: np.ndarray
    """Those that were lost, most of their elements at least."""
    share: float

    @property
    def row(self) -> int:
        return int(self.updates["row"][0])


def _of_group(group: Group) -> _Lost | None:
    found = group.updates
    pulled = (found["gradient"] > _SIZEABLE * found["weight"]) & np.isfinite(found["gradient"]) & (found["rate"] != 0)
    is_lost_there = ~np.isin(found["tensor"], found["tensor"][found["weight"] == 0])  # nothing is, beside zeros
    found = found[pulled & ~np.isnan(found["moved"]) & is_lost_there]
    steps = each_once(found["step"])
    if len(steps) < LEAST:
        return None
    early = found[found["step"] <= steps[min(2 * LEAST, len(steps)) - 1]]
    shares = [float(np.average(1 - part["moved"], weights=part["count"])) for part in (early, found)]
    lost = found[found["moved"] < 1 - _LOST]
    if not len(lost) or (min(shares) < _LOST and not is_half(group.log, int(lost["row"][0]))):
        return None
    is_lost = min(shares) >= _LOST or (min(shares) >= _MOST and _stay(found))
    if not is_lost:
        return None
    of_these = found[np.isin(found["tensor"], lost["tensor"])]
    return _Lost(lost, float(np.average(1 - of_these["moved"], weights=of_these["count"])))


def _stay(updates: np.ndarray) -> bool:
    """Whether some parameters keep next to all their bits in each of their updates."""
    moving = np.unique(updates["tensor"][(updates["moved"] > _MOVED) | (updates["count"] < _FEW)])
    tensors, counts = np.unique(updates["tensor"], return_counts=True)
    return bool((~np.isin(tensors, moving) & (counts >= LEAST)).sum() >= _SEVERAL)


@check(
    "update lost by rounding",
    reads=("marks", "rows", "series"),
    shows="run",
    sample="""
        import torch

        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=1e-9)
        for _ in range(8):
            optimizer.zero_grad()
            loss = (weight * weight).sum()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=1e-1)
        for _ in range(8):
            optimizer.zero_grad()
            loss = (weight * weight).sum()
            loss.backward()
            optimizer.step()
        """,
)
def lost_update(graph: Graph) -> Iterator[Finding]:
    """Updates are computed step after step, and rounding loses them: the weights stay as they are."""
    for lost in filter(None, map(_of_group, groups(graph.log))):
        row = lost.row
        names = names_of(graph, lost.updates["tensor"])
        first = lost.updates[0]
        cast = cast_at(graph, int(first["tensor"]), "rounds the weights") if is_half(graph.log, row) else None
        blamed = cast or optimizer_at(graph, row, "its updates are lost")
        dtype = graph.node(row).dtype
        verdict = (
            f"{lost.share:.0%} of the updates of {told(names)} are lost by rounding: they are smaller than the last "
            f"bit of weights of {dtype}{_IN_A_SAMPLE if (lost.updates['count'] > MOST).any() else ''}"
        )
        cure = (
            "keep the weights in float32 and compute in half precision by autocast"
            if is_half(graph.log, row)
            else "take a learning rate that is large enough to change the weights"
        )
        evidence = {"lost": lost.share, "steps": len(np.unique(lost.updates["step"]))}
        evidence |= {} if np.isnan(first["rate"]) else {"lr": float(first["rate"])}
        explained = Explanation("fine", "rounding", verdict, (blamed,), cure)
        yield finding("lost_update", "error", row, explained, names, evidence)
