"""What the training steps are called that a program made, those too that a recording left out or let go of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.step_marks import step_marks
from graphscope.graph.step_numbers import StepNumber, step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def names_of_steps(log: Log, counts: np.ndarray) -> list[str | None]:
    """The names of some steps, as far as the marks of others tell them.

    Args:
        log: The log.
        counts: Which steps, counted from 1.

    Returns:
        Of each what the program calls it: `epoch 2, batch 3`. None where the loops may have counted one thing or
        another: no mark is behind it, or the marks around it are of other loops, or of more turns than steps.
    """
    numbers = step_numbers(log)
    recorded = {count: str(numbers.number(place)) for place, count in enumerate(numbers.counts.tolist())}
    marks = step_marks(log)
    counters = marks.counters
    if not counters.widths.any():
        return [recorded.get(count, str(StepNumber(count, {}))) for count in counts.tolist()]
    before = np.searchsorted(marks.counts, counts, side="right") - 1
    low, high = np.maximum(before, 0), np.minimum(before + 1, len(marks.counts) - 1)
    inner = np.maximum(counters.widths[low] - 1, 0)
    differences = counters.columns[high] - counters.columns[low]
    turns = np.take_along_axis(differences, inner[:, None], axis=1).ravel()
    is_same_loop = (counters.which[high] == counters.which[low]) & (np.count_nonzero(differences, axis=1) <= 1)
    is_turn_each = turns == marks.counts[high] - marks.counts[low]
    is_told = (before >= 0) & (counters.widths[low] > 0)
    is_told &= (marks.counts[low] == counts) | (is_same_loop & is_turn_each & (high > low))
    found: list[str | None] = []
    for count, place, told in zip(counts.tolist(), low.tolist(), is_told.tolist(), strict=True):
        name = recorded.get(count)
        if name is None and told:
            *outer, (innermost, value) = counters[place].items()
            name = str(StepNumber(count, {**dict(outer), innermost: value + count - int(marks.counts[place])}))
        found.append(name)
    return found
