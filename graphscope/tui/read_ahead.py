"""A log, read twice for the two threads of a screen; what both need first is read once, while the screen is loaded."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread

from graphscope.eventlog.reader import Log, load
from graphscope.graph.loop_turns import step_ends
from graphscope.graph.outline import steps
from graphscope.graph.reading import hand_over
from graphscope.graph.step_numbers import step_numbers


class ReadAhead:
    """The steps of a log, read by a thread from now on.

    Args:
        path: Where the log is.

    Raises:
        LogError: It can't be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._log = load(path)
        self._reading = Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        with suppress(Exception):  # whoever asks for them meets it again
            step_numbers(self._log)

    def logs(self) -> tuple[Log, Log]:
        """The log, for one thread each; both know its steps."""
        other = load(self._path)
        self._reading.join()
        other.know(self._log)
        hand_over(self._log, other, step_ends, steps, step_numbers)
        return self._log, other
