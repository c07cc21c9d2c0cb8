"""Following a recording that goes on: what looks at it is called again, as often as that does not slow the program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter
from typing import Final

from graphscope.errors import LogError
from graphscope.eventlog.ownership import is_live
from graphscope.eventlog.reader import Log, load

__all__ = ["Following", "is_going_on"]

PAUSE: Final = 1.0
"""Seconds between two looks, at least."""

SHARE: Final = 9.0
"""So many times what a look took is waited before the next: a tenth of the time at most is taken from the program."""


def is_going_on(log: Log) -> bool:
    """Whether some process records to a log now."""
    return not log.closed and is_live(log.path)


class Following:
    """Calls a function with the log whenever it has grown, from a thread of its own, until the recording has ended.

    Args:
        log: The log that is recorded; it is read by another object, so that the program may read this one meanwhile.
        grown: What is to be called.
    """

    def __init__(self, log: Log, grown: Callable[[Log], None]) -> None:
        self._log = log  # a recording in memory lives as long as this object
        self._grown = grown
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="graphscope view", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Call no more."""
        self._ended.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        seen, pause, goes_on = -1, 0.0, True
        while goes_on and not self._ended.wait(pause):
            try:
                goes_on = is_going_on(self._log)  # asked first: what is written after it was asked is read below
                log = load(self._log.path)
            except LogError:  # it is gone
                return
            begun = perf_counter()
            if log.end > seen:
                seen = log.end
                self._grown(log)
            pause = max(PAUSE, SHARE * (perf_counter() - begun))
