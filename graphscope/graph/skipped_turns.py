"""Turns of the program's loops that make no step, as of a GradScaler that leaves one out: the log has them in the next.

What loops count is told at the end of that step; in the turns ahead of it they counted less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from graphscope.graph.loop_turns import Counters
    from graphscope.graph.outline.steps import Steps


class SkippedTurns:
    """Which rows lie in such turns, where each turn makes one backward pass.

    Args:
        steps: The steps.
        counters: What loops count at the end of each.
    """

    def __init__(self, steps: Steps, counters: Counters) -> None:
        self._steps, self._counters = steps, counters
        self._passes = np.searchsorted(steps.begins, steps.last + 1) - np.searchsorted(steps.begins, steps.first)
        self._are_single = len(steps) > 1 and float(np.median(self._passes)) == 1

    def behind(self, place: int, row: int) -> int:
        """How many turns of its step lie behind that of a row; 0 where loops did not count each of them.

        Args:
            place: The place of the step.
            row: A row of it.
        """
        count = int(self._passes[place])
        if count < 2 or not self._are_single or not self._counts(place, count):
            return 0
        ended = int(np.searchsorted(self._steps.ends[self._steps.passes_of(place)], row))
        return max(count - 1 - ended, 0)

    def _counts(self, place: int, count: int) -> bool:
        """Whether the innermost loop has turned so many times in a step: once more each time, and in one row."""
        width = int(self._counters.widths[place])
        if not width:
            return False
        own, columns = self._counters.which == self._counters.which[place], self._counters.columns[:, :width]
        first, begun = int(columns[place, -1]) - (count - 1), int(columns[0, -1]) - (int(self._passes[0]) - 1)
        if place == 0:
            return begun in (0, 1)
        if not own[place - 1]:
            return False
        if (columns[place, :-1] == columns[place - 1, :-1]).all():
            return first == int(columns[place - 1, -1]) + 1
        least = int(columns[own, -1].min())
        return first >= (min(least, begun) if own[0] and begun in (0, 1) else least)
