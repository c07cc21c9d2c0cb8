"""Which recorded nodes begin a visit of their line: there one stops once a line and pass, and not at each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from graphscope.debugger.nodes import rows_of
from graphscope.debugger.source_blocks import first_lines
from graphscope.eventlog.schema import Pass

if TYPE_CHECKING:
    from graphscope.debugger.live_edge import Edge
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_Function = tuple[int, str, str]
"""A function of a file, in one of the passes."""
_Key = tuple[int, int, int]
"""What tells ops of one line apart: expression, op and module."""

Unit = Literal["line", "statement"]
"""What is visited: one line, or the text of a statement, which may go on over several."""

_READ: Final = ("graph_pass", "site", "op", "scope", "forward")


class LineVisits:
    """The visits of lines of a log, as far as it was looked at.

    A log holds nodes, not runs of lines. A function has turned to a line where its node before was of another one, and
    it has come to the line again where the op that began the visit is made once more, as in a loop of one line.

    Args:
        log: The log; it may grow.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._first = self._seen = log.first
        self._begins: dict[Unit, bytearray] = {"line": bytearray(), "statement": bytearray()}
        self._last: dict[tuple[Unit, _Function], tuple[int, _Key, int]] = {}
        """For each function, the line it is at, what began the visit, and in backward for which forward node."""
        self._places: dict[int, tuple[Site, int] | None] = {}

    def begins(self, row: int, unit: Unit) -> bool:
        """Whether a node is the first of a visit."""
        if row >= self._seen:
            self._look(row + 1)
        return self._first <= row < self._seen and bool(self._begins[unit][row - self._first])

    def _look(self, stop: int) -> None:
        log, start = self._log, self._seen
        stop = min(stop, log.end)
        for begun in self._begins.values():
            begun.extend(bytes(max(stop - start, 0)))
        rows = rows_of(log, start, stop)
        columns = [log.column(name, start, stop)[rows - start].tolist() for name in _READ]
        for row, graph_pass, number, op, scope, forward in zip(rows.tolist(), *columns, strict=True):
            found = self._place(number)
            if found is None:
                continue
            site, statement = found
            function, key = (graph_pass, site.file, site.function), (number, op, scope)
            about = forward if graph_pass == Pass.BACKWARD else row  # a gradient may arrive in several parts
            lines: dict[Unit, int] = {"line": site.line, "statement": statement}
            for unit, line in lines.items():
                last = self._last.get((unit, function))
                if last is None or last[0] != line or (last[1] == key and last[2] != about):
                    self._last[unit, function] = line, key, about
                    self._begins[unit][row - self._first] = 1
        self._seen = max(self._seen, stop)

    def _place(self, number: int) -> tuple[Site, int] | None:
        """A site, and the line where its statement begins."""
        if number not in self._places:
            site = self._log.site(number) if number else None
            text = "" if site is None else self._log.source(site.file) or ""
            self._places[number] = None if site is None else (site, first_lines(text).get(site.line, site.line))
        return self._places[number]


def begins(unit: Unit, node: Node, edge: Edge | None) -> bool:
    """Whether a line or statement begins with a node; of one that is being run, Python tells when it begins.

    Args:
        unit: Which of both.
        node: The node.
        edge: Where the program waits with it, unless it is a recorded one.
    """
    if not line_visits(node.graph.log).begins(node.row, unit):
        return False
    site = node.site if node.graph_pass == "forward" else None
    return site is None or edge is None or not edge.runs(site.file, site.line)


def line_visits(log: Log) -> LineVisits:
    """The visits of lines of a log: kept with it, and gone on with as it grows."""
    kept = log.readings.get(line_visits)
    if kept is None:
        kept = log.readings[line_visits] = 0, LineVisits(log)
    found: LineVisits = kept[1]
    return found
