"""Lines of a program that clip gradients in place, in their own way or by value, and what they leave of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length
from graphscope.graph.sizes import norms_of
from graphscope.graph.training import training
from graphscope.graph.words import first_sources

if TYPE_CHECKING:
    from graphscope.diagnose.training.optimizer_order import Order
    from graphscope.eventlog.reader import Log

_BOUNDING: Final = frozenset({"clamp", "clip", "clamp_min", "clamp_max", "_foreach_clamp_min", "_foreach_clamp_max"})
_SCALING: Final = frozenset({"mul", "multiply", "div", "divide", "true_divide", "_foreach_mul", "_foreach_div"})
_ALIASES: Final = frozenset({"data", "detach"})
_FARTHEST: Final = 4
"""A gradient is so many writes and other names away from what clips it, at most."""
_MOST: Final = 64
"""So many steps of a line are looked at, spread over the run."""
_EVEN: Final = 1e-3
"""Who clips by the norm leaves one that differs by no more than that part of it from step to step."""
_DIFFERENT: Final = 1e-2
"""And makes it of norms that differ by more."""


class Clipping(NamedTuple):
    """A line that clips, in all the steps in which it does."""

    site: int
    rows: np.ndarray
    """The last write of each step."""
    tensors: frozenset[int]
    """The parameters whose gradients it clips."""
    before: np.ndarray
    """The norms of all these gradients together, in some of the steps, ahead of it."""
    after: np.ndarray
    """The same behind it."""
    largest: float
    """What the largest element usually is ahead of it, where it bounds each; NaN of who multiplies all alike."""


class _Writes(NamedTuple):
    """Writes into gradients of leaves."""

    rows: np.ndarray
    sources: np.ndarray
    """What each writes into."""
    tensors: np.ndarray
    """The leaves."""
    sites: np.ndarray
    scales: np.ndarray
    """Whether it multiplies all elements alike."""


def clippings(order: Order) -> Iterator[Clipping]:
    """The lines that clip an optimizer's gradients, but for those that call what is made for it and goes by norm."""
    writes = _writes(order.read.log)
    mine = np.isin(writes.tensors, order.tensors)
    for site in np.unique(writes.sites[mine]).tolist():
        at = mine & (writes.sites == site)
        found = _of_line(order, site, _Writes(*(column[at] for column in writes)))
        if found is not None:
            yield found


def _of_line(order: Order, site: int, writes: _Writes) -> Clipping | None:
    steps = np.searchsorted(order.steps, writes.rows)
    _, firsts = np.unique(np.stack([steps, writes.tensors], axis=1), axis=0, return_index=True)
    back = len(steps) - 1
    _, lasts = np.unique(np.stack([steps, writes.tensors], axis=1)[::-1], axis=0, return_index=True)
    lasts = back - lasts
    every = np.unique(steps)
    looked_at = every[np.unique(np.linspace(0, len(every) - 1, _MOST).astype(int))]
    before = _norms(order.read.log, writes.sources[firsts], steps[firsts], looked_at)
    after = _norms(order.read.log, writes.rows[lasts], steps[lasts], looked_at)
    if writes.scales.any() and not _goes_by_norm(before, after):
        return None
    ends = np.flatnonzero(np.append(steps[1:] != steps[:-1], True))
    largest = np.nan if writes.scales.any() else _largest(order.read.log, writes.sources[firsts], steps[firsts])
    return Clipping(site, writes.rows[ends], frozenset(writes.tensors.tolist()), before, after, largest)


def _largest(log: Log, rows: np.ndarray, steps: np.ndarray) -> float:
    """The size of the largest element of some rows in the middle one of their steps; NaN where it is not known."""
    known = [log.summary(row) for row in rows[steps == steps[len(steps) // 2]].tolist()]
    return max((max(-each.minimum, each.maximum) for each in known if each is not None and each.finite), default=np.nan)


def _goes_by_norm(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether what is multiplied has one norm in all steps, and had others: a loss that is unscaled has not."""
    with np.errstate(all="ignore"):
        spreads = [float(np.ptp(each) / np.median(each)) for each in (before, after)]
    return spreads[1] <= _EVEN and spreads[0] > _DIFFERENT


def _norms(log: Log, rows: np.ndarray, steps: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The norm of some rows of each step together."""
    chosen = np.isin(steps, wanted)
    squares = np.square(norms_of(log, rows[chosen]))
    return np.asarray(np.sqrt(np.bincount(np.searchsorted(wanted, steps[chosen]), squares, len(wanted))))


@once_a_length
def _writes(log: Log) -> _Writes:
    names = [log.op(number).name for number in range(len(log.table("ops")) + 1)]
    plain = np.array([name.rstrip("_") for name in names])
    ops = np.flatnonzero(np.isin(plain, [*_BOUNDING, *_SCALING]))
    aliases = np.flatnonzero(np.isin(plain, [*_ALIASES]))
    rows = log.where(
        lambda each: (each["kind"] == Kind.OP) & ((each["flags"] & int(Flag.IN_PLACE)) != 0) & np.isin(each["op"], ops)
    )
    sources = first_sources(log, rows, (0,))[:, 0]
    gradients = sources.copy()
    for _ in range(_FARTHEST):
        known = np.flatnonzero(gradients >= log.first)
        kinds, flags = log.pick("kind", gradients[known]), log.pick("flags", gradients[known])
        same = ((flags & int(Flag.IN_PLACE)) != 0) | np.isin(log.pick("op", gradients[known]), aliases)
        further = known[(kinds == Kind.OP) & same]
        gradients[further] = first_sources(log, gradients[further], (0,))[:, 0]
    of_leaf = gradients >= log.first
    of_leaf[of_leaf] = log.pick("kind", gradients[of_leaf]) == Kind.ACCUMULATE
    sites = log.pick("site", rows).astype(np.int64)
    by_norm = log.pick("site", training(log).rows("clip_grad_norm_"))
    kept = of_leaf & ~np.isin(sites, by_norm)
    rows, sources = rows[kept], sources[kept]
    tensors = log.pick("tensor", log.pick("forward", gradients[kept]).astype(np.int64)).astype(np.int64)
    scales = np.isin(plain[log.pick("op", rows)], [*_SCALING])
    return _Writes(rows, sources, tensors, sites[kept], scales)
