"""What a log lets go of: segments before the newest steps, and the oldest values when the budget is spent."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from graphscope.errors import LogError
from graphscope.eventlog import nonfinite
from graphscope.eventlog.appender import compiled
from graphscope.eventlog.interruptions import forgiving
from graphscope.eventlog.mapped import MappedArray
from graphscope.eventlog.notices import say
from graphscope.eventlog.reader import load
from graphscope.eventlog.segment import BESIDE, FIRST_ROWS, MOST_BYTES, MOST_ROWS, Segment, Spare, discard

_DIRTY: Final = 20.0
"""Seconds that pages stay faulted in once they were written. Systems write them out after a while (Linux after 30 s by
default), and then each is faulted in again when it is written."""


class _Held(NamedTuple):
    """Values that are on disk."""

    folder: Path
    size: int
    made: float
    map: MappedArray | None
    """Kept where the file was written before: such a log goes round, and will come to this one again."""
    writing: weakref.ref[Segment]
    is_reserved: bool
    """Whether all of its disk space was, when it was made; else the file is not used again."""


class _Rows(NamedTuple):
    """A segment that is on disk."""

    first: int
    folder: Path
    size: int
    """Bytes of all but its values."""


_SMALLEST_RING: Final = 1 << 22
_NO_VALUES: Final = 1 << 16
"""Bytes for values in a segment that need hold none."""
_NO_ROW: Final = 1 << 62
_AGAIN: Final = 4
"""So many folders that could not go are tried again whenever a segment is dropped."""
_MOST_HELD: Final = 4
"""What was there is held at so many remarkable moments."""


class Retention:
    """The segments of a log that are on disk, oldest first.

    Args:
        budget: Bytes of values that may be held; the newest segment keeps its own in any case.
        steps: Keep only the newest so many steps (None: all).
        is_ring: Whether the budget is that of rows and values together: the oldest segments go whole.

    Raises:
        LogError: That holds nothing.
    """

    def __init__(self, budget: int, steps: int | None, *, is_ring: bool = False) -> None:
        if steps is not None and steps < 1:
            raise LogError(f"keep_last={steps} keeps nothing", hint="give 1 or more")
        if budget < (least := _SMALLEST_RING if is_ring else 1):
            raise LogError(f"a budget of {budget:,} bytes is too small", hint=f"the least is {least:,}")
        self._budget = budget
        self._steps = steps
        self.lets_go_of_steps = is_ring
        """Whether a segment is dropped when newer steps fill the next ones."""
        most_rows = budget // (8 * BESIDE) if is_ring else MOST_ROWS
        self.first_rows = FIRST_ROWS
        """So many rows the first segment has."""
        self.most_rows = min(max(1 << most_rows.bit_length() - 1, FIRST_ROWS), MOST_ROWS)
        """So many rows a segment may have, for the oldest to go bit by bit."""
        self._held = 0
        self._segments: deque[_Rows] = deque()
        self._values: deque[_Held] = deque()
        self._step_rows: deque[int] = deque()
        self._left: deque[Path] = deque()
        """Folders of dropped segments: on a server a file that is mapped stays, under another name, while it is."""
        self._oldest = -1
        self._lock = threading.RLock()
        self._trimming = False
        self._holds = False
        """Whether to hold what is there when what is dropped now has gone."""
        self._is_short = False
        """Whether it was said that rows of the steps that are to be kept had to go."""

    def most_bytes(self, policy: str) -> int:
        """Bytes for values in a segment: a quarter of the budget, for the oldest to go bit by bit."""
        return _NO_VALUES if policy == "none" else max(min(MOST_BYTES, self._budget // 4), _NO_VALUES)

    def add(self, segment: Segment) -> None:
        """A segment was made; it has a folder."""
        if segment.folder is not None:
            values = segment.value_map
            self._segments.append(_Rows(segment.first, segment.folder, segment.size - values.size))
            kept = values if segment.in_memory else None
            held = _Held(segment.folder, values.size, time.monotonic(), kept, weakref.ref(segment), segment.is_reserved)
            self._values.append(held)
            self._trim()

    def make_room(self, size: int, rows: int) -> Spare | None:
        """Drop the oldest values, if it takes that to hold `size` bytes more; of a ring the oldest segments.

        Args:
            size: Bytes of values.
            rows: So many rows come with them.

        Returns:
            A file that held values, to be used again: its pages are in memory and on disk already. None: there is none,
            or it may still be written to or read unawares.
        """
        spare: Spare | None = None
        with self._dropping() as is_alone:
            while is_alone and self._values and sum(held.size for held in list(self._values)) + size > self._budget:
                spare = _drop_values(self._values.popleft(), spare)
            if is_alone:
                self._trim_steps(size + rows * BESIDE)
        return spare

    def hold(self) -> None:
        """Let go of nothing that is there now."""
        with self._lock:
            if self._trimming:  # a signal handler in the middle of it
                self._holds = True
            elif self._held < _MOST_HELD:
                self._held += 1
                self._segments.clear()
                self._values.clear()

    def step(self, row: int) -> None:
        """A step ended with this row; drop the segments that lie before the newest steps."""
        if self.lets_go_of_steps:
            self._step_rows.append(row)
            if len(self._step_rows) > (self._steps or 1):
                self._trim()

    @contextlib.contextmanager
    def _dropping(self) -> Iterator[bool]:
        """Drop something; False: in a signal handler or finalizer in the middle of that, and it sees to the rest."""
        with self._lock:
            if self._trimming:
                yield False
                return
            self._trimming = True
            try:
                yield True
            finally:
                self._trimming = False
                if self._holds:
                    self._holds = False
                    self.hold()

    def _trim(self) -> None:
        with self._dropping() as is_alone:
            if is_alone:
                self._trim_steps()

    def _trim_steps(self, room: int = 0) -> None:
        while len(self._step_rows) > (self._steps or 1):
            self._oldest = self._step_rows.popleft()
        while len(self._segments) > 1:
            following = self._segments[1].first
            if self._steps is None or following > self._oldest + 1:
                if not self._is_spent(room):
                    break
                if following > self._begin_of_newest() + 1:
                    self._tell_short()
            folder = self._segments.popleft().folder
            if self._values and self._values[0].folder == folder:
                self._values.popleft()
            self._clear(_AGAIN)
            if (left := _remove(folder)) is not None:
                self._left.append(left)

    def clear(self) -> None:
        """Remove what is left of dropped segments, as far as nobody reads it any more."""
        with self._dropping() as is_alone:
            if is_alone:
                self._clear(len(self._left))

    def _clear(self, most: int) -> None:
        for _ in range(min(most, len(self._left))):
            folder = self._left.popleft()
            if not discard(folder):
                self._left.append(folder)

    def _tell_short(self) -> None:
        """Say, once, that the budget does not hold what was asked for."""
        if not self._is_short:
            self._is_short = True
            steps = "a step takes" if self._steps in (None, 1) else f"the newest {self._steps} steps take"
            say(f"{steps} more than the budget of {self._budget:,} bytes: the log has the newest part of them")

    def _begin_of_newest(self) -> int:
        """The row ahead of the steps that are to be kept, as far as is known."""
        return self._oldest if self._oldest >= 0 else next(iter(self._step_rows), _NO_ROW)

    def _is_spent(self, room: int) -> bool:
        """Whether more would be held than may be, with so many bytes more."""
        held = sum(each.size for each in self._segments) + sum(each.size for each in self._values)
        return self.lets_go_of_steps and held + room > self._budget

    def wants_growth(self, first: int) -> bool:
        """Whether segments are worth being larger than one that began at row `first`, and is full now.

        Where only the newest steps are kept, a segment that holds as many steps as are kept is large enough.
        """
        return self._steps is None or sum(row >= first for row in list(self._step_rows)) < self._steps


def _drop_values(held: _Held, spare: Spare | None) -> Spare | None:
    """Drop a segment's values; the file to use again, `spare` where there is one already."""
    folder = held.folder
    values = folder / "values.npy"
    if not compiled:
        # Whether a value was finite is known for ever: it is flagged before the value goes.
        with forgiving(OSError, ValueError, LogError):
            nonfinite.flag(load(folder.parent.parent), int(folder.name))
    with forgiving(OSError):
        # Without the compiled part, readers scan values that may be dropped meanwhile.
        if compiled and held.is_reserved and held.writing() is None and spare is None:
            kept = folder.parent.parent / f"{folder.name}.spare"
            values.rename(kept)
            in_memory = time.monotonic() - held.made < _DIRTY
            return Spare(kept, in_memory, held.map if in_memory else None)
        values.unlink(missing_ok=True)
    return spare


def _remove(folder: Path) -> Path | None:
    """Remove the folder of a segment; what it is called if it can't go yet."""
    # Its name goes first, all at once: no reader is to see half a segment.
    dropped = folder.with_name(f"{folder.name}.dropped")
    with forgiving(OSError):
        folder.rename(dropped)
    return None if discard(dropped) else dropped
