"""What a whole log says in numbers: passes, ops, time, memory, the first non-finite value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphscope.diagnose import Finding, every
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import DTYPES, ELEMENTS, NODES, Flag, Kind, Pass
from graphscope.graph import Graph
from graphscope.graph.faults import nonfinite_rows
from graphscope.graph.outline.steps import steps
from graphscope.graph.series import steps_made

_PASSES = len(Pass)
_LARGEST = 1 << 62


@dataclass(frozen=True)
class Total:
    """What the nodes of one op in one pass add up to."""

    op: str
    graph_pass: str
    kind: str
    count: int
    seconds: float
    bytes: int


@dataclass(frozen=True)
class Overview:
    """All that `graphscope summary` tells."""

    log: str
    program: list[str]
    finished: bool
    stopped: str
    """Why the recording ended ahead of the program; empty where it did not."""
    events: int
    first: int
    end: int
    steps: int
    """Training steps that the log has, whole or in part."""
    steps_made: int
    """How many the program has made."""
    backward_passes: int
    values: str
    disk_bytes: int
    totals: list[Total]
    """One for each op and pass; what took longest comes first."""
    nonfinite: Finding | None
    """The first value that is not finite and came to spoil a loss, a gradient or a parameter."""
    harmless: int | None
    """Where there is none such, the row of the first value that is not finite all the same."""
    exceptions: list[Finding]


def overview(log: Log) -> Overview:
    """Sum up a log; one pass over its rows."""
    graph, totals = Graph(log), _totals(log)
    nonfinite = next(every()["nan"].findings(graph), None)
    return Overview(
        log=str(log.path),
        program=[str(word) for word in log.metadata.get("argv") or []],
        finished=log.closed,
        stopped=log.stopped,
        events=len(log),
        first=log.first,
        end=log.end,
        steps=len(steps(log)),
        steps_made=steps_made(log),
        backward_passes=len(graph.index.marks(Kind.BACKWARD_BEGIN)),
        values=str(log.metadata.get("values", "")),
        disk_bytes=log.files.disk_bytes(),
        totals=sorted(totals, key=lambda total: (-total.seconds, -total.count, total.op, total.graph_pass)),
        nonfinite=nonfinite,
        harmless=next(nonfinite_rows(log), None) if nonfinite is None else None,
        exceptions=list(every()["raised"].findings(graph)),
    )


def _totals(log: Log) -> list[Total]:
    distinct, which = log.repeated()
    counts, nanoseconds = np.bincount(which, minlength=len(distinct)), np.zeros(len(distinct))
    for first, rows in log.chunks():
        own = which[first - log.first :][: len(rows)]
        nanoseconds += np.bincount(own, rows["duration"].astype(np.float64), minlength=len(distinct))
    sums: dict[tuple[str, str, str], np.ndarray] = {}
    for place in np.flatnonzero(np.isin(distinct["kind"], NODES) & (counts > 0)).tolist():
        row, kind = distinct[place], Kind(int(distinct["kind"][place])).name.lower()
        key = log.op(int(row["op"])).name or kind, _pass_name(int(row["graph_pass"])), kind  # entries may share a name
        of_place = np.array([counts[place], nanoseconds[place], counts[place] * _size(log, row)])
        sums[key] = sums.get(key, 0.0) + of_place
    return [Total(*key, int(nodes), float(time) / 1e9, int(size)) for key, (nodes, time, size) in sums.items()]


def _size(log: Log, row: np.void) -> float:
    """The bytes of what a row made; a view has no memory of its own."""
    code = int(row["dtype"])
    if row["flags"] & int(Flag.VIEW | Flag.IN_PLACE) or code >= len(DTYPES) or DTYPES[code] in ("", "object"):
        return 0.0
    return float(min(math.prod(log.shape(int(row["shape"]))), _LARGEST) * ELEMENTS[code].itemsize)


def _pass_name(number: int) -> str:
    return Pass(min(number, _PASSES - 1)).name.lower()
