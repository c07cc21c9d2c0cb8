"""What lies behind the fields of many rows: the 64-bit words of their inputs, and of the numbers that vary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.repeated import Among
from graphscope.eventlog.schema import INLINE_INPUTS, ROW_MASK, Flag
from graphscope.eventlog.typed import decode

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


_STRETCH: Final = 1 << 20
"""So many rows are looked at together."""


def input_counts(log: Log, rows: np.ndarray) -> np.ndarray:
    """How many inputs each row has."""
    counts = log.pick("input_count", rows).astype(np.int64)
    beside = (log.pick("flags", rows) & int(Flag.EDGES)) != 0
    counts[beside] = log.pick("inputs", rows[beside])[:, 1]
    return counts


def words(log: Log, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The word at a place of each row: its inputs in order, and behind them its numbers; 0 where there is none."""
    beside = (log.pick("flags", rows) & int(Flag.EDGES)) != 0
    return _words(log, rows, log.pick("inputs", rows), beside, places[:, None])[:, 0]


def bits_behind(log: Log, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The 64 bits of some of the numbers behind the inputs of each row, a line for each row; 0 where there is none.

    Args:
        log: The log.
        rows: The rows.
        places: Which of the numbers: as many for each row.
    """
    inside = log.pick("inputs", rows)
    beside = (log.pick("flags", rows) & int(Flag.EDGES)) != 0
    counts = np.where(beside, inside[:, 1].astype(np.int64), log.pick("input_count", rows))
    return _words(log, rows, inside, beside, counts[:, None] + places)


def _words(log: Log, rows: np.ndarray, inside: np.ndarray, beside: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The words at some places of each row, whose field `inputs` is given, and whether its words lie beside it."""
    near = np.take_along_axis(inside, np.clip(places, 0, INLINE_INPUTS - 1), axis=1)
    found = np.where((places >= 0) & (places < INLINE_INPUTS) & ~beside[:, None], near, np.uint64(0))
    far = np.flatnonzero(beside)
    if len(far):
        for first, events in log.chunks(int(rows[far].min()), int(rows[far].max()) + 1):
            which = far[(rows[far] >= first) & (rows[far] < first + len(events))]
            nodes = log.edges(first)["node"]
            at = inside[which, :1].astype(np.int64) + places[which]
            if len(nodes):  # a damaged row may name any place
                is_there = (at >= 0) & (at < len(nodes))
                found[which] = np.where(is_there, nodes[np.where(is_there, at, 0)], np.uint64(0))
    return found


def sources(log: Log, rows: np.ndarray, place: int = 0) -> np.ndarray:
    """The row that each row takes as its input at a place; -1 where it has none there."""
    return first_sources(log, rows, [place])[:, 0]


def first_sources(log: Log, rows: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """The rows that each row takes as its inputs at some places, a line for each row; -1 where it has none there."""
    found = np.stack([log.sources(rows, place) for place in places], axis=1)
    beside = np.flatnonzero((log.pick("flags", rows) & int(Flag.EDGES)) != 0)
    if len(beside):
        far = rows[beside]
        inside = log.pick("inputs", far)
        asked = np.broadcast_to(np.array(places), (len(far), len(places)))
        named = _words(log, far, inside, np.ones(len(far), bool), asked) & np.uint64(ROW_MASK)
        found[beside] = np.where(inside[:, 1:2].astype(np.int64) > asked, named.astype(np.int64), -1)
    return found


def edges(
    log: Log, among: Among, start: int | None = None, stop: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The edges that lead to some nodes of a stretch, in parts: the rows of these, and the row that each comes from.

    Args:
        log: The log.
        among: Which nodes are meant (see `Rows.where`).
        start: The first row of the stretch.
        stop: The row behind its last one.
    """
    start, stop = log.first if start is None else start, log.end if stop is None else min(stop, log.end)
    for low in range(start, stop, _STRETCH):
        users = log.where(among, low, min(low + _STRETCH, stop))
        if not len(users):
            continue
        counts = input_counts(log, users)
        beside = (log.pick("flags", users) & int(Flag.EDGES)) != 0
        for place in range(INLINE_INPUTS):
            taking = users[~beside & (counts > place)]
            yield _ahead(taking, log.sources(taking, place))
        if beside.any():
            counts = counts[beside]
            taking = np.repeat(users[beside], counts)
            places = np.arange(len(taking)) - np.repeat(np.cumsum(counts) - counts, counts)
            yield _ahead(taking, (words(log, taking, places) & np.uint64(ROW_MASK)).astype(np.int64))


def _ahead(users: np.ndarray, named: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Without the edges of damaged rows, which may name any row."""
    sound = named < users
    return users[sound], named[sound]


def numbers(log: Log, rows: np.ndarray, encoded: Any) -> np.ndarray:
    """The number that typed JSON tells of each row, which may lie in the rows; NaN where it tells none."""
    if isinstance(encoded, dict) and isinstance(encoded.get("varying"), list) and len(encoded["varying"]) == 2:
        kind, place = encoded["varying"]
        if isinstance(place, int) and place >= 0:
            bits = bits_behind(log, rows, np.array([place]))[:, 0]
            return bits.view(np.int64 if kind == "int" else np.float64).astype(np.float64)
    try:
        value = decode(encoded)
    except ValueError:  # a damaged log
        value = None
    return np.full(len(rows), float(value) if isinstance(value, int | float) else np.nan)


def by_entry(log: Log, rows: np.ndarray) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Each entry of `attrs` that some rows have, as it lies there, and the places of these among `rows`."""
    entries = log.pick("attrs", rows)
    first, which = grouped([entries])
    order = np.argsort(which.astype(np.min_scalar_type(len(first))), kind="stable")  # narrow numbers sort by radix
    places = np.split(order, np.cumsum(np.bincount(which, minlength=len(first)))[:-1])
    for entry, own in zip(entries[first].tolist(), places, strict=False):
        yield log.entry(entry), own


def told(entry: dict[str, Any], part: str) -> dict[str, Any]:
    """A part of an entry that tells values by name, as typed JSON: its `attributes`, or what was `measured`."""
    found = entry.get(part)
    return found if isinstance(found, dict) else {}
