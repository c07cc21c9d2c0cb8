"""What a whole log says in numbers: passes, ops, time, memory, the first non-finite value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphscope.diagnose import Finding, every
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import DTYPES, NODES, Flag, Kind, Pass
from graphscope.graph import Graph

_PASSES = len(Pass)
_KINDS = int(max(NODES)) + 1
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
    backward_passes: int
    values: str
    disk_bytes: int
    totals: list[Total]
    """One for each op and pass; what took longest comes first."""
    nonfinite: Finding | None
    exceptions: list[Finding]


def overview(log: Log) -> Overview:
    """Sum up a log; one pass over its rows."""
    return Overview(
        log=str(log.path),
        program=[str(word) for word in log.metadata.get("argv") or []],
        finished=log.closed,
        stopped=log.stopped,
        events=len(log),
        first=log.first,
        end=log.end,
        steps=_marks(log, Kind.STEP),
        backward_passes=_marks(log, Kind.BACKWARD_BEGIN),
        values=str(log.metadata.get("values", "")),
        disk_bytes=log.files.disk_bytes(),
        totals=sorted(_totals(log), key=lambda total: (-total.seconds, -total.count, total.op, total.graph_pass)),
        nonfinite=next(every()["nan"].findings(Graph(log)), None),
        exceptions=list(every()["raised"].findings(Graph(log))),
    )


def _totals(log: Log) -> list[Total]:
    ops = len(log.table("ops")) + 1
    sizes = _sizes(log)
    itemsizes = np.array([0 if name in ("", "object") else _itemsize(name) for name in DTYPES] + [0], np.float64)
    cells = ops * _PASSES * _KINDS
    count, nanoseconds, memory = np.zeros(cells, np.int64), np.zeros(cells), np.zeros(cells)
    for _, rows in log.chunks():
        rows = rows[(rows["kind"] > 0) & (rows["kind"] < _KINDS)]
        op = np.where(rows["op"] < ops, rows["op"], 0).astype(np.int64)
        cell = (op * _PASSES + np.minimum(rows["graph_pass"], _PASSES - 1)) * _KINDS + rows["kind"]
        # A view has no memory of its own.
        owned = (rows["flags"] & int(Flag.VIEW | Flag.IN_PLACE)) == 0
        shape = np.where(rows["shape"] < len(sizes), rows["shape"], 0)
        dtype = np.minimum(rows["dtype"], len(DTYPES))
        count += np.bincount(cell, minlength=cells)
        nanoseconds += np.bincount(cell, rows["duration"].astype(np.float64), minlength=cells)
        memory += np.bincount(cell, sizes[shape] * itemsizes[dtype] * owned, minlength=cells)
    sums: dict[tuple[str, str, str], np.ndarray] = {}
    for cell in np.flatnonzero(count).tolist():
        rest, kind = divmod(cell, _KINDS)
        number, graph_pass = divmod(rest, _PASSES)
        name = Kind(kind).name.lower()
        key = log.op(number).name or name, _pass_name(graph_pass), name  # of one name there may be several entries
        sums[key] = sums.get(key, 0.0) + np.array([count[cell], nanoseconds[cell], memory[cell]])
    return [Total(*key, int(nodes), float(time) / 1e9, int(size)) for key, (nodes, time, size) in sums.items()]


def _sizes(log: Log) -> np.ndarray:
    """Number of elements by number of shape."""
    shapes = [()] + [log.shape(number) for number in range(1, len(log.table("shapes")) + 1)]
    return np.array([min(math.prod(shape), _LARGEST) for shape in shapes], np.float64)


def _itemsize(name: str) -> int:
    return 2 if name == "bfloat16" else np.dtype(name).itemsize


def _marks(log: Log, kind: Kind) -> int:
    return sum(int(np.count_nonzero(rows["kind"] == kind)) for rows in log.events())


def _pass_name(number: int) -> str:
    return Pass(min(number, _PASSES - 1)).name.lower()
