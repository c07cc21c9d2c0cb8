"""Two logs of one structure, row against row: which rows are other ones, and which nodes hold other numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import ELEMENTS, NODES, SUMMARY, Flag

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

STRUCTURE: Final = ("kind", "op", "shape", "dtype", "version", "graph_pass", "input_count", "tensor")
"""What is the same of each row where two programs compute the same, whatever their lines and modules are."""

PLACES: Final = ("site", "scope")
"""What is, too, where they are one program; tables are numbered as they come."""

_BLOCK: Final = 1 << 14
_STORED: Final = int(Flag.KEPT | Flag.SUMMARY | Flag.INLINE)
_WIDTHS: Final = [*(each.itemsize for each in ELEMENTS), *[16] * 256]
"""Bytes of an element, by the code of its dtype."""


def extent(one: Log, other: Log) -> tuple[int, int]:
    """The rows that both have: the first, and that behind the last."""
    return max(one.first, other.first), min(one.end, other.end)


def first_unlike(one: Log, other: Log, fields: Sequence[str]) -> int:
    """The first row that is another one in two logs by some of its fields; the row behind the last where none is."""
    first, stop = extent(one, other)
    for low in range(first, stop, _BLOCK):
        high = min(low + _BLOCK, stop)
        same = np.ones(high - low, bool)
        for field in fields:
            same &= one.column(field, low, high) == other.column(field, low, high)
        found = np.flatnonzero(~same)
        if len(found):
            return low + int(found[0])
    return max(stop, first)


def unequal(one: Log, other: Log, first: int, stop: int) -> Iterator[int]:
    """The nodes among the rows `first <= row < stop` that do not hold the same, bit for bit, ascending.

    The rows are of one structure. What neither log has kept is the same.
    """
    for low in range(first, stop, _BLOCK):
        for begin, rows in one.chunks(low, min(low + _BLOCK, stop)):
            differs, is_open = _compared(one, other, begin, rows)
            for place in np.flatnonzero(differs | is_open).tolist():
                if differs[place] or not holds_the_same(one, other, begin + place):
                    yield begin + place


def _compared(one: Log, other: Log, begin: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of some rows of a segment, which hold other bytes, and of which that can't be said without a look at them."""
    kinds, flags, places = rows["kind"], rows["flags"], rows["value"]
    nodes = (kinds >= min(NODES)) & (kinds <= max(NODES)) & ((flags & _STORED) != 0)
    theirs = {name: other.column(name, begin, begin + len(rows)) for name in ("flags", "value")}
    inline = nodes & ((flags & theirs["flags"] & int(Flag.INLINE)) != 0) & (rows["several"] == 0)
    differs = inline & (places != theirs["value"])
    is_open = nodes & ~inline & ((places != theirs["value"]) | (rows["several"] != 0))
    beside = np.flatnonzero(nodes & ~inline & ~is_open)
    if len(beside):
        differs[beside] = _other_bytes(one, other, begin, rows[beside])
    return differs, is_open


def _other_bytes(one: Log, other: Log, begin: int, rows: np.ndarray) -> np.ndarray:
    """Which of some rows of a segment, whose values lie at the same place in both, have other bytes there."""
    starts, sizes = rows["value"].astype(np.int64), _sizes(one, rows)
    order = np.argsort(starts, kind="stable")
    bytes_ = [log.values_of_segment(begin) for log in (one, other)]
    low, high = int(starts.min()), min(len(bytes_[0]), len(bytes_[1]), int((starts + sizes).max()))
    at = low + np.flatnonzero(bytes_[0].between(low, high) != bytes_[1].between(low, high))
    owners = order[np.maximum(np.searchsorted(starts[order], at, side="right") - 1, 0)]
    found = np.zeros(len(rows), bool)
    found[owners[at < starts[owners] + sizes[owners]]] = True  # what lies between two values says nothing
    return found


def _sizes(log: Log, rows: np.ndarray) -> np.ndarray:
    """How many bytes lie in `values.npy` for each row."""
    keys = rows["shape"].astype(np.int64) << 8 | rows["dtype"]
    numbers, which = np.unique(keys, return_inverse=True)
    found = [math.prod(log.shape(number >> 8)) * _WIDTHS[number & 255] for number in numbers.tolist()]
    is_summary = (rows["flags"] & int(Flag.SUMMARY)) != 0
    return np.where(is_summary, SUMMARY.itemsize, np.array(found, np.int64)[which])


def holds_the_same(one: Log, other: Log, row: int) -> bool:
    """Whether a node holds the same in both, bit for bit, as far as both kept it."""
    for slot in range(one.event(row).output_count):
        values = one.value(row, slot), other.value(row, slot)
        if values[0] is not None and values[1] is not None:
            if values[0].shape != values[1].shape or values[0].tobytes() != values[1].tobytes():
                return False
        elif str(one.summary(row, slot)) != str(other.summary(row, slot)):
            return False
    return True
