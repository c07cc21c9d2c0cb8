"""One segment of a log as it lies on disk, for readers."""

from __future__ import annotations

from typing import Final

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.files import LogFiles
from graphscope.eventlog.mapped import release
from graphscope.eventlog.segment_values import SegmentValues

AROUND: Final = 1 << 17
"""A system maps so many bytes around a row and its value when they are looked at."""
MOST_SEEN: Final = 1 << 25
"""So many bytes are looked at before the system may have their memory back."""

_HOLES: Final = 1024
"""So many rows may be reserved and not written yet, ahead of one that is."""


class Segment:
    """The mapped arrays of one segment; whatever is missing or cut is empty or shorter."""

    __slots__ = ("_arrays", "_files", "_rare", "_values", "events", "first", "folder")

    def __init__(self, files: LogFiles, folder: str, first: int, event: np.dtype) -> None:
        self._files = files
        self.folder = folder
        self.first = first
        self._arrays: dict[str, np.ndarray] = {}
        self._values: SegmentValues | None = None
        self._rare: tuple[int, np.ndarray] = 0, np.zeros(0, np.uint32)
        self.events = schema.widened(self.array("events.npy", event))

    def rare(self) -> np.ndarray:
        """The rows that `rare.npy` lists, ascending, but for those that are not written yet."""
        listed = self.array("rare.npy", schema.ROW_NUMBER)
        known, places = self._rare
        count = filled(listed, known)
        if count > known:
            new = listed[known:count]
            inside = (new > self.first) & (new <= self.first + len(self.events))
            later = each_once((new[inside] - np.uint64(self.first + 1)).astype(np.uint32))
            written = self.events["kind"][later] != 0
            if len(later) * AROUND > MOST_SEEN >> 3:  # they lie everywhere in it
                self.release()
            found = np.concatenate([places, later[written]])
            if len(places) and len(later) and later[0] <= places[-1]:  # threads append to one log
                found = each_once(found)
            if written.all() and new.all():
                self._rare = count, found
            places = found
        return places.astype(np.int64) + self.first

    @property
    def dropped(self) -> bool:
        """Whether the budget has taken the values."""
        return not self._files.exists(f"{self.folder}/values.npy")

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        found = self._arrays.get(name)
        if found is None:
            found = self._files.array(f"{self.folder}/{name}", dtype)
            self._arrays[name] = found
        return found

    @property
    def values(self) -> SegmentValues:
        """The bytes of its values; none when they were dropped."""
        found = self._values
        if found is None:
            found = self._values = self._files.values(self.folder)
        return found

    def release(self) -> None:
        """Let the system have back the memory of what was looked at: a long log is larger than that."""
        for array in self._arrays.values():
            release(array)
        if self._values is not None:
            self._values.release()

    @property
    def extent(self) -> int:
        """So many bytes of it, at most, were looked at since the system could have their memory back."""
        mapped = sum(array.nbytes for array in self._arrays.values())
        return mapped + (0 if self._values is None else self._values.extent)


def filled(entries: np.ndarray, low: int = 0) -> int:
    """The place behind the last entry that is written. They fill from the front, but threads leave holes."""
    low, step = min(low, len(entries)), 64
    while low < len(entries):
        written = np.flatnonzero(entries[low : low + step + _HOLES])
        if len(written) == 0:
            break
        low += int(written[-1]) + 1
        step *= 2
    return low
