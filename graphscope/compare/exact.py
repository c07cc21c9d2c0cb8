"""Two runs of one program, bit by bit: the first op that was given the same and made something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare.difference import PAIR, PARTED, SAME, Difference, Parting, Side
from graphscope.compare.remarks import compared, remarks
from graphscope.compare.rounding import distance
from graphscope.compare.sides import side
from graphscope.compare.steps import step_of
from graphscope.diagnose.two_runs import parting
from graphscope.eventlog.schema import NODES
from graphscope.graph import Graph
from graphscope.graph.alike import PLACES, STRUCTURE, extent, first_unlike, unequal

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def exact(a: Log, b: Log) -> Difference:
    """Where two runs of one program part, be it in a single bit."""
    stop = first_unlike(a, b, (*STRUCTURE, *PLACES))
    pairs = same_rows(a, b, stop)
    beyond = (_nodes(a, stop), _nodes(b, stop))
    found = parting(a, b)
    if found is not None:
        different = np.fromiter(unequal(a, b, min(found.row, stop), stop), np.int64)
        pairs["state"][np.searchsorted(pairs["a"], different)] = PARTED
        told = _parting(a, b, found.row, found.cause, found.verdict, max(len(different) - 1, 0))
    elif len(beyond[0]) != len(beyond[1]) and a.closed and b.closed:
        which = "first" if len(beyond[0]) else "second"
        verdict = f"the two runs are the same up to #{stop}, where one of them ends: the {which} goes on"
        told = _parting(a, b, stop, "another way", verdict, 0)
    else:
        return Difference(a, b, "same", (), pairs, compared=compared(a, b), remarks=tuple(remarks(a, b)))
    return Difference(a, b, "parted", (told,), pairs, *beyond, compared=compared(a, b), remarks=tuple(remarks(a, b)))


def same_rows(a: Log, b: Log, stop: int | None = None) -> np.ndarray:
    """The nodes of two logs of one structure, row for row, as pairs that are the same."""
    rows = _nodes(a, extent(a, b)[0], stop)
    pairs = np.zeros(len(rows), PAIR)
    pairs["a"] = pairs["b"] = rows
    pairs["state"] = SAME
    return pairs


def _parting(a: Log, b: Log, row: int, cause: str, verdict: str, consequences: int) -> Parting:
    here, there = _side(a, row), _side(b, row)
    apart = None
    if here is not None and there is not None and here.row == there.row == row:
        values = a.value(row), b.value(row)
        if values[0] is not None and values[1] is not None:
            apart = distance(values[0], values[1], here.dtype, there.dtype)
    step = step_of(a if here is not None else b, row)
    return Parting(step.part(row), step.number, here, there, cause, verdict, True, (), apart, consequences)


def _side(log: Log, row: int) -> Side | None:
    """The node of a row, or the next one behind a mark."""
    rows = _nodes(log, row)
    return side(Graph(log).node(int(rows[0]))) if len(rows) else None


def _nodes(log: Log, first: int, stop: int | None = None) -> np.ndarray:
    found: np.ndarray = first + np.flatnonzero(np.isin(log.column("kind", first, stop), NODES))
    return found
