"""Where a log first holds NaN or Inf: values are scanned in bulk, a segment at a time, never row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_FLOATS = ("float32", "float64", "float16")
_BLOCK = 1 << 22


def rows_with_nonfinite(log: Log) -> Iterator[int]:
    """The rows whose value holds NaN or Inf, in order, a segment at a time."""
    flagged = log.rare()
    for first, events in log.chunks():
        suspects = [flagged[(flagged >= first) & (flagged < first + len(events))]]
        several = (events["several"] != 0) & (events["kind"] != 0)
        suspects.append(np.flatnonzero(several) + first)
        for name in _FLOATS:
            of_dtype = (events["dtype"] == schema.DTYPE_CODES[name]) & (events["kind"] != 0) & ~several
            if of_dtype.any():
                suspects.append(_inline(events, of_dtype, np.dtype(name)) + first)
                suspects.append(_kept(log, first, events, of_dtype, np.dtype(name)) + first)
        for row in np.unique(np.concatenate(suspects).astype(np.int64)):
            if events["kind"][row - first] != 0 and log.nonfinite(int(row)):
                yield int(row)


def _inline(events: np.ndarray, of_dtype: np.ndarray, dtype: np.dtype) -> np.ndarray:
    rows = np.flatnonzero(of_dtype & ((events["flags"] & int(Flag.INLINE)) != 0))
    if len(rows) == 0:
        return rows
    words = np.ascontiguousarray(events["value"][rows])
    numbers = words.view(dtype).reshape(len(rows), -1)
    return rows[~np.isfinite(numbers).all(axis=1)]


def _kept(log: Log, first: int, events: np.ndarray, of_dtype: np.ndarray, dtype: np.dtype) -> np.ndarray:
    rows = np.flatnonzero(of_dtype & ((events["flags"] & int(Flag.KEPT)) != 0))
    if len(rows) == 0:
        return rows
    starts = events["value"][rows].astype(np.int64)
    order = np.argsort(starts, kind="stable")
    rows, starts = rows[order], starts[order]
    memory = log.values_of_segment(first)
    end = min(len(memory), int(starts[-1]) + (1 << 26))
    found = []
    begin = int(starts[0]) // schema.ALIGNMENT * schema.ALIGNMENT
    for offset in range(begin, end, _BLOCK):
        block = memory[offset : min(offset + _BLOCK, end)]
        numbers = block[: len(block) // dtype.itemsize * dtype.itemsize].view(dtype)
        with np.errstate(all="ignore"):
            bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            found.append(np.unique(np.searchsorted(starts, offset + bad * dtype.itemsize, side="right") - 1))
    if not found:
        return rows[:0]
    hits = np.unique(np.concatenate(found))
    return np.sort(rows[hits[(hits >= 0) & (hits < len(rows))]])
