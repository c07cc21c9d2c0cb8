"""A log, read twice for the two threads of a screen; what both need first is read once, while the screen is loaded."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread

from graphscope.eventlog.reader import Log, load
from graphscope.graph.outline import steps
from graphscope.graph.pass_marks import pass_marks
from graphscope.graph.reading import hand_over
from graphscope.graph.step_marks import step_marks
from graphscope.graph.step_numbers import step_numbers


class ReadAhead:
    """The steps of a log, read by a thread from now on.

    Args:
        path: Where the log is.

    Raises:
        LogError: It can't be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.shown: Log = load(path)
        """The log, for the screen's thread; nobody may read of it until `finish`."""
        self._reading = Thread(target=self._read, daemon=True)
        self._reading.start()
        self.ours: Log = load(path)
        """The same for the debugger's thread."""

    def _read(self) -> None:
        with suppress(Exception):  # whoever asks for them meets it again
            step_numbers(self.shown)

    def finish(self) -> None:
        """Wait until the steps are read; both know them then."""
        self._reading.join()
        self.ours.know(self.shown)
        hand_over(self.shown, self.ours, pass_marks, step_marks, steps, step_numbers)
