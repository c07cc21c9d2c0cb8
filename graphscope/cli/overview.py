"""What a whole log says in numbers: passes, ops, time, memory, the first non-finite value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphscope.diagnose import Finding, every
from graphscope.eventlog.nonfinite import rows_with_nonfinite
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import DTYPES, NODES, Flag, Kind, Pass
from graphscope.graph import Graph

_PASSES = len(Pass)
_KINDS = int(max(NODES)) + 1
_LARGEST = 1 << 62
_READ = ("kind", "op", "graph_pass", "flags", "shape", "dtype", "duration")


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
    """The first value that is not finite and came to spoil a loss, a gradient or a parameter."""
    harmless: int | None
    """Where there is none such, the row of the first value that is not finite all the same."""
    exceptions: list[Finding]


def overview(log: Log) -> Overview:
    """Sum up a log; one pass over its rows."""
    graph = Graph(log)
    nonfinite = next(every()["nan"].findings(graph), None)
    return Overview(
        log=str(log.path),
        program=[str(word) for word in log.metadata.get("argv") or []],
        finished=log.closed,
        stopped=log.stopped,
        events=len(log),
        first=log.first,
        end=log.end,
        steps=len(graph.index.marks(Kind.STEP)),
        backward_passes=len(graph.index.marks(Kind.BACKWARD_BEGIN)),
        values=str(log.metadata.get("values", "")),
        disk_bytes=log.files.disk_bytes(),
        totals=sorted(_totals(log), key=lambda total: (-total.seconds, -total.count, total.op, total.graph_pass)),
        nonfinite=nonfinite,
        harmless=next(rows_with_nonfinite(log), None) if nonfinite is None else None,
        exceptions=list(every()["raised"].findings(graph)),
    )


def _totals(log: Log) -> list[Total]:
    ops = len(log.table("ops")) + 1
    sizes = _sizes(log)
    itemsizes = np.array([0 if name in ("", "object") else _itemsize(name) for name in DTYPES] + [0], np.float64)
    cells = ops * _PASSES * _KINDS
    count, nanoseconds, memory = np.zeros(cells, np.int64), np.zeros(cells), np.zeros(cells)
    for _, rows in log.chunks():
        kinds = rows["kind"]
        nodes = np.flatnonzero((kinds > 0) & (kinds < _KINDS))
        read = {field: rows[field][nodes] for field in _READ}
        op = np.where(read["op"] < ops, read["op"], 0).astype(np.int64)
        cell = (op * _PASSES + np.minimum(read["graph_pass"], _PASSES - 1)) * _KINDS + read["kind"]
        # A view has no memory of its own.
        owned = (read["flags"] & int(Flag.VIEW | Flag.IN_PLACE)) == 0
        shape = np.where(read["shape"] < len(sizes), read["shape"], 0)
        dtype = np.minimum(read["dtype"], len(DTYPES))
        count += np.bincount(cell, minlength=cells)
        nanoseconds += np.bincount(cell, read["duration"].astype(np.float64), minlength=cells)
        memory += np.bincount(cell, sizes[shape] * itemsizes[dtype] * owned, minlength=cells)
    sums: dict[tuple[str, str, str], np.ndarray] = {}
    for at in np.flatnonzero(count).tolist():
        rest, kind = divmod(at, _KINDS)
        number, graph_pass = divmod(rest, _PASSES)
        name = Kind(kind).name.lower()
        key = log.op(number).name or name, _pass_name(graph_pass), name  # of one name there may be several entries
        sums[key] = sums.get(key, 0.0) + np.array([count[at], nanoseconds[at], memory[at]])
    return [Total(*key, int(nodes), float(time) / 1e9, int(size)) for key, (nodes, time, size) in sums.items()]


def _sizes(log: Log) -> np.ndarray:
    """Number of elements by number of shape."""
    shapes = [()] + [log.shape(number) for number in range(1, len(log.table("shapes")) + 1)]
    return np.array([min(math.prod(shape), _LARGEST) for shape in shapes], np.float64)


def _itemsize(name: str) -> int:
    return 2 if name == "bfloat16" else np.dtype(name).itemsize


def _pass_name(number: int) -> str:
    return Pass(min(number, _PASSES - 1)).name.lower()
