"""The steps in which two runs may part first, found from bytes and from series: only these need be aligned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.kept_states import first_other_state
from graphscope.compare.remarks import compared
from graphscope.compare.steps import Step, step_of, steps
from graphscope.eventlog.samples import MOST
from graphscope.graph import series
from graphscope.graph.alike import STRUCTURE, extent, first_unlike, unequal
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.compare.rounding import Allowed
    from graphscope.eventlog.reader import Log

_FIRST: Final = 3
"""So many steps are looked at from where bytes differ on: what an optimizer keeps of one step shows in the next."""

_CLOSE: Final = 1e-5
_LEAP: Final = 30
"""Series part where they differ by more than this, and by so many times more than in all steps before."""


def first_steps(a: Log, b: Log, tolerance: Allowed | None = None) -> Iterator[tuple[Step, Step]]:
    """The steps of two runs to be compared, in their order; none where the runs are the same, bit for bit.

    Args:
        a: A log.
        b: Another.
        tolerance: How far values may be apart, in place of what rounding explains.
    """
    ours, theirs = steps(a), steps(b)
    common = min(len(ours), len(theirs))
    begin = _first_different(a, b)
    if begin is None:
        return
    wanted = {*range(begin, begin + _FIRST), common - 1 if len(ours) != len(theirs) else begin}
    leap = leap_of(course(a)[begin:common], course(b)[begin:common], tolerance=tolerance)
    if leap is not None:
        wanted |= {begin + leap - 1, begin + leap}
    for place in sorted(wanted):
        if begin <= place < common:
            yield ours[place], theirs[place]


def _first_different(a: Log, b: Log) -> int | None:
    """The place of the first step that is not the same, bit for bit; None where all is."""
    first, stop = extent(a, b)
    if compared(a, b) == "shapes":
        return 0 if stop > first else None  # ops are numbered as they come: rows alone don't tell which one ran
    structure = first_unlike(a, b, STRUCTURE)
    row = next(unequal(a, b, first, structure), structure)
    state = first_other_state(a, b)
    if state is not None and state < row:
        return step_of(a, state).number - 1
    if row >= stop and a.end == b.end:
        return None
    return min(step_of(log, min(row, log.end - 1)).number for log in (a, b)) - 1 if stop > first else 0


COURSE: Final = np.dtype([(name, "<f8") for name in ("loss", "gradient", "weight", "update", "rate", "passes")])
"""What is told of a step: the sum of its losses, norms over its smaller parameters, the largest rate, and how many
backward passes it has."""

MEASURED: Final = ("loss", "gradient", "weight", "update")


@once_a_length
def course(log: Log) -> np.ndarray:
    """How a training went, a COURSE for each step; NaN where the log does not say."""
    known = steps(log)
    stops = [each.stop for each in known]
    found = np.full(len(known), np.nan, COURSE)
    found["passes"] = [len(each.passes) for each in known]
    losses = series.losses(log)
    found["loss"] = _sums(np.searchsorted(stops, losses["begin"], side="right"), losses["value"], len(known))
    updates = series.updates(log)
    updates = updates[updates["count"] <= MOST]  # those of larger ones may be estimates
    place = np.searchsorted(stops, updates["row"], side="right")
    counts = np.bincount(place, minlength=len(known))
    is_whole = counts == (
        np.median(counts) if len(counts) else 0
    )  # else norms are of other parameters than in other steps
    for name in ("gradient", "weight", "update"):
        with np.errstate(all="ignore"):
            norms = np.sqrt(_sums(place, updates[name] ** 2, len(known)))
        found[name] = np.where(is_whole, norms, np.nan)
    np.fmax.at(found["rate"], place, updates["rate"])
    return found


def _sums(place: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """The sums of values by place; NaN where there are none."""
    total = np.bincount(place, values, count)
    return np.where(np.bincount(place, minlength=count) > 0, total, np.nan)


def leap_of(
    one: np.ndarray, other: np.ndarray, names: Sequence[str] = MEASURED, tolerance: Allowed | None = None
) -> int | None:
    """The first step at which two courses part by a leap, and not by rounding that grows; None where they don't.

    Where a person says how far they may be apart it is the first that is farther, by a leap or not.
    """
    relative, absolute = (0.0, 0.0) if tolerance is None else (tolerance.relative, tolerance.absolute)
    close, times = (_CLOSE, _LEAP) if tolerance is None else (relative, 0)
    apart = np.zeros(len(one))
    for name in names:
        mine, theirs = one[name], other[name]
        with np.errstate(all="ignore"):
            part = np.maximum(np.abs(mine - theirs) - absolute, 0) / np.maximum(np.abs(mine), np.abs(theirs))
        part = np.where(np.isfinite(part), part, 0.0)
        burst = np.isinf(mine) != np.isinf(theirs)
        if name == "loss":  # which is known of every step; norms are not
            burst |= np.isnan(mine) != np.isnan(theirs)
        apart = np.maximum(apart, np.where(burst, np.inf, part))
    before = np.r_[0.0, np.maximum.accumulate(apart)[:-1]] if len(apart) else apart
    leaps = apart > np.maximum(close, times * before)
    if names is MEASURED:
        with np.errstate(all="ignore"):
            leaps |= np.abs(one["rate"] - other["rate"]) > max(1e-9, relative) * np.abs(one["rate"])
        leaps |= one["passes"] != other["passes"]
    found = np.flatnonzero(leaps)
    return int(found[0]) if len(found) else None
