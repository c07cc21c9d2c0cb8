"""Commands about a program that runs as several ranks, each with a log of its own."""

from __future__ import annotations

from pathlib import PurePath

from graphscope.debugger.results import Cell, TableResult
from graphscope.debugger.session import Debugger
from graphscope.debugger.table import command
from graphscope.errors import LogError
from graphscope.eventlog.reader import Event, Log, load
from graphscope.eventlog.siblings import siblings, title
from graphscope.graph.collectives import Meeting, line_up


@command("ranks", group="looking")
def ranks(dbg: Debugger) -> TableResult:
    """List what the ranks of a run did together (`all_reduce`, `broadcast`), side by side, and where they first part.

    A rank that came last waited least: the time beside each row is how long the call took there.
    """
    logs = _logs(dbg.log)
    names = [title(log.path) or "this run" for log in logs]
    meetings = line_up(logs)
    own = logs.index(dbg.log)
    rows = tuple(_row(meeting, logs, own) for meeting in meetings)
    if not meetings:
        return TableResult(("collective",), (), note="No collective is recorded")
    return TableResult(("collective", "line", *names), rows, note=_parting(meetings, logs, names))


def _logs(log: Log) -> list[Log]:
    """The logs of all ranks, by rank."""
    found = [log]
    for path in siblings(log.path):
        if title(path).startswith("rank"):
            try:
                found.append(load(path))
            except LogError:  # it is just being made, or gone
                continue
    return sorted(found, key=lambda each: (len(title(each.path)), title(each.path)))


def _row(meeting: Meeting, logs: list[Log], own: int) -> tuple[Cell, ...]:
    at = own if meeting.events[own] is not None else next(i for i, event in enumerate(meeting.events) if event)
    event = meeting.events[at]
    assert event is not None
    name = _op(logs[at], event)
    cells = (
        "" if each is None else f"#{each.row} {_took(each) if _op(log, each) == name else _op(log, each)}".rstrip()
        for log, each in zip(logs, meeting.events, strict=True)
    )
    return (name, _line(logs[at], event), *cells)


def _parting(meetings: list[Meeting], logs: list[Log], names: list[str]) -> str:
    """Where the ranks first do not do the same, as a sentence; empty where they always do."""
    for place, meeting in enumerate(meetings):
        here = [(log, event, name) for log, event, name in zip(logs, meeting.events, names, strict=True) if event]
        log, event, name = here[0]
        what = f"{_op(log, event)} at {_line(log, event)} (#{event.row})"
        for other, theirs, called in here[1:]:
            if (_op(other, theirs), theirs.shape) != (_op(log, event), event.shape):
                does = f"{_op(other, theirs)} of {list(theirs.shape)} at {_line(other, theirs)} (#{theirs.row})"
                return f"{called} parts from {name}: it calls {does}, where {name} calls {what} of {list(event.shape)}"
        later = any(each.group == meeting.group for each in meetings[place + 1 :])
        missing = [name for name, each in zip(names, meeting.events, strict=True) if each is None]
        if missing and not later:
            return f"{' and '.join(missing)} did not come to {what}, or the log does not hold it"
    return ""


def _op(log: Log, event: Event) -> str:
    return log.op(event.op).name


def _line(log: Log, event: Event) -> str:
    site = log.site(event.site)
    return "" if site is None else f"{PurePath(site.file).name}:{site.line}"


def _took(event: Event) -> str:
    return f"{event.duration / 1e6:.2f} ms" if event.duration else ""
