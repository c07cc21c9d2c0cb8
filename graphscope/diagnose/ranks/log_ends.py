"""How the log of a rank ends: where, and whether the program or the recording ended there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.ends import is_the_end
from graphscope.diagnose.ranks.place import NOWHERE, Place
from graphscope.eventlog.names import place_of
from graphscope.eventlog.ownership import is_live
from graphscope.eventlog.schema import NODES, Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_ASKED_FOR: Final = ("KeyboardInterrupt", "SystemExit")
"""What ends programs because somebody wants it."""

_BEFORE_END: Final = 256
"""So many rows from its end back tell where a log ends."""


@dataclass(frozen=True)
class Last:
    """Where a log ends."""

    row: int
    what: str
    """The op of its last row, else what the row says; empty of a log without rows."""
    place: Place
    """The line of it, or of the last row ahead of it that has one."""
    time: float
    """When that was, in seconds since 1970."""
    is_wait: bool = False
    """Whether that is where the newest of the marks is that say that a collective is waited for."""


def state_of(log: Log) -> str:
    """Whether its recording has `ended`, `runs`, or was `killed`; else why it ended ahead of the program."""
    if log.stopped:
        return log.stopped
    return "ended" if log.closed else "runs" if is_live(log.path) else "killed"


def last_of(log: Log) -> Last:
    """Where a log ends."""
    if not len(log):
        return Last(0, "", NOWHERE, 0.0)
    row = log.end - 1
    low = max(log.first, log.end - _BEFORE_END)
    sites, kinds = log.column("site", low, log.end), log.column("kind", low, log.end)
    told = np.flatnonzero(sites)
    place = place_of(log.site(int(sites[told[-1]]))) if len(told) else NOWHERE
    nodes = np.flatnonzero(np.isin(kinds, (*NODES, Kind.WAIT)))
    row = low + int(nodes[-1]) if len(nodes) else row
    waits = np.flatnonzero(kinds == Kind.WAIT)
    is_wait = bool(len(waits)) and place == place_of(log.site(int(sites[waits[-1]]))) != NOWHERE
    newest = int(log.pick("time", np.array([log.end - 1]))[0])
    return Last(row, log.op(log.event(row).op).name, place, seconds(log, newest), is_wait)


def seconds(log: Log, time: int) -> float:
    """When that was which a log has a time of, in seconds since 1970."""
    return float(log.metadata.get("created", 0.0)) + (time - int(log.metadata.get("clock", time))) / 1e9


def raised_in(log: Log) -> str:
    """The exception that ended the program, with its message; empty where none did."""
    for row in log.marks(Kind.EXCEPTION)[-1:].tolist():
        if is_the_end(log, row, log.end):
            entry = log.attrs(log.event(row).attrs)
            text = " ".join(str(entry.get("text", "")).split())
            return f"{entry.get('type', 'Exception')}: {text}"[:200]
    return ""


def has_failed(raised: str) -> bool:
    """Whether an exception that ended a program is one that nobody asked for."""
    return bool(raised) and not raised.startswith(_ASKED_FOR)
