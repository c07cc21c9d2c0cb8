"""What the steps of optimizers did: which rows are of one, and of which parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.outline.steps import Steps

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_REACH: Final = 1 << 15
"""A step of an optimizer ends within so many rows."""


def optimized(log: Log, steps: Steps, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row from `start` up to `stop`: the end of the optimizer's step that it is of, and the parameter, plus 1.

    An optimizer's step is what one line of the program did up to the end of a training step, if it changed something.
    """
    found, parameters = np.zeros(stop - start, np.int64), np.zeros(stop - start, np.int64)
    marks = log.marks(Kind.STEP, start=start, stop=stop + _REACH)
    marks = marks[: np.searchsorted(marks, stop) + 1]
    if len(marks) == 0:
        return found, parameters
    behind = min(max(stop, int(marks[-1]) + 1), log.end)
    sites, kinds = log.column("site", start, behind), log.column("kind", start, behind)
    flags = log.column("flags", start, behind)
    writes = (kinds == Kind.OP) & ((flags & int(Flag.IN_PLACE)) != 0)
    written = np.append(0, np.cumsum(writes))
    changes = np.flatnonzero((sites[1:] != sites[:-1]) | np.isin(kinds[1:], (Kind.GRAD, Kind.BACKWARD_END))) + 1
    for mark in (marks - start).tolist():
        if mark == 0:
            continue
        place = int(np.searchsorted(changes, mark)) - 1
        first = int(changes[place]) if place >= 0 else 0
        if sites[mark - 1] and written[mark] > written[first]:
            found[first : mark + 1] = start + mark + 1
    tensors = log.column("tensor", start, behind).astype(np.int64)
    places = np.flatnonzero(writes)
    of_parameter = (log.pick("flags", tensors[places]) & int(Flag.PARAMETER | Flag.REQUIRES_GRAD)) != 0
    places = places[of_parameter]
    following = np.searchsorted(places, np.arange(stop - start))
    inside = (found > 0) & (following < len(places))
    at = places[following[inside]]
    rows = np.flatnonzero(inside)
    ends = found[rows] - 1 - start
    right = at < ends
    parameters[rows[right]] = tensors[at[right]] + 1
    return found, parameters


def runs_up_to(sites: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Which rows one line made right ahead of some ends that stand at the same line, with these."""
    first = np.flatnonzero(np.append(True, sites[1:] != sites[:-1])[: len(sites)])
    run = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(sites))))
    last = np.full(len(first), -1)
    last[run[ends]] = np.flatnonzero(ends)
    return np.asarray(np.arange(len(sites)) <= last[run]) if len(sites) else ends
