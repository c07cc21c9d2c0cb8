"""The rows of a log by absolute number, over the segments that hold them; a log that grows is followed by `refresh`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog import schema
from graphscope.eventlog.awaited import fetch
from graphscope.eventlog.columns import SOURCES, Column, Columns
from graphscope.eventlog.files import LogFiles
from graphscope.eventlog.repeated import Among, Repeated
from graphscope.eventlog.stored_segment import AROUND, MOST_SEEN, Segment, filled

_MANY: Final = 1 << 15
"""Whoever looks at so many rows at once looks at all of a long log."""

_SPREAD: Final = 4
"""Rows are picked out of a column at most so many times as long."""

_LITTLE: Final = 1 << 26
"""So many bytes of a short log may stay in memory: what is read of it is read again and again."""

_GAP: Final = 1 << 24
"""So many rows may be missing (their segments are damaged or gone) ahead of one that is there."""


class Rows:
    """Rows `first <= row < end`; `end` is what was there at the last `refresh`.

    Rows inside may be missing: a thread was killed between reserving and writing one, or they are damaged.
    """

    def __init__(self, files: LogFiles, number: int) -> None:
        self.files = files
        self._event = schema.event_of(number)
        self.path: Path = files.path
        self._segments: list[Segment] = []
        self._starts: list[int] = []
        self._first = 0
        self._columns = Columns()
        self._seen = 0
        """Bytes that were looked at since the system could have their memory back."""
        self.end = 0
        self.lost = ""
        """What has become of its files since it was opened, as `loss_of` found; then no more is looked for."""
        self.refresh()

    @property
    def first(self) -> int:
        """The oldest row that is kept."""
        return self._first

    @property
    def dropped(self) -> int:
        """The row behind the last one whose value the budget has taken; that of the first row where it took none."""
        stops = zip(self._segments, [*self._starts[1:], self.end], strict=True)
        return max((stop for segment, stop in stops if segment.dropped), default=self.first)

    def has_dropped(self, first: int, last: int) -> bool:
        """Whether the budget has taken the values of some of the rows from `first` to `last`."""
        return any(segment.dropped for segment, _ in self._holding(first, last + 1))

    def __len__(self) -> int:
        return self.end - self.first

    def refresh(self) -> bool:
        """Look for rows appended since; True when there are some."""
        before = self.end
        fetch()  # this process may be the one that records
        if self.lost:
            return False
        segments = self.files.segments()
        if segments != [(segment.first, segment.folder) for segment in self._segments]:
            known = {segment.first: segment for segment in self._segments}
            self._segments = _plausible(
                [known.get(first) or Segment(self.files, name, first, self._event) for first, name in segments]
            )
            self._starts = [segment.first for segment in self._segments]
            held = (segment.first for segment in self._segments if len(segment.events))  # the first may be lost
            self._first = next(held, self._starts[0] if self._starts else 0)
        for segment in reversed(self._segments):
            end = self._extent(segment)
            if end > segment.first:  # else it was just made, and is empty yet
                self.end = max(self.end, end)
                break
        self.end = max(self.end, self.first)
        return self.end != before

    def _extent(self, segment: Segment) -> int:
        """The row behind the last one written in a segment."""
        return segment.first + filled(segment.events["kind"], max(self.end - segment.first, 0))

    def holds(self, row: int) -> bool:
        """Whether a row is there: of a ring, those between what was held at a NaN and the newest are not."""
        index = bisect_right(self._starts, row) - 1
        if index < 0 or row >= self.end:
            return False
        kinds = self._segments[index].events["kind"]
        return row - self._starts[index] < len(kinds) and bool(kinds[row - self._starts[index]])

    def _find(self, row: int) -> tuple[Segment, int]:
        index = bisect_right(self._starts, row) - 1
        if index >= 0 and 0 <= row < self.end:
            segment = self._segments[index]
            if row - segment.first < len(segment.events) and segment.events["kind"][row - segment.first] != 0:
                return segment, row - segment.first
        raise self._missing(row)

    def _missing(self, row: int) -> LogError:
        if self.end == self.first:
            return LogError(f"there is no row #{row}: the log {self.path} holds no events yet")
        return LogError(f"there is no row #{row} in {self.path}", hint=f"rows are #{self.first} to #{self.end - 1}")

    def raw(self, row: int) -> np.void:
        """The row as it lies in `events.npy`.

        Raises:
            LogError: There is no such row.
        """
        segment, index = self._find(row)
        return cast(np.void, segment.events[index])

    def know(self, other: Rows) -> None:
        """Take over what another reader of the same log has read of its rows, which nobody writes to."""
        self._columns = other._columns.copy()

    def let_go(self) -> None:
        """Read nothing of it any more."""
        self._segments, self._starts, self.end = [], [], 0

    def _segment(self, row: int) -> Segment:
        return self._segments[bisect_right(self._starts, row) - 1]

    def release(self) -> None:
        """Let the system have back the memory of all that was looked at; it is read again when it is needed."""
        for segment in self._segments:
            segment.release()

    def look(self, places: np.ndarray, size: int) -> None:
        """Say that so many bytes are looked at from each of some places on: the system may have that memory back."""
        self._look(int(np.minimum(np.abs(np.diff(places)), AROUND + size).sum()) + size)

    def _look(self, size: int) -> None:
        """The same of so many bytes: whoever looks at a long log bit by bit has looked at all of it in the end."""
        self._seen += AROUND + size
        if self._seen > MOST_SEEN:
            self._seen = 0
            if not self._is_little():
                self.release()

    def _is_little(self) -> bool:
        """Whether all of it that was looked at, again and again as it may be, is little."""
        return (
            len(self) * self._event.itemsize <= _LITTLE and sum(segment.extent for segment in self._segments) <= _LITTLE
        )

    def _holding(self, start: int, stop: int) -> Iterator[tuple[Segment, int]]:
        """The segments that hold rows of `start <= row < stop`, each with the row at which the next one begins."""
        segments, starts, end = self._segments, self._starts, self.end  # another thread may look for more
        for place in range(max(bisect_right(starts, start) - 1, 0), bisect_left(starts, stop)):
            yield segments[place], (starts[place + 1] if place + 1 < len(starts) else end)

    def chunks(self, start: int | None = None, stop: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Row number of the first, and the rows, of each stretch of `events.npy` between `start` and `stop`."""
        start = self.first if start is None else max(start, self.first)
        stop = self.end if stop is None else min(stop, self.end)
        for segment, following in self._holding(start, stop):
            low = max(start - segment.first, 0)
            high = min(min(stop, following) - segment.first, len(segment.events))
            if low < high:
                yield segment.first + low, segment.events[low:high]
                if high - low < _MANY:
                    self._look((high - low) * segment.events.itemsize)
                elif not self._is_little():
                    segment.release()

    def events(self, start: int | None = None, stop: int | None = None) -> Iterator[np.ndarray]:
        """The rows as they lie on disk, a stretch at a time (unwritten ones have kind 0)."""
        for _, rows in self.chunks(start, stop):
            yield rows

    def column(self, field: str, start: int | None = None, stop: int | None = None) -> np.ndarray:
        """One field of the rows `start <= row < stop`, zero for rows that are not there. Element 0 is row `start`."""
        start, stop = self._between(start, stop)
        dtype = schema.EVENT[field]
        if (known := self._columns.known(self, field)) is not None:
            return known[start - self.first : stop - self.first].astype(dtype)
        column = np.zeros((max(stop - start, 0), *dtype.shape), dtype.base)
        for first, rows in self.chunks(start, stop):
            column[first - start : first - start + len(rows)] = rows[field]
        return column

    def _between(self, start: int | None, stop: int | None) -> tuple[int, int]:
        start = self.first if start is None else max(start, self.first)
        return start, max(self.end if stop is None else min(stop, self.end), start)

    def where(self, among: Among, start: int | None = None, stop: int | None = None) -> np.ndarray:
        """The rows of `start <= row < stop` that are meant, ascending.

        Args:
            among: Which of some rows are meant, as booleans, by their fields `schema.REPEATED` alone.
            start: The first row that may be.
            stop: The row behind the last one.
        """
        start, stop = self._between(start, stop)
        known = (self._columns.repeated if self._is_much(stop - start) else self._columns.known_repeated)(self)
        if known is not None:
            return self.first + known.places(among, start - self.first, stop - self.first)
        found = [first + np.flatnonzero(among(rows)) for first, rows in self.chunks(start, stop)]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def repeated(self) -> Repeated:
        """The fields `schema.REPEATED` of all rows."""
        return self._columns.repeated(self)

    def _is_much(self, count: int) -> bool:
        """Whether so many rows are that large a share of the log that all may as well be looked at."""
        return count >= min(_MANY, len(self) >> 4)

    def _kept(self, field: str, count: int) -> Column | None:
        """A field of all rows, for whoever asks for so many of them."""
        return (self._columns.whole if self._is_much(count) else self._columns.known)(self, field)

    def pick(self, field: str, rows: np.ndarray) -> np.ndarray:
        """One field of the rows of these numbers, in any order; 0 for rows that are not there."""
        dtype = schema.EVENT[field]
        if len(rows) == 0:
            return np.zeros(0, dtype)
        if (kept := self._kept(field, len(rows))) is not None:
            return self._of_kept(kept, rows, dtype)
        if (rows[1:] >= rows[:-1]).all():
            return self._scattered(field, rows)
        picked = np.zeros(len(rows), dtype)
        stop = min(int(rows.max()) + 1, self.end)
        low = max(int(rows.min()), self.first, stop - _SPREAD * len(rows))
        inside = (rows >= low) & (rows < stop)
        column = self.column(field, low, stop)
        picked[inside] = column[rows[inside] - low]
        if inside.all():
            return picked
        far, which = np.unique(rows[~inside], return_inverse=True)  # few, named again and again: leaves
        picked[~inside] = self._scattered(field, far)[which]
        return picked

    def _of_kept(self, column: Column, rows: np.ndarray, dtype: np.dtype) -> np.ndarray:
        stop = self.first + len(column)
        if int(rows.min()) >= self.first and int(rows.max()) < stop:
            return column[rows - self.first].astype(dtype, copy=False)
        picked = np.zeros(len(rows), dtype)
        there = (rows >= self.first) & (rows < stop)
        picked[there] = column[rows[there] - self.first]
        return picked

    def sources(self, rows: np.ndarray, place: int) -> np.ndarray:
        """The row that each of some rows has as its input at a place; -1 where it has none there in itself."""
        if len(rows) and place < len(SOURCES) and (kept := self._kept(SOURCES[place], len(rows))) is not None:
            return self._of_kept(kept, rows, np.dtype(np.int64)) - 1
        inside = (self.pick("input_count", rows) > place) & ((self.pick("flags", rows) & int(schema.Flag.EDGES)) == 0)
        named = (self.pick("inputs", rows)[:, place] & np.uint64(schema.ROW_MASK)).astype(np.int64)
        return np.where(inside, named, -1)

    def _scattered(self, field: str, rows: np.ndarray) -> np.ndarray:
        """One field of ascending rows."""
        picked = np.zeros(len(rows), schema.EVENT[field])
        for segment, following in self._holding(int(rows[0]), int(rows[-1]) + 1) if len(rows) else ():
            stop = min(following, segment.first + len(segment.events))
            low, high = np.searchsorted(rows, (segment.first, stop))
            if low < high:
                picked[low:high] = segment.events[field][rows[low:high] - segment.first]
                span = int(rows[high - 1] - rows[low]) + 1
                self._look(min(int(high - low) * AROUND, span * segment.events.itemsize))
        return picked

    def gaps(self) -> np.ndarray:
        """The rows ahead of which others are missing, as where a ring holds what was there at some moment."""
        pairs = zip(self._segments, self._segments[1:], strict=False)
        return np.array([behind.first for each, behind in pairs if not _reaches(each, behind.first)], np.int64)

    def rare(self, start: int | None = None, stop: int | None = None, among: Among | None = None) -> np.ndarray:
        """Rows of marks and of flagged values, in order; found without a look at the other rows.

        Args:
            start: The first row that may be.
            stop: The row behind the last one.
            among: Which of them are meant, as `where` takes it; all where it is None.
        """
        start, stop = self._between(start, stop)
        if among is None:
            return np.concatenate([np.zeros(0, np.int64), *(rows for _, rows in self._rare(start, stop))])
        if self._columns.known_repeated(self) is not None or self._has_many_marks(start, stop):
            return self.where(lambda rows: among(rows) & _is_rare(rows), start, stop)
        found = [np.zeros(0, np.int64)]
        for segment, rows in self._rare(start, stop):
            self._look(len(rows) * AROUND)
            found.append(rows[among(segment.events[rows - segment.first])])
        return np.concatenate(found)

    def _rare(self, start: int, stop: int) -> Iterator[tuple[Segment, np.ndarray]]:
        for segment, following in self._holding(start, stop):
            rows = segment.rare()
            low, high = np.searchsorted(rows, (start, min(following, stop)))
            yield segment, rows[low:high]

    def _has_many_marks(self, start: int, stop: int) -> bool:
        """Whether rows have so many, if a log goes on as it begins, that to look at them is to look at all of it."""
        if start >= stop or not self._is_much(stop - start):
            return False
        segment = self._segments[0]
        return len(segment.rare()) * (stop - start) >= _MANY * len(segment.events)

    def marks(self, *kinds: schema.Kind, start: int | None = None, stop: int | None = None) -> np.ndarray:
        """Rows of `start <= row < stop` that are marks of some kinds, in order."""
        return self.rare(start, stop, lambda rows: np.isin(rows["kind"], kinds))


def _is_rare(rows: np.ndarray) -> np.ndarray:
    return np.asarray((rows["kind"] > max(schema.NODES)) | ((rows["flags"] & int(schema.RARE_FLAGS)) != 0))


def _reaches(segment: Segment, row: int) -> bool:
    """Whether the row ahead of one is written in a segment."""
    place = row - segment.first - 1
    return place < len(segment.events) and bool(segment.events["kind"][place] != 0)


def _plausible(segments: list[Segment]) -> list[Segment]:
    """Without those that begin farther on than rows can be missing: a foreign folder would make a log look endless."""
    kept: list[Segment] = []
    reach = segments[0].first + _GAP if segments else 0
    for segment in segments:
        if segment.first <= reach:
            kept.append(segment)
            reach += len(segment.events)
    return kept
