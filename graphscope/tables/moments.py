"""The clock of a log as moments of the calendar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def moments(log: Log, times: np.ndarray) -> np.ndarray:
    """Nanoseconds of a log's clock as microseconds since 1970; hidden where the log has no clock."""
    clock, created = log.metadata.get("clock"), log.metadata.get("created")
    if not isinstance(clock, int) or not isinstance(created, int | float):
        return np.ma.MaskedArray(np.zeros(len(times), np.int64), True)
    return np.asarray((times.astype(np.int64) - clock) // 1000 + round(created * 1e6))
