"""Commands about a program that runs as several ranks, each with a log of its own."""

from __future__ import annotations

from pathlib import Path, PurePath

from graphscope.debugger import nodes
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.log_switch import switch
from graphscope.debugger.results import Cell, Rank, Stop, TableResult
from graphscope.errors import CommandError, LogError
from graphscope.eventlog.reader import Event, Log, load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.siblings import family, title
from graphscope.graph.collectives import Meeting, line_up
from graphscope.graph.counterpart import Counterpart, counterpart


@command("ranks", group="looking")
def ranks(dbg: Debugger) -> TableResult:
    """List what the ranks of a run did together (`all_reduce`, `broadcast`), side by side, and where they first part.

    A rank that came last waited least: the time beside each row is how long the call took there, with the wait for its
    end where that is one of its own. Where a rank `waits`, it came to the call, and has not come out of it.
    """
    logs = _logs(dbg.log)
    names = [title(log.path) or "this run" for log in logs]
    meetings = line_up(logs)
    own = logs.index(dbg.log)
    rows = tuple(_row(meeting, logs, own) for meeting in meetings)
    if not meetings:
        return TableResult(("collective",), (), note="No collective is recorded")
    return TableResult(("collective", "line", *names), rows, note=_parting(meetings, logs, names))


@command("rank", group="looking")
def rank(dbg: Debugger, which: Rest = "") -> Stop | TableResult:
    """Turn to another rank of the run, at the same node (`rank 1`); without a number, list all, and where they are.

    Nodes are counted from the last collective that both ranks came to. A process that is no rank goes by its number.
    """
    if not which.strip():
        return _overview(dbg)
    named = [path for path in family(dbg.log.path) if _number(path) == which.strip().removeprefix("rank").strip()]
    if dbg.edge is not None:
        raise CommandError("The program waits in this process", "graphscope open LOG looks at another, meanwhile")
    if not named:
        known = ", ".join(map(_number, family(dbg.log.path)))
        raise CommandError(f"This run has no rank {which.strip()}", f"it has {known}" if known else "")
    other = dbg.log if named[0] == dbg.log.path else load(named[0])
    found = counterpart(dbg.log, dbg.now, other)
    row = next(nodes.backward(other, other.first, found.row + 1), None)
    row = next(nodes.forward(other, other.first, other.end), None) if row is None else row
    if row is None:
        raise CommandError(f"{_title(named[0])} has recorded no node yet")
    switch(dbg, other)
    dbg.stand(row)
    missing = f"it has no such node {_behind(other, found)}: this is the nearest before"
    return dbg.stop(remark="" if found.same else missing)


def _overview(dbg: Debugger) -> TableResult:
    rows: list[tuple[Cell, ...]] = []
    items: list[Rank] = []
    for path, log in ((path, _opened(path, dbg.log)) for path in family(dbg.log.path)):
        if log is None:
            continue
        here, found = log is dbg.log, counterpart(dbg.log, dbg.now, log)
        there = f"#{found.row} {log.op(log.event(found.row).op).name}".rstrip() if found.same else "no such node"
        last = "" if found.met is None else f"{_op(log, found.met)} #{found.met.row}"
        state = "ended" if log.closed else "growing, or killed"
        items.append(Rank(_number(path)))
        rows.append((_number(path), "here" if here else "", there, last, len(log), state))
    if len(rows) < 2:
        return TableResult(("rank",), (), note="This run has one log alone")
    return TableResult(("rank", "", "the same node", "after", "rows", "recording"), tuple(rows), items=tuple(items))


def _opened(path: Path, own: Log) -> Log | None:
    try:
        return own if path == own.path else load(path)
    except LogError:  # it is just being made, or gone
        return None


def _number(path: Path) -> str:
    """What a person types for a log: the number of its rank or process; of the one that leads a run, `main`."""
    return title(path).rpartition(" ")[2] or "main"


def _title(path: Path) -> str:
    return title(path).capitalize() or "The first process"


def _behind(log: Log, found: Counterpart) -> str:
    return "from its beginning on" if found.met is None else f"behind {_op(log, found.met)} (#{found.met.row})"


def _logs(log: Log) -> list[Log]:
    """The logs of all ranks, by rank."""
    ranked = [path for path in family(log.path) if path == log.path or title(path).startswith("rank")]
    return [found for path in ranked if (found := _opened(path, log)) is not None]


def _row(meeting: Meeting, logs: list[Log], own: int) -> tuple[Cell, ...]:
    at = own if meeting.events[own] is not None else next(i for i, event in enumerate(meeting.events) if event)
    event = meeting.events[at]
    assert event is not None
    name = _op(logs[at], event)
    cells = (
        ""
        if each is None
        else f"#{each.row} {_took(each, took) if _op(log, each) == name else _op(log, each)}".rstrip()
        for log, each, took in zip(logs, meeting.events, meeting.took, strict=True)
    )
    return (name, _line(logs[at], event), *cells)


def _parting(meetings: list[Meeting], logs: list[Log], names: list[str]) -> str:
    """Where the ranks first do not do the same, as a sentence; empty where they always do."""
    for place, meeting in enumerate(meetings):
        here = [(log, event, name) for log, event, name in zip(logs, meeting.events, names, strict=True) if event]
        log, event, name = here[0]
        what = f"{_op(log, event)} at {_line(log, event)} (#{event.row})"
        for other, apart, called in here[1:]:
            if (_part(other, apart), apart.shape) != (_part(log, event), event.shape):
                does = f"{_op(other, apart)} of {list(apart.shape)} at {_line(other, apart)} (#{apart.row})"
                return f"{called} parts from {name}: it calls {does}, where {name} calls {what} of {list(event.shape)}"
        later = any(each.group == meeting.group for each in meetings[place + 1 :])
        part = {f"rank {number}" for number in meeting.ranks}
        missing = [name for name, each in zip(names, meeting.events, strict=True) if each is None and name in part]
        if missing and not later:
            return f"{' and '.join(missing)} did not come to {what}, or the log does not hold it"
    return ""


def _op(log: Log, event: Event) -> str:
    return log.op(event.op).name


def _part(log: Log, event: Event) -> str:
    """What a rank does in a collective: all the same, but that one receives what another sends."""
    name = _op(log, event)
    return "send" if name == "recv" else name


def _line(log: Log, event: Event) -> str:
    site = log.site(event.site)
    return "" if site is None else f"{PurePath(site.file).name}:{site.line}"


def _took(event: Event, nanoseconds: int) -> str:
    if event.kind == Kind.WAIT:
        return "waits"
    return f"{nanoseconds / 1e6:.2f} ms" if nanoseconds else ""
