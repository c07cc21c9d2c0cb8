"""A run compared with another one: where they part, and what belongs to a node over there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare import diff as compared
from graphscope.compare.places import counterpart, places
from graphscope.compare.report_lines import apart, lines_of, lines_of_parting
from graphscope.compare.rounding import distance
from graphscope.debugger import value_results
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message, Stop
from graphscope.errors import CommandError
from graphscope.eventlog.reader import load
from graphscope.graph import Graph

if TYPE_CHECKING:
    from graphscope.compare import Difference
    from graphscope.graph import Node


def diff(dbg: Debugger, words: str) -> Stop | Message:
    """Compare with the run that is named, or go on in what was compared."""
    known = dbg.difference if dbg.difference is not None and dbg.difference.a is dbg.log else None
    dbg.log.refresh()
    if words not in _WAYS:
        return _first(dbg, _compared(dbg, _earlier(dbg) if words == "earlier" else Path(words).expanduser()))
    if known is None and dbg.earlier is not None:
        return _first(dbg, _compared(dbg, dbg.earlier))
    if known is None:
        raise CommandError("This run was not compared with another yet", "diff OTHER.gscope")
    if dbg.compared_rows != dbg.log.end:  # the program has gone on since
        known = _compared(dbg, known.b.path)
    return _WAYS[words](dbg, known)


def _earlier(dbg: Debugger) -> Path:
    if dbg.earlier is None:
        raise CommandError("This program was not run before in this session", "`restart` and `again` run it again")
    return dbg.earlier


def _compared(dbg: Debugger, other: Path) -> Difference:
    if other.resolve() == dbg.log.path.resolve():
        raise CommandError(f"{other} is the log of this run itself", "name the log of another: diff OTHER.gscope")
    dbg.difference, dbg.compared_rows = compared(dbg.log, load(other)), dbg.log.end
    return dbg.difference


def _first(dbg: Debugger, found: Difference) -> Stop | Message:
    first = found.first
    if first is None or first.a is None:
        return Message("\n".join(line.text for line in lines_of(found)))
    dbg.stand(first.a.row)
    said = [line.text for line in lines_of_parting(found, first)]
    return dbg.stop(notes=(*said, *found.remarks, "", *_values(dbg, found)[:2]))


def _next(dbg: Debugger, found: Difference) -> Stop | Message:
    rows = places(found)
    return _gone(dbg, found, rows[np.searchsorted(rows, dbg.now, side="right") :][:1], "after")


def _previous(dbg: Debugger, found: Difference) -> Stop | Message:
    rows = places(found)
    return _gone(dbg, found, rows[: np.searchsorted(rows, dbg.now)][-1:], "before")


def _gone(dbg: Debugger, found: Difference, rows: np.ndarray, where: str) -> Stop | Message:
    if not len(rows):
        return Message(f"No node {where} this one differs from the other run")
    dbg.stand(int(rows[0]))
    return dbg.stop(notes=_values(dbg, found))


def _here(dbg: Debugger, found: Difference) -> Message:
    return Message("\n".join(_values(dbg, found)))


_WAYS = {"": _here, "first": _first, "next": _next, "prev": _previous}


def _values(dbg: Debugger, found: Difference) -> tuple[str, ...]:
    """The current node and its counterpart, with what they hold and how far that is apart."""
    node = Graph(found.a).node(dbg.need_node().row)  # with what was put in its place, as on the other side
    row = counterpart(found, node.row)
    if row is None:
        return f"a {_told(node)}", "b nothing belongs to it"
    other = Graph(found.b).node(row)
    values = node.value, other.value
    far = None if values[0] is None or values[1] is None else distance(values[0], values[1], node.dtype, other.dtype)
    return f"a {_told(node)}", f"b {_told(other)}", *(() if far is None else (f"  {apart(far)}",))


def _told(node: Node) -> str:
    site = "" if node.site is None else f" {Path(node.site.file).name}:{node.site.line}"
    return f"#{node.row} {node.label}{site}: {value_results.brief_of(node)}"
