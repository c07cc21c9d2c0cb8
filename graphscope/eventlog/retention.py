"""What a log lets go of: segments before the newest steps, and the oldest values when the budget is spent."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections import deque
from pathlib import Path

from graphscope.errors import LogError
from graphscope.eventlog import nonfinite
from graphscope.eventlog.reader import load


class Retention:
    """The segments of a log that are on disk, oldest first.

    Args:
        budget: Bytes of values that may be held; the newest segment keeps its own in any case.
        steps: Keep only the newest so many steps (None: all).
    """

    def __init__(self, budget: int, steps: int | None) -> None:
        self._budget = budget
        self._steps = steps
        self._segments: deque[tuple[int, Path]] = deque()
        self._values: deque[tuple[Path, int]] = deque()
        self._step_rows: deque[int] = deque()
        self._oldest = -1
        self._lock = threading.RLock()
        self._trimming = False

    def add(self, folder: Path, first: int, value_bytes: int) -> None:
        """A segment was made; drop the oldest values where there are too many now."""
        self._segments.append((first, folder))
        self._values.append((folder, value_bytes))
        self._trim()

    def step(self, row: int) -> None:
        """A step ended with this row; drop the segments that lie before the newest steps."""
        if self._steps is not None:
            self._step_rows.append(row)
            if len(self._step_rows) > self._steps:
                self._trim()

    def _trim(self) -> None:
        with self._lock:
            if self._trimming:  # a signal handler or finalizer in the middle of it: the next one sees to the rest
                return
            self._trimming = True
            try:
                self._trim_steps()
                while len(self._values) > 1 and sum(size for _, size in list(self._values)) > self._budget:
                    folder, _ = self._values.popleft()
                    _drop_values(folder)
            finally:
                self._trimming = False

    def _trim_steps(self) -> None:
        while self._steps is not None and len(self._step_rows) > self._steps:
            self._oldest = self._step_rows.popleft()
        while len(self._segments) > 1 and self._segments[1][0] <= self._oldest + 1:
            _, folder = self._segments.popleft()
            if self._values[0][0] == folder:
                self._values.popleft()
            _remove(folder)

    def wants_growth(self, first: int) -> bool:
        """Whether segments are worth being larger than one that began at row `first`, and is full now.

        Where only the newest steps are kept, a segment that holds as many steps as are kept is large enough.
        """
        return self._steps is None or sum(row >= first for row in list(self._step_rows)) < self._steps


def _drop_values(folder: Path) -> None:
    # Whether a value was finite is known for ever: it is flagged before the value goes.
    with contextlib.suppress(OSError, ValueError, LogError):
        nonfinite.flag(load(folder.parent.parent), int(folder.name))
    with contextlib.suppress(OSError):
        (folder / "values.npy").unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    # Its name goes first, all at once: no reader is to see half a segment.
    dropped = folder.with_name(f"{folder.name}.dropped")
    with contextlib.suppress(OSError):
        folder.rename(dropped)
    shutil.rmtree(dropped, ignore_errors=True)
