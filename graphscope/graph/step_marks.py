"""Where training steps end by the marks of a log, and how many had ended then: what counts steps counts these."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Kind
from graphscope.graph.loop_turns import Counters, counters_of, counts_of
from graphscope.graph.reading import once_a_length
from graphscope.graph.turns_of_steps import ends_of_turns
from graphscope.graph.words import by_entry

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


class StepMarks(NamedTuple):
    """One mark for each step, the last of those that several optimizers make; ascending.

    The first may have two: where its last optimizer was not known yet, and what that does was left out.
    """

    rows: np.ndarray
    counts: np.ndarray
    """Which step each ends, counted from 1 as the program makes them; from the first that is there, where that is all
    that is known."""
    is_recorded: np.ndarray
    """Which of the steps are in the log; behind the end of another, recording goes on."""
    counters: Counters
    """What the loops count that go on from step to step: not one over the optimizers of a step."""


@once_a_length
def step_marks(log: Log) -> StepMarks:
    """The marks of a log as it is now."""
    rows = log.marks(Kind.STEP)
    counts = counts_of(log, rows)
    is_recorded, ends = np.ones(len(rows), bool), np.ones(len(rows), bool)
    for entry, places in by_entry(log, rows):
        is_recorded[places] = not entry.get("left_out")
        ends[places] = not entry.get("goes_on")
    if counts.any():  # the newest step may have been left before its last optimizer came
        counts = np.minimum.accumulate(counts[::-1])[::-1]  # the first of them may have been parts of one
        ends[:-1] = (counts[1:] != counts[:-1]) | (is_recorded[1:] != is_recorded[:-1])
    else:
        ends = ends_of_turns(log, rows, ends)
    found = rows[ends]
    numbers = counts[ends] if counts.any() else np.arange(1, len(found) + 1)
    return StepMarks(found, numbers, is_recorded[ends], _of_steps(log, rows, ends))


def _of_steps(log: Log, rows: np.ndarray, ends: np.ndarray) -> Counters:
    """What loops count at the marks that end steps, without those that have turned between optimizers of one pass."""
    counters, places = counters_of(log, rows), np.flatnonzero(ends)
    last = np.append(places, len(ends) - 1)[np.searchsorted(places, np.arange(len(ends)))]
    begun = np.searchsorted(log.marks(Kind.BACKWARD_BEGIN), rows)
    is_alike = (begun == begun[last]) & (begun > 0) & (counters.which == counters.which[last])
    differs = (counters.columns != counters.columns[last]) & is_alike[:, None]
    widths = np.array([len(names) for names in counters.loops])
    for column in range(differs.shape[1]):
        turned = each_once(counters.which[differs[:, column]])
        widths[turned] = np.minimum(widths[turned], column)
    return counters.shortened(widths).picked(ends)


def step_ends(log: Log) -> np.ndarray:
    """The rows in which the steps end that are in a log."""
    marks = step_marks(log)
    return np.asarray(marks.rows[marks.is_recorded])


def optimizer_steps(log: Log) -> np.ndarray:
    """The rows in which optimizers, or the program itself, have made these steps: of several one each."""
    marks = step_marks(log)
    return np.setdiff1d(log.marks(Kind.STEP), marks.rows[~marks.is_recorded])
