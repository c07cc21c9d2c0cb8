"""What is not there of a log: files that were cut, copied in part, or that a server has not got yet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog import schema, step_series
from graphscope.eventlog.ownership import is_live

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_NAMED: Final = {"ops": "op", "sites": "site", "shapes": "shape", "attrs": "attrs", "scopes": "scope"}
"""Tables, and the columns that name their entries."""

_BESIDE: Final = {
    "edges.npy": schema.EDGE,
    "outputs.npy": schema.OUTPUT,
    "rare.npy": schema.ROW_NUMBER,
    "values.npy": schema.BYTE,
}
"""What lies beside the rows of a segment."""

_ALWAYS: Final = ("ops", "sites", "shapes", "attrs")
"""Tables that are made with a log, whatever is in them."""


def owned_up(missing: str) -> str:
    """What is said of a log of which something is missing, and how that comes; nothing of a whole one.

    Args:
        missing: What `cut` says.
    """
    return f"{missing}: the log was cut, or copied in part" if missing else ""


def ended_early(log: Log) -> str:
    """What is said of a log that its program could not write to its end; nothing of another."""
    return f"the recording ended before the program did: {log.stopped}" if log.stopped else ""


def in_part(log: Log) -> str:
    """What is said of a log that does not tell all that its recording was to tell, as words; nothing of a whole one."""
    return "; ".join(filter(None, (owned_up(cut(log)), ended_early(log))))


def cut(log: Log) -> str:
    """The first file that is cut or gone, as words; empty where all are there but for values, which may be dropped."""
    none = "" if log.files.segments() else "its segments are gone"
    return none or next(_lost_of_segments(log), "") or next(_lost(log), "")


def _lost_of_segments(log: Log) -> Iterator[str]:
    """What is cut or gone of the segments."""
    for first, folder in log.files.segments():
        for name, dtype in (("events.npy", schema.event_of(log.metadata["format"])), *_BESIDE.items()):
            if log.files.is_short(f"{folder}/{name}", dtype):
                yield f"its {folder}/{name} is cut"
            is_gone = name != "values.npy" and not log.files.exists(f"{folder}/{name}")
            if is_gone and (first, folder) in log.files.segments():  # else dropped meanwhile
                yield f"its {folder}/{name} is gone"


def _lost(log: Log) -> Iterator[str]:
    """What is cut or gone of the files of the whole log. One that is written may be about to make one of them."""
    if is_live(log.path):
        return
    every = log.metadata.get("every")
    leaves_out = isinstance(every, int) and every > 1
    for name, dtype in ((step_series.NAME, step_series.SERIES), (step_series.NORMS_NAME, step_series.NORMS)):
        yield from _lost_file(log, name, dtype, is_needed=leaves_out)
    for table in schema.TABLES:
        for chunk in count():
            name = f"tables/{table}-{chunk:03d}.npy"
            yield from _lost_file(log, name, schema.BYTE, is_needed=table in _ALWAYS and not chunk)
            if not log.files.exists(name):
                break


def _lost_file(log: Log, name: str, dtype: np.dtype, *, is_needed: bool) -> Iterator[str]:
    if log.files.is_short(name, dtype):
        yield f"its {name} is cut"
    if is_needed and not log.files.exists(name):
        yield f"its {name} is gone"


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
