"""The marks of backward passes of a whole log, those of passes inside of others too."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


class PassMarks(NamedTuple):
    """Where backward passes begin and end, ascending."""

    rows: np.ndarray
    """The rows of all marks."""
    is_begin: np.ndarray
    """Which of them are of a begin."""
    begins: np.ndarray
    """Those alone."""
    ends: np.ndarray
    """The others."""


@once_a_length
def pass_marks(log: Log) -> PassMarks:
    """The marks of a log as it is now; to look for those of each kind by themselves takes as long again."""
    rows = log.marks(Kind.BACKWARD_BEGIN, Kind.BACKWARD_END)
    is_begin = log.pick("kind", rows) == Kind.BACKWARD_BEGIN
    return PassMarks(rows, is_begin, rows[is_begin], rows[~is_begin])
