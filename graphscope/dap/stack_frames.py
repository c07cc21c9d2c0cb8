"""The stack of a position: the node, the modules around it, and the program's Python frames."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.dap.stop_events import title
from graphscope.debugger import nodes
from graphscope.debugger.results import Place
from graphscope.eventlog.schema import NODES, Kind

if TYPE_CHECKING:
    from graphscope.dap.log_session import Session
    from graphscope.dap.references import References
    from graphscope.debugger.results import NodeInfo
    from graphscope.eventlog.reader import Log


def frames(references: References, session: Session, thread: int) -> list[dict[str, Any]]:
    """The frames of a thread, the innermost first."""
    if thread != session.thread:
        return list(_of_other(references, session, thread))
    debugger = session.debugger
    node = debugger.node
    where = debugger.where()
    made: list[dict[str, Any]] = []
    if node is not None:
        info = nodes.describe(node)
        made.append(_of_node(references, session, info))
        if debugger.node_at_hand is not None:
            made += _of_scopes(references, session, info)
        else:
            made[0] |= {"name": f"the last node: {made[0]['name']}", "presentationHint": "subtle"}
    python = list(enumerate(where.frames))
    raised = session.raised is not None and not session.raised.by_node
    if node is not None and python and not python[-1][1].live and not raised:
        python.pop()  # in the past, the innermost line is the node's own
    callers = [
        _frame(references, session, place, frame.place.function or "<module>", frame.place) | _presented(frame.live)
        for place, frame in reversed(python)
    ]
    of_python = raised or debugger.line is not None  # an exception is at the line that raised it
    return callers + made if of_python else made + callers


def _of_node(references: References, session: Session, info: NodeInfo) -> dict[str, Any]:
    text = title(info)
    made = _frame(references, session, None, text, info.place)
    shape = "x".join(map(str, info.shape)) or "scalar"
    made["name"] = f"{text} {info.dtype} {shape}".rstrip() if info.dtype else text
    made["presentationHint"] = "normal"
    if info.place is not None and session.debugger.log.first <= info.row < session.debugger.log.end:
        site = session.debugger.log.site(session.debugger.log.event(info.row).site)
        if site is not None and site.end_line:
            made |= {"column": site.column + 1, "endLine": site.end_line, "endColumn": site.end_column + 1}
    return made


def _of_scopes(references: References, session: Session, info: NodeInfo) -> Iterator[dict[str, Any]]:
    """The modules and composite ops around a node, the innermost first."""
    debugger = session.debugger
    log = debugger.log
    node = debugger.node
    number = 0 if node is None else node.scope_number
    while number and (scope := log.scope(number)) is not None:
        start = _begun(log, number, debugger.now) if info.graph_pass == "forward" else None
        yield {
            "id": references.scope(session, start),
            "name": f"in {log.scope_title(number)}",
            "line": 0,
            "column": 0,
            "presentationHint": "label",
            "canRestart": start is not None,
        }
        number = scope.parent


def _begun(log: Log, scope: int, now: int) -> int | None:
    """The first node of a scope, as it was last entered."""
    marks = log.rare()
    newest = marks[: np.searchsorted(marks, now)][-_MOST_MARKS:]
    for mark in newest[::-1].tolist():
        event = log.event(mark)
        if event.kind == Kind.SCOPE_ENTER and event.scope == scope:
            return next(nodes.forward(log, mark, now + 1), None)
    return None


_MOST_MARKS = 1 << 12
"""A scope that was entered more marks ago can't be gone back to."""


def _of_other(references: References, session: Session, thread: int) -> Iterator[dict[str, Any]]:
    """Of a thread that does not stand here, the newest node that it made."""
    debugger = session.debugger
    log = debugger.log
    first = max(log.first, debugger.now - _FAR)
    kinds, threads = (log.column(name, first, debugger.now + 1) for name in ("kind", "thread"))
    rows = np.flatnonzero(np.isin(kinds, NODES) & (threads == thread))
    if len(rows):
        info = nodes.describe(debugger.graph.node(first + int(rows[-1])))
        yield _frame(references, session, None, title(info), info.place)


_FAR = 1 << 20
"""A thread that made nothing for so many rows has no frame."""


def _presented(live: bool) -> dict[str, str]:
    return {"presentationHint": "normal" if live else "subtle"}


def _frame(
    references: References, session: Session, place: int | None, name: str, where: Place | None
) -> dict[str, Any]:
    made: dict[str, Any] = {"id": references.frame(session, place), "name": name, "line": 0, "column": 0}
    if where is not None and where.file:
        made |= {"source": source_of(session.debugger.log, where.file), "line": where.line, "column": 1}
    return made


def source_of(log: Log, file: str) -> dict[str, Any]:
    """A source as a client is told of it; one that is not on this disk is read from the log."""
    made: dict[str, Any] = {"name": Path(file).name, "path": file}
    if Path(file).is_file():
        made["path"] = os.path.normpath(Path(file).absolute())  # as editors name it that have it open
    elif log.source(file) is not None:
        names = [entry.get("file") for entry in log.table("sources") if isinstance(entry, dict)]
        made["sourceReference"] = names.index(file) + 1
    else:
        made["presentationHint"] = "deemphasize"
    return made
