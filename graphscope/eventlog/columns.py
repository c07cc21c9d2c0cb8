"""Fields of all rows of a log, each in a stretch of memory of its own: a row has many, and who reads a log asks few."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog import schema

if TYPE_CHECKING:
    from graphscope.eventlog.rows import Rows

_KEPT: Final = frozenset(schema.EVENT.names or ()) - {"time", "duration", "value", "inputs"}
"""What is the same wherever a line runs, or counts rows: small numbers, whatever room a row has for them."""
_MOST: Final = 3 << 26
"""So many bytes are kept at most."""
_SHORT: Final = 1 << 18
"""Of a log of so many rows all are read at once: its memory is gone through once, not for each."""
_BLOCK: Final = 1 << 13


class Columns:
    """The fields that were asked for last, as narrow as their numbers; all go when the log has grown."""

    def __init__(self) -> None:
        self._extent = (0, 0)
        self._kept: dict[str, np.ndarray] = {}

    def known(self, rows: Rows, field: str) -> np.ndarray | None:
        """A field of all rows from the first on, if it is at hand."""
        kept = self._kept  # another thread may begin anew
        if self._extent != (rows.first, rows.end):
            return None
        return kept.get(field)

    def whole(self, rows: Rows, field: str) -> np.ndarray | None:
        """The same, read if it has to be; None of what is not kept."""
        found = self.known(rows, field)
        if found is not None or field not in _KEPT:
            return found
        if self._extent != (rows.first, rows.end):
            self._extent, self._kept = (rows.first, rows.end), {}
        kept = {**self._kept, **_read(rows, _KEPT if len(rows) <= _SHORT else {field})}
        found = kept[field]
        while len(kept) > 1 and sum(each.nbytes for each in kept.values()) > _MOST:
            del kept[next(iter(kept))]
        self._kept = kept
        return found


def _read(rows: Rows, fields: Iterable[str]) -> dict[str, np.ndarray]:
    """Fields of all rows, in as few bytes as their numbers need; 0 for rows that are not there."""
    columns = {field: np.zeros(len(rows), np.uint8) for field in fields}
    for first, events in rows.chunks():
        for start in range(0, len(events), _BLOCK):  # what is in the processor's cache
            block = events[start : start + _BLOCK]
            place = first - rows.first + start
            for field, column in columns.items():
                part = np.ascontiguousarray(block[field])
                if (most := part.max()) > np.iinfo(column.dtype).max:
                    columns[field] = column = column.astype(np.min_scalar_type(most))
                column[place : place + len(part)] = part
    return columns
