"""The first loss that is not finite, of all steps of a recording: also of one that was left out or let go of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.graph import series
from graphscope.graph.step_marks import step_marks
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.unrecorded_steps import numbers_in_series, title_in_series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node


class LostLoss(NamedTuple):
    """A loss of the series that is not finite."""

    number: int
    """That of its step in the series."""
    title: str
    """What the program calls the step: `step 163`."""
    loss: float
    before: float
    """The newest finite loss ahead of it; NaN where there is none."""
    row: int
    """Where the next recorded step begins; behind all, the last row."""


def unrecorded_birth(graph: Graph, born: Node | None = None) -> LostLoss | None:
    """The first loss that is not finite, if its step is none of the recorded ones, and ahead of that of a node.

    Args:
        graph: A view: of what comes later, nothing is said.
        born: The first fault that was recorded, if one was.
    """
    log, found = graph.log, first_lost_loss(graph.log)
    recorded = numbers_in_series(log)
    if found is None or found.row > graph.now or not recorded.any() or found.number in recorded:
        return None
    return found if born is None or _is_ahead(log, found.number, born.row) else None


def _is_ahead(log: Log, number: int, row: int) -> bool:
    """Whether a step of the series is ahead of a row; of one that has ended, all are ahead of one that has not."""
    place = step_numbers(log).steps.place(row)
    if place is None:
        return number <= _left_out_ahead(log, row)
    recorded = int(numbers_in_series(log)[place])
    return number < recorded or not recorded


def _left_out_ahead(log: Log, row: int) -> int:
    """The number of the step that was left out and whose turn a row ends, as the averaging of weights may; else 0."""
    marks = step_marks(log)
    newest = int(np.searchsorted(marks.rows, row)) - 1
    return int(marks.counts[newest]) if newest >= 0 and not marks.is_recorded[newest] else 0


def first_lost_loss(log: Log) -> LostLoss | None:
    """The first loss of the series that is not finite."""
    every = series.every_step(log)
    every = every[every["has_loss"]]
    lost = np.flatnonzero(~np.isfinite(every["loss"]))
    if not len(lost):
        return None
    place = int(lost[0])
    number, loss = int(every["step"][place]), float(every["loss"][place])
    before = float(every["loss"][place - 1]) if place else math.nan
    behind = np.flatnonzero(numbers_in_series(log) > number)
    row = int(step_numbers(log).steps.first[behind[0]]) if len(behind) else log.end - 1
    return LostLoss(number, title_in_series(log, number), loss, before, row)


def why_unrecorded(log: Log, number: int) -> str:
    """Why a step of the series is none of those that a recording has."""
    every = int(log.metadata.get("every", 1))
    return left_out(every) if (number - 1) % every else "was let go of (the newest are kept)"


def left_out(every: int) -> str:
    """What is said of a step that is none of the recorded ones."""
    return f"was left out (one of {every} is recorded)"


BEFORE: Final = "loss before"
"""What the newest finite loss is called among what was measured."""

LEFT_OUT: Final = "left-out step"
CURE: Final = (
    "record all steps and keep the newest: `--keep-last 10` holds the first NaN of the loss with what led to it"
)
