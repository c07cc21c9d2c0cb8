"""Runs of a session, as a log tells of them: what is fetched and fed, and the ops in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphscope.debugger import nodes
from graphscope.errors import CommandError
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node


@dataclass(frozen=True, slots=True)
class PlannedOp:
    """An op of the graph that a run comes to."""

    name: str
    type: str
    feedable: bool
    controls: tuple[str, ...] = ()
    """The ops that are to run ahead of it, though it takes nothing from them."""


@dataclass(frozen=True, slots=True)
class SessionRun:
    """One run of a session."""

    row: int
    """The mark with which it begins."""
    number: int
    fetches: tuple[str, ...]
    feeds: tuple[str, ...]
    plan: tuple[PlannedOp, ...]

    def op(self, name: str) -> PlannedOp | None:
        """The op of a name."""
        return next((each for each in self.plan if each.name == name), None)

    def controlled_by(self, name: str) -> list[PlannedOp]:
        """The ops that wait for one though they take nothing from it."""
        return [each for each in self.plan if name in each.controls]


def run_at(log: Log, now: int) -> SessionRun:
    """The run that a row lies in.

    Raises:
        CommandError: There is none.
    """
    found = _begun(log, now)
    if found is None:
        raise CommandError(
            "No run of a session is recorded here", "sessions of graphscope.static and of TensorFlow 1 have runs"
        )
    return found


def has_runs(log: Log, now: int) -> bool:
    """Whether a run of a session is recorded up to a row."""
    return _begun(log, now) is not None


def _begun(log: Log, now: int) -> SessionRun | None:
    kinds = log.column("kind", log.first, min(now + 1, log.end))
    for offset in (kinds == Kind.PRINT).nonzero()[0][::-1].tolist():
        row = log.first + offset
        attrs = log.attrs(log.event(row).attrs)
        if "run" in attrs:
            listed = attrs["nodes"] if "nodes" in attrs else log.attrs(int(attrs.get("plan", 0))).get("nodes", ())
            fetches, feeds = (tuple(map(str, attrs.get(key, ()))) for key in ("fetches", "feeds"))
            return SessionRun(row, int(attrs["run"]), fetches, feeds, tuple(map(_planned, listed)))
    return None


def _planned(told: Any) -> PlannedOp:
    name, type_, feedable, *controls = told
    return PlannedOp(str(name), str(type_), bool(feedable), tuple(map(str, controls[0] if controls else ())))


def reached(graph: Graph, run: SessionRun, now: int) -> dict[str, Node]:
    """The newest node of each name that a run has come to."""
    found: dict[str, Node] = {}
    for row in nodes.forward(graph.log, run.row, now + 1):
        name = graph.log.attrs(graph.log.event(row).attrs).get("name")
        if name:
            found[str(name)] = graph.node(row)
    return found


def rows_of(graph: Graph, name: str, now: int) -> list[Node]:
    """All nodes that bear a name, up to now: what a debugger of sessions calls the dumps of an op."""
    log = graph.log
    rows = nodes.forward(log, log.first, now + 1)
    return [graph.node(row) for row in rows if log.attrs(log.event(row).attrs).get("name") == name]
