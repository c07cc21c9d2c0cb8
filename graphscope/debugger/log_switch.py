"""Turning to another log of the same run, and back: what speaks of rows of a log stays with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graphscope.graph import Graph

if TYPE_CHECKING:
    from graphscope.debugger.debugger import Debugger
    from graphscope.debugger.watches import Watch
    from graphscope.eventlog.reader import Log


@dataclass(frozen=True, slots=True)
class KeptLog:
    """What is kept of a log that is not looked at just now."""

    graph: Graph
    watches: dict[int, Watch]
    checkpoints: dict[str, int]


def switch(dbg: Debugger, log: Log) -> None:
    """Look at another log of the same run, as it was left if it was looked at before."""
    dbg.kept_logs[dbg.log.path] = KeptLog(dbg.graph, dbg.watches, dbg.checkpoints)
    carried = {number: replace(watch, tensors=set()) for number, watch in dbg.watches.items() if watch.row is None}
    fresh = KeptLog(Graph(log), carried, {})
    found = dbg.kept_logs.pop(log.path, fresh)
    found.graph.log.refresh()
    dbg.watches, dbg.checkpoints = found.watches, found.checkpoints
    dbg.switch_to(found.graph)
