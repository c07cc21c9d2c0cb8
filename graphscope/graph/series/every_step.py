"""The series of every training step, also of those that a recording has left out or let go of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.step_series import NAME, NORMS, NORMS_NAME, SERIES
from graphscope.graph.step_marks import step_marks

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def every_step(log: Log) -> np.ndarray:
    """The steps of a log, a SERIES each in their order; none of a log that keeps all of its steps."""
    return _rows(log, NAME, SERIES)


def norms_of_steps(log: Log) -> np.ndarray:
    """The norms of the gradients of those steps of which they were had, a NORMS each, likewise."""
    return _rows(log, NORMS_NAME, NORMS)


def steps_made(log: Log) -> int:
    """How many steps the program has made, those too that are not in the log."""
    every, marks = every_step(log), step_marks(log)
    return int(max(every["step"][-1:].max(initial=0), marks.counts[-1:].max(initial=0)))


def _rows(log: Log, name: str, dtype: np.dtype) -> np.ndarray:
    if not log.files.exists(name):
        return np.zeros(0, dtype)
    rows = log.files.array(name, dtype)
    _, places = np.unique(rows["step"], return_index=True)  # as they are thinned out, some stand there twice
    found = rows[places]
    return np.asarray(found[found["step"] > 0])
