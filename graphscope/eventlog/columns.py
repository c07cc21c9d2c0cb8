"""Fields of all rows of a log, in memory of their own and packed small: who reads a log asks few of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.distances import Distances
from graphscope.eventlog.narrow_numbers import NarrowNumbers
from graphscope.eventlog.repeated import Repeated, read_repeated

if TYPE_CHECKING:
    from graphscope.eventlog.rows import Rows


class Column(Protocol):
    """A field of all rows, from the first of the log on."""

    @property
    def nbytes(self) -> int: ...

    def __len__(self) -> int: ...

    def __getitem__(self, places: np.ndarray | slice, /) -> np.ndarray: ...


_Read = Callable[[np.ndarray], np.ndarray]

_REPEATED: Final = frozenset(schema.REPEATED)
_MOST: Final = 3 << 26
"""So many bytes are kept at most."""
_SHORT: Final = 1 << 18
"""Of a log of so many rows all are read at once, its memory is gone through once, and what names rows is kept as it is:
small enough, and sooner found.
"""
_BLOCK: Final = 1 << 13


def _field(name: str) -> _Read:
    return lambda rows: np.ascontiguousarray(rows[name])


def _source(place: int) -> _Read:
    def read(rows: np.ndarray) -> np.ndarray:
        inside = (rows["input_count"] > place) & ((rows["flags"] & int(schema.Flag.EDGES)) == 0)
        return np.where(inside, (rows["inputs"][:, place] & np.uint64(schema.ROW_MASK)) + np.uint64(1), np.uint64(0))

    return read


SOURCES: Final = tuple(f"inputs[{place}]" for place in range(2))
"""The row of one of the first inputs plus 1, of rows that have their inputs in themselves; 0 of all others."""

_NAMING: Final[Mapping[str, _Read]] = {
    **{name: _field(name) for name in ("tensor", "forward")},
    **{name: _source(place) for place, name in enumerate(SOURCES)},
}
_COUNTING: Final[Mapping[str, _Read]] = {name: _field(name) for name in ("attrs", "version")}
"""How each is read of rows: what names rows, and what counts. What tells of times and values is read where it is asked
for."""


class Columns:
    """The fields that were asked for last, as narrow as their numbers; all go when the log has grown."""

    def __init__(self) -> None:
        self._extent = (0, 0)
        self._kept: dict[str, Column] = {}
        self._repeated: Repeated | None = None

    def copy(self) -> Columns:
        """The same for another reader of the rows, who may see them grow at another time."""
        found = Columns()
        found._extent, found._kept, found._repeated = self._extent, self._kept, self._repeated
        return found

    def known(self, rows: Rows, field: str) -> Column | None:
        """A field of all rows from the first on, if it is at hand."""
        kept, repeated = self._kept, self._repeated  # another thread may begin anew
        if self._extent != (rows.first, rows.end):
            return None
        if field in _REPEATED and repeated is not None:
            return repeated.column(field)
        return kept.get(field)

    def whole(self, rows: Rows, field: str) -> Column | None:
        """The same, read if it has to be; None of what is not kept."""
        if field in _REPEATED:
            return self.repeated(rows).column(field)
        found = self.known(rows, field)
        if found is not None or not (field in _NAMING or field in _COUNTING):
            return found
        self._begin(rows)
        kept = {**self._kept, **_read(rows, {*_NAMING, *_COUNTING} if len(rows) <= _SHORT else {field})}
        found = kept[field]
        while len(kept) > 1 and sum(each.nbytes for each in kept.values()) > _MOST:
            del kept[next(iter(kept))]
        self._kept = kept
        return found

    def repeated(self, rows: Rows) -> Repeated:
        """The fields of which there are few combinations."""
        found = self.known_repeated(rows)
        if found is None:
            self._begin(rows)
            attrs = NarrowNumbers(len(rows))  # to go through the rows of a long log is most of what either takes
            found = read_repeated(rows, attrs)
            self._kept, self._repeated = {**self._kept, "attrs": attrs.column}, found
        return found

    def known_repeated(self, rows: Rows) -> Repeated | None:
        """The same, if it is at hand."""
        found = self._repeated
        return found if self._extent == (rows.first, rows.end) else None

    def _begin(self, rows: Rows) -> None:
        if self._extent != (rows.first, rows.end):
            self._extent, self._kept, self._repeated = (rows.first, rows.end), {}, None


def _read(rows: Rows, fields: Collection[str]) -> dict[str, Column]:
    """Fields of all rows; 0 for rows that are not there."""
    is_short = len(rows) <= _SHORT
    plain = {field: np.zeros(len(rows), np.uint64) for field in fields if is_short and field in _NAMING}
    naming = {field: Distances(rows.first, len(rows)) for field in fields if not is_short and field in _NAMING}
    counting = {field: NarrowNumbers(len(rows)) for field in fields if field in _COUNTING}
    for first, events in rows.chunks():
        for start in range(0, len(events), _BLOCK):  # what is in the processor's cache
            block = events[start : start + _BLOCK]
            place = first - rows.first + start
            for field, named in plain.items():
                named[place : place + len(block)] = _NAMING[field](block)
            for field, distances in naming.items():
                distances.put(place, _NAMING[field](block))
            for field, counted in counting.items():
                counted.put(place, _COUNTING[field](block))
    for distances in naming.values():
        distances.finish()
    return {**plain, **naming, **{field: counted.column for field, counted in counting.items()}}
