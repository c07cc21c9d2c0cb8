"""Leaves that a log holds several times: one is written again in each segment that uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.graph.index import index_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def originals(log: Log, rows: np.ndarray) -> np.ndarray:
    """Of each row the first one that holds the same version of the same tensor, and the same value; most are that."""
    index, found = index_of(log), rows.copy()
    again = (log.pick("kind", rows) == Kind.LEAF) & (log.pick("tensor", rows).astype(np.int64) != rows)
    first: dict[int, int] = {}
    for place in np.flatnonzero(again).tolist():
        row = int(rows[place])
        if row not in first:
            event = index.event(row)
            same = (each for each in index.versions(event.tensor, row) if index.event(each).version == event.version)
            first[row] = next((each for each in same if _holds_the_same(log, each, row)), row)
        found[place] = first[row]
    return found


def _holds_the_same(log: Log, one: int, other: int) -> bool:
    values = log.value(one), log.value(other)
    if values[0] is None or values[1] is None:
        return str(log.summary(one)) == str(log.summary(other))
    return values[0].tobytes() == values[1].tobytes()
