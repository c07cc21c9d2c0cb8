"""How much a rank exchanges with others while it trains, and when: single numbers, as losses are, do not count."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


class Exchanged:
    """The collectives of a rank that exchange more than single numbers.

    Args:
        meetings: A MEETING for each of its collectives.
        calls: The ops and shapes that these name.
        begins: Where its backward passes begin.
        updates: The rows of its updates.
        ends: Where its training steps end.
    """

    def __init__(
        self,
        meetings: np.ndarray,
        calls: Sequence[tuple[str, tuple[int, ...]]],
        begins: np.ndarray,
        updates: np.ndarray,
        ends: np.ndarray,
    ) -> None:
        sizes = np.array([math.prod(shape) for _, shape in calls], np.int64)
        is_sum = np.array([op.startswith("all_reduce") for op, _ in calls], bool)
        large = meetings[sizes[meetings["call"]] > 1]
        self._rows = large["row"]
        self._begins, self._ends = begins, ends
        first, last = (begins[0], updates[-1]) if len(begins) and len(updates) else (0, 0)
        is_between = (self._rows > first) & (self._rows < last)
        between = large["call"][is_between]
        self._steps = np.searchsorted(ends, self._rows[is_between])
        self._added = np.where(is_sum[between], sizes[between], 0)

    @property
    def while_training(self) -> bool:
        """Whether there are some from the first backward pass to the last update."""
        return len(self._steps) > 0

    @property
    def in_most_steps(self) -> bool:
        """Whether these are in most steps."""
        return 2 * len(np.unique(self._steps)) > len(self._ends)

    def adds_up(self, count: int) -> bool:
        """Whether so many numbers are added up over the ranks within one of the steps, as in averaging weights."""
        return bool((np.bincount(self._steps, self._added) >= count).any())

    @property
    def ahead_of_passes(self) -> bool:
        """Whether there are some in forward passes, but for that of the first step."""
        begun = np.searchsorted(self._begins, self._rows)
        at_end = np.append(0, np.searchsorted(self._begins, self._ends))[np.searchsorted(self._ends, self._rows)]
        return bool(((begun == at_end) & (begun > 0) & (begun < len(self._begins))).any())
