"""The values of many rows at once: those of one shape and dtype are one array, read in bulk."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import DTYPE_CODES, DTYPES, Flag

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_MOST_BYTES: Final = 1 << 23
"""So much is read at once."""
_FEW: Final = 4
"""Fewer values of one kind are read one by one."""
_ALONE: Final = [DTYPE_CODES[name] for name in ("", "bfloat16", "object")]
"""What numpy has no dtype for."""


class Stack(NamedTuple):
    """Values of one shape and dtype."""

    places: np.ndarray
    """Of each which of the rows it is of."""
    values: np.ndarray
    """The elements of each as a row of this array."""


def stacks(log: Log, rows: np.ndarray) -> Iterator[Stack]:
    """The values of rows that made one, as far as they were kept; places ascend within each stack."""
    flags, dtypes, starts = (log.pick(name, rows) for name in ("flags", "dtype", "value"))
    shapes = log.pick("shape", rows).astype(np.int64)
    kept = ((flags & int(Flag.KEPT | Flag.INLINE)) != 0) & (log.pick("several", rows) == 0)
    in_bulk = kept & ~np.isin(dtypes, _ALONE) & (dtypes < len(DTYPES))
    is_inline = (flags & int(Flag.INLINE)) != 0
    kinds = np.where(in_bulk, shapes << 9 | is_inline.astype(np.int64) << 8 | dtypes, -1)
    alone = [np.flatnonzero(kept & ~in_bulk)]
    for kind in each_once(kinds[in_bulk]).tolist():
        places, dtype = np.flatnonzero(kinds == kind), np.dtype(DTYPES[kind & 255])
        size = math.prod(log.shape(kind >> 9)) * dtype.itemsize
        if len(places) < _FEW or size == 0:
            alone.append(places)
        elif kind >> 8 & 1:
            yield Stack(places, _inline(starts[places], size).view(dtype))
        else:
            at_once = max(_MOST_BYTES // size, 1)
            for low in range(0, len(places), at_once):
                chosen = places[low : low + at_once]
                parts = [*_beside(log, rows[chosen], starts[chosen].astype(np.int64), size)]
                if parts:
                    which, memory = parts[0] if len(parts) == 1 else _together(parts)
                    yield Stack(chosen[which], memory.view(dtype))
    for place in np.concatenate(alone).tolist():
        value = log.value(int(rows[place]))
        if value is not None:
            yield Stack(np.array([place]), value.reshape(1, -1))


def _inline(values: np.ndarray, size: int) -> np.ndarray:
    """The bytes of values that lie in the rows themselves."""
    return np.ascontiguousarray(values.view(np.uint8).reshape(len(values), -1)[:, :size])


def _together(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Values of several segments as one array, in the order of their places."""
    which = np.concatenate([places for places, _ in parts])
    memory = np.concatenate([found for _, found in parts])
    if (which[1:] > which[:-1]).all():
        return which, memory
    order = np.argsort(which)
    return which[order], memory[order]


def _beside(log: Log, rows: np.ndarray, starts: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The bytes of values that lie beside the rows, a segment at a time."""
    for first, events in log.chunks(int(rows.min()), int(rows.max()) + 1):
        memory = log.values_of_segment(first)
        which = np.flatnonzero((rows >= first) & (rows < first + len(events)) & (starts + size <= len(memory)))
        if len(which) == 0:
            continue
        found = memory.at(starts[which], size)
        log.look(starts[which], size)
        if log.metadata.get("finished") is not None or first >= log.dropped:  # else the file may hold others by now
            yield which, found
