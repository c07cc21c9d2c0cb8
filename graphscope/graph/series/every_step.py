"""The series of every training step, also of those that a recording has left out or let go of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.step_series import NAME, SERIES

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def every_step(log: Log) -> np.ndarray:
    """The steps of a log, a SERIES each in their order; none of a log that keeps all of its steps."""
    if not log.files.exists(NAME):
        return np.zeros(0, SERIES)
    rows = log.files.array(NAME, SERIES)
    _, places = np.unique(rows["step"], return_index=True)  # as they are thinned out, some stand there twice
    found = rows[places]
    return np.asarray(found[found["step"] > 0])
