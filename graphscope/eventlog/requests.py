"""Requests of other processes to a recording, to hold what it keeps: two counters in a mapped file of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from graphscope.eventlog.mapped import open_mapped, reserve

NAME: Final = "requests.npy"
_COUNTERS: Final = np.dtype("<u8")


class Requests:
    """The end of the process that records.

    Args:
        folder: That of the log.

    Raises:
        OSError: The disk is full.
    """

    def __init__(self, folder: Path) -> None:
        reserve(folder / NAME, _COUNTERS, 2)
        self._map = open_mapped(folder / NAME, _COUNTERS, 2)
        self._heeded = 0

    def heed(self) -> bool:
        """Whether there was a request since this was asked last."""
        asked = self._map.memory[self._map.start]  # the lowest byte
        is_new, self._heeded = asked != self._heeded, asked
        return is_new


class Judgements:
    """The end of a process that judges what is recorded.

    Args:
        folder: That of the log.

    Raises:
        OSError: No process is to ask anything of that log, or it is gone.
    """

    def __init__(self, folder: Path) -> None:
        map = open_mapped(folder / NAME, _COUNTERS, 2)
        self._counters = np.frombuffer(map.memory, _COUNTERS, 2, map.start)

    def request(self) -> None:
        """Ask the recording to hold what it keeps."""
        self._counters[0] += 1

    @property
    def end(self) -> int:
        """The rows ahead of this one were judged."""
        return int(self._counters[1])

    @end.setter
    def end(self, row: int) -> None:
        self._counters[1] = row
