"""The run as a sequence of training steps and backward passes, from the marks of the log alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


@dataclass(frozen=True)
class Passes:
    """Rows of marks, ascending."""

    steps: list[int]
    """Ends of training steps."""
    begins: list[int]
    """Begins of backward passes."""
    ends: list[int]
    """Ends of backward passes."""

    def step_of(self, row: int) -> int:
        """The number of the training step that a row belongs to, from 1 on."""
        return bisect_left(self.steps, row) + 1

    def span_of(self, step: int, log: Log) -> tuple[int, int]:
        """First and last row of a training step."""
        first = self.steps[step - 2] + 1 if 2 <= step <= len(self.steps) + 1 else log.first
        last = self.steps[step - 1] if step <= len(self.steps) else log.end - 1
        return first, last

    def begin_of(self, row: int) -> int | None:
        """Where the backward pass began that a row lies in; None outside of one."""
        place = bisect_right(self.begins, row) - 1
        if place < 0:
            return None
        begin = self.begins[place]
        over = bisect_right(self.ends, begin)
        return begin if over >= len(self.ends) or self.ends[over] >= row else None


def passes_of(log: Log) -> Passes:
    """The passes of a log as it is now."""
    marks = log.rare()
    kinds = np.zeros(len(marks), np.uint8)
    for first, events in log.chunks():
        low, high = np.searchsorted(marks, (first, first + len(events)))
        kinds[low:high] = events["kind"][marks[low:high] - first]
    return Passes(*(marks[kinds == kind].tolist() for kind in (Kind.STEP, Kind.BACKWARD_BEGIN, Kind.BACKWARD_END)))
