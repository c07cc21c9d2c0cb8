"""The course of an optimizer's learning rate: of all its steps where the series tell it, else of those in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.graph import series
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.unrecorded_steps import title_in_series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.training import Training


class Course(NamedTuple):
    """The learning rates of an optimizer, step by step."""

    log: Log
    rates: np.ndarray
    """The rate of each step, the largest of several groups."""
    counts: np.ndarray
    """Which step of the program each was, counted from 1."""
    rows: np.ndarray
    """The marks of those that are in the log."""
    recorded: np.ndarray
    """Which steps those are, counted likewise."""

    @property
    def leaves_out(self) -> bool:
        """Whether the optimizer made more steps than are in the log."""
        return self._is_of_all or int(self.log.metadata.get("every", 1)) > 1

    @property
    def _is_of_all(self) -> bool:
        """Whether the series tell of the steps that are not in the log: of several rates in one step they tell one."""
        return len(self.rates) > len(self.rows)

    def row(self, place: int) -> int:
        """The mark of a step, by its place; of one that is not in the log, that of the next one."""
        if not self._is_of_all:
            return int(self.rows[place])
        return int(self.rows[min(np.searchsorted(self.recorded, self.counts[place]), len(self.rows) - 1)])

    def title(self, place: int) -> str:
        """What the step at a place is called."""
        if not self._is_of_all:
            return step_numbers(self.log).title(int(self.rows[place]))
        return title_in_series(self.log, int(self.counts[place]))

    def is_scheduled_in_each_step(self, scheduled: np.ndarray) -> bool:
        """Whether a scheduler is stepped as often as the optimizer, as far as that is sure.

        What runs behind the end of a step is in the log if the next one is. An epoch may end each time where recording
        goes on after others that were left out, so only two steps in a row tell, or the rates of all steps.

        Args:
            scheduled: The rows in which the scheduler was stepped.
        """
        if not self.leaves_out:
            return len(scheduled) >= len(self.rows) - 1
        changes = np.count_nonzero(np.diff(self.rates)) if self._is_of_all else 0
        in_a_row = np.diff(self.recorded) == 1
        between = np.diff(np.searchsorted(scheduled, self.rows)) > 0
        return bool((in_a_row.any() and between[in_a_row].all()) or changes >= len(self.rates) - 2)


def course(read: Training, rows: np.ndarray) -> Course:
    """The course of the rate of an optimizer.

    Args:
        read: The training of a log.
        rows: The marks of the optimizer's steps; at least one.
    """
    rates = np.fmax.reduce(read.rates(rows), axis=1)
    numbers = step_numbers(read.log)
    places = numbers.steps.places(rows)
    counts = np.append(numbers.counts, 0)[places]
    found = Course(read.log, rates, counts, rows, counts)
    every = series.every_step(read.log)
    every = every[(every["step"] >= counts[0]) & (every["step"] <= counts[-1]) & ~np.isnan(every["rate"])]
    own = np.isin(every["step"], counts)
    is_of_it = np.array_equal(every["step"][own], counts) and np.array_equal(every["rate"][own], rates)
    return found._replace(rates=every["rate"], counts=every["step"]) if is_of_it else found
