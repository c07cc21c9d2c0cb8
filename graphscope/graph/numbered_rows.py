"""The rows that tell of collectives of ranks: of which group, and with which number in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.numbering import group_of, is_numbered, place_of
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph.words import bits_behind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_STRETCH: Final = 1 << 18
"""So many rows are looked at together."""


class NumberedRows(NamedTuple):
    """Rows of nodes and of marks `WAIT`, in the order of the log."""

    groups: tuple[tuple[str, tuple[int, ...]], ...]
    """Each by name, with the ranks that are in it."""
    rows: np.ndarray
    entries: np.ndarray
    """Of each row its entry of `attrs`."""
    which: np.ndarray
    """Of each row the place of its group among `groups`."""
    numbers: np.ndarray
    """Of each row the number of its collective, from 0; those of old logs begin again after so many."""


def numbered_rows(log: Log) -> NumberedRows:
    """Read those of a log."""
    groups, which, numbers = _entries(log)
    rows, entries = _rows(log, which) if groups else (np.zeros(0, np.int64), np.zeros(0, np.int64))
    told = numbers[entries]
    behind = np.flatnonzero(told < 0)
    if len(behind):
        told[behind] = bits_behind(log, rows[behind], -1 - told[behind, None])[:, 0].view(np.int64)
    return NumberedRows(groups, rows, entries, which[entries], told)


def _entries(log: Log) -> tuple[tuple[tuple[str, tuple[int, ...]], ...], np.ndarray, np.ndarray]:
    """The groups; of each entry of attributes the group, -1 of what is no collective, and the number.

    Below 0 that is the place, counted from -1 down, at which the number lies in the rows.
    """
    entries = log.table("attrs")
    which, numbers = [-1] * (len(entries) + 1), [0] * (len(entries) + 1)
    groups: list[tuple[str, tuple[int, ...]]] = []
    known: dict[tuple[object, ...], int] = {}
    group, before = -1, None
    for number, entry in enumerate(entries, 1):
        if is_numbered(entry):
            ranks = entry["ranks"]
            if before is None or before["ranks"] != ranks or before["group"] != entry["group"]:  # else: as the last one
                name = entry["group"], *(ranks.items() if isinstance(ranks, dict) else ranks)
                group = known.setdefault(name, len(known))
                if len(known) > len(groups):
                    groups.append(group_of(entry))
            before = entry
            place = place_of(entry)
            which[number], numbers[number] = group, entry["number"] if place is None else -1 - place
    return tuple(groups), np.array(which, np.int64), np.array(numbers, np.int64)


def _rows(log: Log, group_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that have such entries, and these."""
    is_met = group_of >= 0
    found, told = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start in range(log.first, log.end, _STRETCH):
        entries = log.column("attrs", start, start + _STRETCH)
        places = np.flatnonzero(is_met.take(entries, mode="clip") & (entries < len(is_met)))
        places = places[_KINDS[log.pick("kind", start + places)]]
        found.append(start + places)
        told.append(entries[places].astype(np.int64))
    return np.concatenate(found), np.concatenate(told)


_KINDS: Final = np.isin(np.arange(256), (*NODES, Kind.WAIT))
