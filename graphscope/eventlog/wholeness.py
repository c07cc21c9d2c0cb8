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
    most = dict.fromkeys(_NAMED, 0)
    for _, rows in log.chunks():
        for table, column in _NAMED.items():
            most[table] = max(most[table], int(rows[column].max()))
    short = next((table for table, number in most.items() if len(log.table(table)) < number), "")
    return f"its table of {short} is cut or gone" if short else ""
