"""What lies behind the fields of many rows: the 64-bit words of their inputs, and of the numbers that vary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.eventlog.schema import INLINE_INPUTS, ROW_MASK, Flag
from graphscope.eventlog.typed import decode

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def input_counts(log: Log, rows: np.ndarray) -> np.ndarray:
    """How many inputs each row has."""
    beside = (log.pick("flags", rows) & int(Flag.EDGES)) != 0
    return np.where(beside, log.pick("inputs", rows)[:, 1], log.pick("input_count", rows)).astype(np.int64)


def words(log: Log, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The word at a place of each row: its inputs in order, and behind them its numbers; 0 where there is none."""
    inside = log.pick("inputs", rows)
    beside = (log.pick("flags", rows) & int(Flag.EDGES)) != 0
    near = np.take_along_axis(inside, np.minimum(places, INLINE_INPUTS - 1)[:, None], axis=1)[:, 0]
    found = np.where((places < INLINE_INPUTS) & ~beside, near, np.uint64(0))
    far = np.flatnonzero(beside)
    if len(far):
        for first, events in log.chunks(int(rows[far].min()), int(rows[far].max()) + 1):
            which = far[(rows[far] >= first) & (rows[far] < first + len(events))]
            nodes = log.edges(first)["node"]
            at = inside[which, 0].astype(np.int64) + places[which]
            found[which[at < len(nodes)]] = nodes[at[at < len(nodes)]]
    return found


def sources(log: Log, rows: np.ndarray, place: int) -> np.ndarray:
    """The row that each row takes as its input at a place; -1 where it has none there."""
    named = (words(log, rows, np.full(len(rows), place)) & np.uint64(ROW_MASK)).astype(np.int64)
    return np.where(input_counts(log, rows) > place, named, -1)


def numbers(log: Log, rows: np.ndarray, encoded: Any) -> np.ndarray:
    """The number that typed JSON tells of each row, which may lie in the rows; NaN where it tells none."""
    if isinstance(encoded, dict) and isinstance(encoded.get("varying"), list) and len(encoded["varying"]) == 2:
        kind, place = encoded["varying"]
        if isinstance(place, int) and place >= 0:
            bits = words(log, rows, input_counts(log, rows) + place)
            return (bits.view(np.int64) if kind == "int" else bits.view(np.float64)).astype(np.float64)
    try:
        value = decode(encoded)
    except ValueError:  # a damaged log
        value = None
    return np.full(len(rows), float(value) if isinstance(value, int | float) else np.nan)


def by_entry(log: Log, rows: np.ndarray) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Each entry of `attrs` that some rows have, as it lies there, and the places of these among `rows`."""
    entries, which = np.unique(log.pick("attrs", rows), return_inverse=True)
    places = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which, minlength=len(entries)))[:-1])
    for entry, own in zip(entries.tolist(), places, strict=False):
        yield log.entry(entry), own


def told(entry: dict[str, Any], part: str) -> dict[str, Any]:
    """A part of an entry that tells values by name, as typed JSON: its `attributes`, or what was `measured`."""
    found = entry.get(part)
    return found if isinstance(found, dict) else {}
