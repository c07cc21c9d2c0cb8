"""Values that are not here yet when their rows are written, as those that an accelerator still computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from graphscope.eventlog import schema
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.eventlog.segment import Segment

fetching: Final[list[Callable[[], None]]] = []
"""What waits for all that was promised to rows, and gives it to them: of each producer that promises values."""


def fetch() -> None:
    """Let all rows that are written have their values, before somebody reads them or their segment is full."""
    for each in fetching:
        each()


class Awaited:
    """What a row is given in place of its value: until that has come, the row says that it has none.

    Args:
        lies: Told the number of the row, as `append` returns it, when that is written.
        of: What the value is had from, which has to stay until then.
    """

    __slots__ = ("_of", "lies")

    def __init__(self, lies: Callable[[int], None], of: Any) -> None:
        self.lies = lies
        self._of = of


class Waiting:
    """Rows of a segment that wait for something.

    Args:
        segment: The one that is written.
        rows: Their numbers, as the log counts.
    """

    def __init__(self, segment: Segment, rows: np.ndarray) -> None:
        self._segment = segment
        self._here = (rows >= segment.first) & (rows < min(segment.next_row, segment.end))
        self._rows = rows[self._here]
        start = segment.origin + segment.first * schema.EVENT.itemsize
        self._events = np.frombuffer(segment.rows, schema.EVENT, segment.end - segment.first, start)
        self._places = (self._rows - segment.first).astype(np.intp)

    def take(self, contents: np.ndarray) -> None:
        """Their values are here.

        Args:
            contents: Of each row as many bytes as all have, in rows of an array.
        """
        if len(self._places):
            starts = self._segment.value_start + self._events["value"][self._places].astype(np.intp)
            memory = np.frombuffer(self._segment.values, np.uint8)
            # To name each byte by its place would take eight times the memory.
            sliding_window_view(memory, contents.shape[1], writeable=True)[starts] = contents[self._here]

    def take_inline(self, contents: np.ndarray) -> None:
        """Their values are here, that lie in the rows themselves: 8 bytes each, as a number."""
        self._events["value"][self._places] = contents[self._here]

    def say(self, keep: int, is_finite: np.ndarray) -> None:
        """Let the rows say that the values are there, kept so (0: not at all), and which hold NaN or Inf."""
        self._events["flags"][self._places] |= np.uint16(keep)
        bad = ~is_finite[self._here]
        self._events["flags"][self._places[bad]] |= np.uint16(Flag.NONFINITE)
        for row in self._rows[bad].tolist():
            self._segment.list_rare(row)

    def took(self, durations: np.ndarray) -> None:
        """So many nanoseconds each row's op ran."""
        self._events["duration"][self._places] = durations[self._here]
