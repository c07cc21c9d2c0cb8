"""Which steps of a rank go on with gradients that the one before has used, and where it clears them ahead of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.ranks.clock import Clock
from graphscope.diagnose.training.optimizer_order import last_before, orders
from graphscope.eventlog.each_once import each_once
from graphscope.graph.step_marks import step_ends

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAST: Final = 2
"""So many steps an optimizer must make for one to be behind another."""


def left_over(log: Log, ends: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The steps, by number, that use gradients which the step before has used, with more added to them.

    Args:
        log: The log.
        ends: Where its steps end.
        steps: Their numbers.
    """
    rows = [order.steps[order.leftovers()] for order in orders(log, _LEAST)]
    places = np.searchsorted(ends, np.concatenate([np.zeros(0, np.int64), *rows]))
    return np.asarray(each_once(steps[places[places < len(ends)]]))


def clear_ahead(log: Log, step: int) -> int:
    """The row in which gradients are cleared, the last ahead of the end of a step; the row of that where none are."""
    ends = step_ends(log)
    at = ends[Clock(log).keys(ends) == step][:1]
    clears = [rows for order in orders(log, _LEAST) for rows in (order.clears, order.cleared_by_hand().rows)]
    last = max((int(row) for rows in clears for row in last_before(rows, at)), default=-1)
    return last if last >= 0 else int(at[0])
