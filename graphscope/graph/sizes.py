"""How large values are: the 2-norms of many rows at once, from values or from the statistics that stand for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import SUMMARY, Flag

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def counts_of(log: Log, rows: np.ndarray) -> np.ndarray:
    """How many elements the first output of each row has."""
    numbers, which = np.unique(log.pick("shape", rows), return_inverse=True)
    found = [math.prod(log.shape(int(number))) for number in numbers.tolist()]
    return np.asarray(found, np.int64)[which] if len(found) else np.zeros(0, np.int64)


def norms_of(log: Log, rows: np.ndarray) -> np.ndarray:
    """The 2-norm of the value of each row, of its first output; NaN where that is not known or not a number."""
    found = np.full(len(rows), np.nan)
    flags = log.pick("flags", rows)
    summarised = (flags & int(Flag.SUMMARY)) != 0
    found[summarised] = _of_statistics(log, rows[summarised])
    kept = np.flatnonzero((flags & int(Flag.KEPT | Flag.INLINE)) != 0)
    for place in kept.tolist():
        value = log.value(int(rows[place]))
        if value is not None:
            found[place] = norm_of(value)
    return found


def norm_of(value: np.ndarray) -> float:
    """The 2-norm of an array; NaN where it is none of numbers."""
    if value.dtype.kind not in "fciub":
        return math.nan
    numbers = np.abs(value) if value.dtype.kind == "c" else value
    with np.errstate(all="ignore"):  # not by a product of BLAS, which starts threads for it
        return float(np.sqrt(np.square(numbers, dtype=np.float64).sum()))


def _of_statistics(log: Log, rows: np.ndarray) -> np.ndarray:
    """The same of rows of which only the statistics were kept; infinite where some elements are not finite."""
    found = np.full(len(rows), np.nan)
    if len(rows) == 0:
        return found
    counts, places = counts_of(log, rows), log.pick("value", rows).astype(np.int64)
    for records, which in _records(log, rows, places):
        with np.errstate(all="ignore"):
            squares = records["mean"] ** 2 + records["std"] ** 2
            sizes = np.sqrt(squares * (counts[which] - records["nan"] - records["inf"]))
        found[which] = np.where(records["nan"] + records["inf"] > 0, np.inf, sizes)
    return found


def _records(log: Log, rows: np.ndarray, places: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The statistics of rows, and which of the rows they are of, a segment at a time."""
    found, size = [], SUMMARY.itemsize
    for first, events in log.chunks(int(rows.min()), int(rows.max()) + 1):
        which = np.flatnonzero((rows >= first) & (rows < first + len(events)))
        memory = log.values_of_segment(first)
        which = which[places[which] + size <= len(memory)]
        if len(which):
            taken = memory[places[which][:, None] + np.arange(size)]
            found.append((np.ascontiguousarray(taken).view(SUMMARY).reshape(-1), which))
    return found
