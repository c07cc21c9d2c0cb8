"""What is not there of a log: files that were cut, copied in part, or that a server has not got yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.eventlog import schema

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_NAMED: Final = {"ops": "op", "sites": "site", "shapes": "shape", "attrs": "attrs", "scopes": "scope"}
"""Tables, and the columns that name their entries."""

_BESIDE: Final = {"edges.npy": schema.EDGE, "outputs.npy": schema.OUTPUT, "values.npy": schema.BYTE}
"""What lies beside the rows of a segment."""


def cut(log: Log) -> str:
    """The first file that is cut or gone, as words; empty where all are there but for values, which may be dropped."""
    segments = log.files.segments()
    for first, folder in segments:
        for name, dtype in (("events.npy", schema.event_of(log.metadata["format"])), *_BESIDE.items()):
            there, whole = log.files.lengths(f"{folder}/{name}", dtype)
            if there < whole:
                return f"its {folder}/{name} is cut"
            if not whole and name not in _BESIDE and (first, folder) in log.files.segments():  # else dropped meanwhile
                return f"its {folder}/{name} is gone"
    return "" if segments else "its segments are gone"


def unnamed(log: Log) -> str:
    """The first table that lacks what rows name, as words; empty where none does. Looks at all rows."""
    short = next((table for table, column in _NAMED.items() if len(log.table(table)) < _most(log, column)), "")
    return f"its table of {short} is cut or gone" if short else ""


def _most(log: Log, column: str) -> int:
    """The largest number that rows have in a column."""
    if column in schema.REPEATED:
        return int(log.repeated().distinct[column].max())
    starts = range(log.first, log.end, _STRETCH)
    return max((int(log.column(column, start, start + _STRETCH).max()) for start in starts), default=0)


_STRETCH: Final = 1 << 18
"""So many rows are looked at together."""
