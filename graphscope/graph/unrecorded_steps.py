"""Training steps by their numbers in the series, which counts also those that a recording left out or let go of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.step_marks import step_ends
from graphscope.graph.step_numbers import StepNumber, StepNumbers, step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def numbers_in_series(log: Log) -> np.ndarray:
    """The number of each recorded step, by its place; 0 of one that has not ended."""
    found, ends = step_numbers(log), step_ends(log)
    behind = np.searchsorted(ends, found.steps.last, side="right")
    has_ended = behind > np.searchsorted(ends, found.steps.first)
    return np.where(has_ended, found.counts, 0)


def title_in_series(log: Log, number: int) -> str:
    """What the step of a number is called: as the recorded steps around it are counted by the program, if that is sure.

    Where it is not, as behind the end of an epoch, `training step 164 of all`.
    """
    names, counted = step_numbers(log), numbers_in_series(log)
    places = np.flatnonzero(counted)
    own = places[counted[places] == number]
    if len(own):
        return str(names.number(int(own[-1])))
    if not any(names.number(place).counters for place in places.tolist()):
        return str(StepNumber(number, {}))  # as those are called that are recorded
    behind = int(np.searchsorted(counted[places], number))
    around = [(behind - 1, behind), (behind, behind + 1), (behind - 2, behind - 1)]
    for pair in around:
        if min(pair) >= 0 and max(pair) < len(places):
            low, high = places[list(pair)].tolist()
            found = _between(names, counted, (low, high), number)
            if found is not None:
                return str(found)
    return str(StepNumber(number, {}, is_of_all=True))


def _between(names: StepNumbers, counted: np.ndarray, pair: tuple[int, int], number: int) -> StepNumber | None:
    """What a step is called that two others tell of, in which only the innermost loop has gone on, at an even pace."""
    low, high = (names.number(place) for place in pair)
    if not low.counters or low.turn or high.turn or [*low.counters] != [*high.counters]:
        return None
    *outer, inner = low.counters
    if any(low.counters[name] != high.counters[name] for name in outer):
        return None
    first, last = counted[list(pair)].tolist()
    pace, rest = divmod(high.counters[inner] - low.counters[inner], max(last - first, 1))
    value = low.counters[inner] + pace * (number - first)
    is_behind = number > last and bool(outer)  # the next turn of an outer loop may have begun
    if rest or pace <= 0 or is_behind or value < _least(names, [*low.counters]):
        return None
    return StepNumber(number, {**low.counters, inner: value})


def _least(names: StepNumbers, loops: list[str]) -> int:
    """What the innermost of some loops is known to have counted: it may begin with no less."""
    every = (names.number(place).counters for place in range(len(names)))
    return min(each[loops[-1]] for each in every if [*each] == loops)
