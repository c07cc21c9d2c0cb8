"""When something is in a rank's run, so that all ranks mean the same, whatever their logs keep of it.

Of a whole log what is told is how many backward passes had begun, as a rank may part from the others in the steps that
it makes. A recording that leaves out steps, or lets go of them, has counted no passes there: then it is the step that
the program was in, and the passes in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph.step_marks import step_marks
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

UNTOLD: Final = -1
"""In the place of a number that a log does not tell."""

_TURN: Final = 20
"""So many bits behind that of the step tell what is in it."""


class Clock:
    """Tells when the rows of a log are in the run.

    Args:
        log: The log.

    Attributes:
        is_sampled: Whether steps were left out.
        is_whole: Whether all rows of all steps are there.
    """

    def __init__(self, log: Log) -> None:
        marks = step_marks(log)
        self._first = log.first
        self._ends, self._counts = marks.rows, marks.counts
        self._begins = training(log).backward_begins
        self.is_sampled = int(log.metadata.get("every", 1)) > 1
        self.is_whole = not self.is_sampled and log.first == 0

    def turns(self, rows: np.ndarray) -> np.ndarray:
        """How many steps the program had made; 0 throughout in a whole log."""
        if self.is_whole or not len(self._ends):
            return np.zeros(len(rows), np.int64)
        behind = np.searchsorted(self._ends, rows)
        return np.asarray(np.append(self._counts[0] - 1, self._counts)[behind])

    def passes(self, rows: np.ndarray) -> np.ndarray:
        """How many backward passes had begun; but for a whole log, since the step before ended."""
        begun = np.searchsorted(self._begins, rows)
        if self.is_whole:
            return begun
        starts = np.append(self._first, self._ends)[np.searchsorted(self._ends, rows)]
        return np.asarray(begun - np.searchsorted(self._begins, starts))

    def ended(self, rows: np.ndarray) -> np.ndarray:
        """How many of the steps that are there had ended."""
        return np.searchsorted(self._ends, rows)

    def keys(self, rows: np.ndarray, kinds: np.ndarray | None = None) -> np.ndarray:
        """For rows, ascending, a number each by which ranks have them in common: of a whole log their places among all.

        Args:
            rows: Rows of the log.
            kinds: What each is, where places are counted among those of one kind.
        """
        kinds = np.zeros(len(rows), np.int64) if kinds is None else kinds
        turns = self.turns(rows)
        order = np.lexsort((rows, turns, kinds))
        begins = np.ones(len(rows), bool)
        begins[1:] = (np.diff(turns[order]) != 0) | (np.diff(kinds[order]) != 0)
        places = np.arange(len(rows))
        found = np.empty(len(rows), np.int64)
        found[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
        return found + (turns << _TURN)

    def begins_within(self, rows: np.ndarray) -> np.ndarray:
        """Which rows are of the step that was under way at the first row: what there was of it ahead is unknown."""
        if self._first == 0 or not len(self._ends):
            return np.zeros(len(rows), bool)
        return np.asarray(rows <= self._ends[0])


def in_common(one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the same numbers stand among some, and among others: mostly all do, in the same order."""
    if np.array_equal(one, two):
        places = np.arange(len(one))
        return places, places
    _, here, there = np.intersect1d(one, two, return_indices=True)  # of a damaged log, some come twice
    return here, there


def turn_of(key: int) -> int:
    """How many steps had been made then, by a key of a log that is not whole; 0 of one that is."""
    return key >> _TURN


def follow(keys: np.ndarray) -> np.ndarray:
    """Of keys of steps from the second one on, whether each is of the step behind that ahead of it."""
    return np.isin(np.diff(keys), (1, 1 << _TURN))
