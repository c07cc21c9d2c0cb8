"""When a process came to each of its collectives, and whether it came out of it: all of a log at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.eventlog.members import members
from graphscope.eventlog.schema import NODES, Kind
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
        ("took", "<i8"),  # how long the call took, in ns; 0 where that is not known
        ("waits", "?"),  # it has not come out of it, as far as the log goes
    ]
)
"""One collective of a process; op, site and shape are numbers of the log's tables."""

_TURN: Final = 1 << 15
"""Numbers that fall by more than this have begun again from 0."""


@once_a_length
def arrivals(log: Log) -> tuple[tuple[tuple[str, tuple[int, ...]], ...], np.ndarray]:
    """The groups, each by name with the ranks that are in it, and the ARRIVALs, in the order of the log."""
    groups, group_of, number_of = _entries(log)
    if not groups:
        return (), np.zeros(0, ARRIVAL)
    rows = _rows(log, group_of)
    kinds, entries, ops = (log.pick(field, rows) for field in ("kind", "attrs", "op"))
    is_wait = kinds == Kind.WAIT
    is_later = np.isin(ops, [number for number, op in enumerate(log.table("ops"), 1) if _name(op) == "wait"])
    order = np.argsort(entries, kind="stable")
    begins = np.zeros(len(rows), bool)
    begins[order] = np.r_[True, np.diff(entries[order].astype(np.int64)) != 0]
    begins |= is_wait & ~is_later  # a number that comes again, as it has turned
    came = np.flatnonzero(begins)
    found = np.zeros(len(came), ARRIVAL)
    found["row"], found["group"] = rows[came], group_of[entries[came]]
    found["number"] = _unwound(found["group"], number_of[entries[came]])
    for field in ("op", "site", "shape", "time"):
        found[field] = log.pick(field, found["row"])
    which = np.zeros(len(rows), np.int64)
    which[order] = _newest(begins[order], order, came)
    ended = np.flatnonzero(~is_wait)[::-1]  # of several rows that one wrote, the first says how long it took
    found["took"][which[ended]] = log.pick("duration", rows[ended])
    found["waits"][which] = is_wait  # the last one says
    _, newest = np.unique(found["group"][::-1], return_index=True)
    found["waits"] &= np.isin(np.arange(len(found)), len(found) - 1 - newest)
    return groups, found


def _newest(begins: np.ndarray, order: np.ndarray, came: np.ndarray) -> np.ndarray:
    """The arrival that each row belongs to, of rows sorted by their entries."""
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


def _rows(log: Log, group_of: np.ndarray) -> np.ndarray:
    """The rows that tell of collectives."""
    kinds = np.zeros(256, bool)
    kinds[[*NODES, Kind.WAIT]] = True
    found = [np.zeros(0, np.int64)]
    for first, rows in log.chunks():
        entries = rows["attrs"]
        known = np.where(entries < len(group_of), entries, 0)
        found.append(first + np.flatnonzero((group_of[known] >= 0) & kinds[rows["kind"]]))
    return np.concatenate(found)


def _entries(log: Log) -> tuple[tuple[tuple[str, tuple[int, ...]], ...], np.ndarray, np.ndarray]:
    """The groups, and of each entry of attributes the group, -1 of what is no collective, and the number."""
    entries = log.table("attrs")
    group_of, number_of = [-1] * (len(entries) + 1), [0] * (len(entries) + 1)
    groups: list[tuple[str, tuple[int, ...]]] = []
    numbers: dict[tuple[object, ...], int] = {}
    group, before = -1, None
    for place, entry in enumerate(entries, 1):
        if is_numbered(entry):
            ranks = entry["ranks"]
            if before is None or before["ranks"] != ranks or before["group"] != entry["group"]:  # else: as the last one
                name = entry["group"], *(ranks.items() if isinstance(ranks, dict) else ranks)
                group = numbers.setdefault(name, len(numbers))
                if len(numbers) > len(groups):
                    groups.append((entry["group"], members(ranks)))
            before = entry
            group_of[place], number_of[place] = group, entry["number"]
    return tuple(groups), np.array(group_of, np.int64), np.array(number_of, np.int64)


def is_numbered(entry: Any) -> bool:
    """Whether attributes tell of a collective: its group, the ranks that are in it, and its number."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("group"), str)
        and isinstance(entry.get("number"), int)
        and isinstance(entry.get("ranks"), list | dict)
    )


def _name(op: Any) -> Any:
    return op.get("name") if isinstance(op, dict) else None
