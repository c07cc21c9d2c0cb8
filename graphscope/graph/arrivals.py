"""When a process came to each of its collectives, and whether it came out of it: all of a log at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.graph.numbered_rows import numbered_rows
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

ARRIVAL: Final = np.dtype(
    [
        ("group", "<i4"),  # which of `groups`
        ("number", "<i8"),  # of the collective in its group, from 0; all that take part count alike
        ("row", "<i8"),  # where the log says that the process comes to it
        ("op", "<i4"),
        ("site", "<i4"),
        ("shape", "<i4"),
        ("time", "<i8"),  # when it came
        ("took", "<i8"),  # how long the call took, and the wait for its end, in ns; 0 where that is not known
        ("averages", "?"),  # it is what a replica averages its gradients by
        ("waits", "?"),  # it has not come out of it, as far as the log goes
    ]
)
"""One collective of a process; op, site and shape are numbers of the log's tables."""

_TURN: Final = 1 << 15
"""Numbers that fall by more than this have begun again from 0."""


@once_a_length
def arrivals(log: Log) -> tuple[tuple[tuple[str, tuple[int, ...]], ...], np.ndarray]:
    """The groups, each by name with the ranks that are in it, and the ARRIVALs, in the order of the log."""
    groups, rows, entries, which_group, numbers = numbered_rows(log)
    if not len(rows):
        return groups, np.zeros(0, ARRIVAL)
    kinds, ops = log.pick("kind", rows), log.pick("op", rows)
    is_wait = kinds == Kind.WAIT
    is_later = np.isin(ops, [number for number, op in enumerate(log.table("ops"), 1) if _name(op) == "wait"])
    order = np.lexsort((numbers, entries))
    begins = np.zeros(len(rows), bool)
    begins[order] = np.r_[True, (np.diff(entries[order]) != 0) | (np.diff(numbers[order]) != 0)]
    begins |= is_wait & ~is_later  # a number that comes again, as it has turned
    came = np.flatnonzero(begins)
    found = np.zeros(len(came), ARRIVAL)
    found["row"], found["group"] = rows[came], which_group[came]
    found["number"] = _unwound(found["group"], numbers[came])
    for field in ("op", "site", "shape", "time"):
        found[field] = log.pick(field, found["row"])
    which = np.zeros(len(rows), np.int64)
    which[order] = _newest(begins[order], order, came)
    durations = log.pick("duration", rows)
    for is_part in (~is_wait & ~is_later, ~is_wait & is_later):  # the call, and where its end is waited for
        ended = np.flatnonzero(is_part)[::-1]  # of several rows that one wrote, the first says how long it took
        part = np.zeros(len(came), np.int64)
        part[which[ended]] = durations[ended]
        found["took"] += part
    found["averages"][which[kinds == Kind.ACCUMULATE]] = True
    found["waits"][which] = is_wait  # the last one says
    _, newest = np.unique(which_group[::-1], return_index=True)
    found["waits"] &= np.isin(np.arange(len(found)), which[len(rows) - 1 - newest])  # of several that go on, one
    return groups, found


def _newest(begins: np.ndarray, order: np.ndarray, came: np.ndarray) -> np.ndarray:
    """The arrival that each row belongs to, of rows sorted by their collectives."""
    heads = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
    return np.asarray(np.searchsorted(came, order[heads]))


def _unwound(groups: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Numbers that go on where those of the log begin again."""
    found = numbers.copy()
    for group in np.unique(groups).tolist():
        places = np.flatnonzero(groups == group)
        steps = np.diff(numbers[places], prepend=numbers[places[:1]])
        turn = int(numbers[places].max()) + 1
        found[places] += np.cumsum(steps < -_TURN) * turn
    return found


def _name(op: Any) -> Any:
    return op.get("name") if isinstance(op, dict) else None
