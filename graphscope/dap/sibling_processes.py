"""The other processes of a run, each with a log of its own: looked at beside the one that is stepped through."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.dap.log_session import Session
from graphscope.errors import LogError
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import NODES
from graphscope.eventlog.siblings import siblings, title

if TYPE_CHECKING:
    from graphscope.dap.log_session import Listener
    from graphscope.eventlog.reader import Log

_PLACE: Final = 16
"""The number of a thread of another process: its own number in that log, and above so many bits the process."""


class SiblingProcesses:
    """The logs beside the one of a session, as threads of their own.

    Args:
        listener: Hears of what happens in them: nothing does.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._members: dict[Path, Session] = {}

    def threads(self, leader: Session) -> list[dict[str, Any]]:
        """The threads of the other processes."""
        entries = []
        for path in siblings(leader.debugger.log.path):
            if path not in self._members:
                try:
                    self._members[path] = Session(load(path), self._listener)
                except LogError:  # it is just being made, or gone
                    continue
        for process, (path, member) in enumerate(self._members.items(), 1):
            if path == leader.debugger.log.path:
                continue  # the leader has turned to it (`rank 1`)
            for number, name in enumerate(thread_names(member.debugger.log), 1):
                entries.append({"id": process << _PLACE | number, "name": name})
        return entries

    def member(self, thread: int, leader: Session) -> tuple[Session, int] | None:
        """The session of a thread of another process, where it was when the leader came to where it stands; the number
        of the thread there.
        """
        process, number = thread >> _PLACE, thread & (1 << _PLACE) - 1
        if not 1 <= process <= len(self._members):
            return None
        member = list(self._members.values())[process - 1]
        member.debugger.log.refresh()
        member.handles.clear()
        member.debugger.stand(_row_at(member.debugger.log, number, _moment(leader)))
        return member, number


def thread_names(log: Log) -> list[str]:
    """What the threads of a log are called, in the order of their numbers."""
    known = [entry if isinstance(entry, dict) else {} for entry in log.table("threads")]
    names = [str(entry.get("name", number)) for number, entry in enumerate(known, 1)] or ["MainThread"]
    process = title(log.path)
    return [f"{process}: {name}" if process else name for name in names]


def _moment(session: Session) -> float:
    """When the position of a session was come to, in nanoseconds since 1970."""
    log, now = session.debugger.log, session.debugger.now
    return _dated(log, log.event(now).time) if log.first <= now < log.end else np.inf


def _dated(log: Log, clock: float) -> float:
    """The date of a moment of a log's own clock."""
    created, began = (log.metadata.get(name) for name in ("created", "clock"))
    if not isinstance(created, int | float) or not isinstance(began, int | float):
        return clock
    return created * 1e9 + clock - began


def _row_at(log: Log, thread: int, moment: float) -> int:
    """The last node that a thread had made at a moment; the row ahead of the first if there is none."""
    own = np.isin(log.column("kind"), NODES) & (log.column("thread") == thread)
    came = log.column("time").astype(np.float64) <= moment - _dated(log, 0.0)
    found = np.flatnonzero(own & came)
    return log.first + int(found[-1]) if len(found) else log.first - 1
