"""The rows of one training step, each with the calls of modules around it, in both passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Kind, Pass
from graphscope.graph.index import edges_of
from graphscope.graph.outline.calls import Calls, distinct, scopes_and_rows
from graphscope.graph.outline.optimizing import optimized
from graphscope.graph.outline.origins import origins
from graphscope.graph.outline.steps import steps

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

MOST: Final = 1 << 18
"""Of a longer step, or of a program without steps, so many rows around a place are read."""


class Call(NamedTuple):
    """One call of a module."""

    scope: int
    """The module, as an entry of `scopes`."""
    begin: int
    """The row where the call began; below 0 where the log does not tell it."""


@dataclass(frozen=True)
class StepRows:
    """Rows `start <= row < stop`; arrays have an element for each of them."""

    start: int
    stop: int
    levels: tuple[tuple[np.ndarray, np.ndarray], ...]
    """From the outermost inward: the scope of the call that each row lies in, and where that began; 0 in none."""
    is_forward: np.ndarray
    """Ops of the forward pass that the program itself ran: nothing that made parameters or changed them."""
    is_rule: np.ndarray
    """Backward rules."""
    edges: tuple[np.ndarray, np.ndarray]
    """What these ops take: their rows, and the rows of their inputs; by the first of these."""
    maps: dict[tuple[Call, ...], Any] = field(default_factory=dict, compare=False, repr=False)
    """The maps that were made of them, by the calls that these are of."""

    def around(self, row: int) -> tuple[Call, ...]:
        """The calls of modules that a row lies in, from the outermost inward."""
        if not self.start <= row < self.stop:
            return ()
        found = ((int(scopes[row - self.start]), int(begins[row - self.start])) for scopes, begins in self.levels)
        return tuple(Call(scope, begin) for scope, begin in found if scope)

    def inside(self, calls: tuple[Call, ...]) -> np.ndarray:
        """Which rows lie in a call, which is told by it and those around it; all where these are none."""
        if not calls:
            return np.ones(self.stop - self.start, bool)
        if len(calls) > len(self.levels):
            return np.zeros(self.stop - self.start, bool)
        scopes, begins = self.levels[len(calls) - 1]
        return np.asarray((scopes == calls[-1].scope) & (begins == calls[-1].begin))


def span(log: Log, row: int) -> tuple[int, int]:
    """The rows of the step that a row belongs to, from the first up to the one behind the last.

    What lies between steps belongs to the next; a program without steps is one.
    """
    told = steps(log)
    start, stop = log.first, log.end
    if len(told):
        place = min(int(np.searchsorted(told.last, row)), len(told) - 1)
        start, stop = int(told.first[place]), int(told.last[place]) + 1
    if stop - start > MOST:
        start = min(max(row - MOST // 2, start), stop - MOST)
    return start, min(stop, start + MOST)


def step_rows(log: Log, row: int) -> StepRows:
    """The rows of the step that a row belongs to. Those of the last step that was asked for are kept."""
    start, stop = span(log, row)
    kept: tuple[int, StepRows] | None = log.readings.get(step_rows)
    if kept is not None and (kept[0], kept[1].start, kept[1].stop) == (log.end, start, stop):
        return kept[1]
    found = _read(log, start, stop)
    log.readings[step_rows] = log.end, found
    return found


def _read(log: Log, start: int, stop: int) -> StepRows:
    told = steps(log)
    calls = Calls(log, {}, start, stop)
    scopes, rows, known = scopes_and_rows(log, start, stop)
    scopes[~known] = 0
    *called, which = distinct(scopes, calls.begins(scopes, rows))
    levels = tuple((numbers[which], begins[which]) for numbers, begins in calls.around(*called))
    kinds = log.column("kind", start, stop)
    sites = log.column("site", start, stop)
    makes = origins(log).makes
    is_update = optimized(log, told, start, stop)[0] > 0
    is_forward = (kinds == Kind.OP) & (log.column("graph_pass", start, stop) == Pass.FORWARD)
    is_forward &= ~makes[np.minimum(sites, len(makes) - 1)] & ~is_update
    return StepRows(start, stop, levels, is_forward, kinds == Kind.GRAD, _edges(log, start, stop, is_forward))


def _edges(log: Log, start: int, stop: int, is_wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    users, sources = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for first, events in log.chunks(start, stop):
        for offsets, named in edges_of(log, first, events):
            wanted = is_wanted[first - start + offsets]
            users.append(first + offsets[wanted])
            sources.append(named[wanted].astype(np.int64))
    user, source = np.concatenate(users), np.concatenate(sources)
    order = np.argsort(user, kind="stable")
    return user[order], source[order]
