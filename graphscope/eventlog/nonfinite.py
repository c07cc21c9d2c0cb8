"""Where a log first holds NaN or Inf: its index tells, or values are scanned in bulk, never row by row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import NODES, Flag, Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_SCANNED_AS: Final[dict[str, np.dtype]] = {
    "float32": np.dtype("f4"),
    "float64": np.dtype("f8"),
    "float16": np.dtype("f2"),
    "complex64": np.dtype("f4"),  # real and imaginary part by turns
    "complex128": np.dtype("f8"),
}
_BLOCK: Final = 1 << 22
_FLAGGED: Final = int(Flag.NONFINITE)
_TOLD: Final = int(Flag.NONFINITE | Flag.SUMMARY)


def flagged_rows(log: Log, start: int | None = None, stop: int | None = None) -> list[int]:
    """The nodes that are flagged for NaN or Inf, in order: no values are scanned for it.

    A mark may be flagged, too: it repeats what a node made, as where a backward pass begins with its loss.
    """
    rows = log.rare(start, stop, lambda rows: ((rows["flags"] & _FLAGGED) != 0) & np.isin(rows["kind"], NODES))
    found: list[int] = rows.tolist()
    return found


def rows_with_nonfinite(log: Log, start: int | None = None, stop: int | None = None) -> Iterator[int]:
    """The nodes that were computed with NaN or Inf, in order, a segment at a time."""
    if log.metadata.get("nonfinite") == "flagged":
        # The first logs have rows with statistics alone listed, and not flagged.
        listed = log.rare(start, stop, lambda rows: np.isin(rows["kind"], NODES) & ((rows["flags"] & _TOLD) != 0))
        yield from (row for row in listed.tolist() if log.nonfinite(row))
    else:
        yield from _scanned(log, start, stop, NODES)


def _scanned(log: Log, start: int | None, stop: int | None, kinds: tuple[Kind, ...]) -> Iterator[int]:
    flagged = log.rare(start, stop)
    for first, events in log.chunks(start, stop):
        written = np.isin(events["kind"], kinds)
        several = (events["several"] != 0) & written
        listed = flagged[(flagged >= first) & (flagged < first + len(events))] - first
        suspects = [listed[(events["flags"][listed] & _FLAGGED) != 0], np.flatnonzero(several)]
        # Few, and numpy can't look at them in bulk.
        suspects.append(np.flatnonzero(written & (events["dtype"] == schema.DTYPE_CODES["bfloat16"])))
        for name, dtype in _SCANNED_AS.items():
            rows = np.flatnonzero(written & ~several & (events["dtype"] == schema.DTYPE_CODES[name]))
            if len(rows):
                suspects += [_inline(events, rows, dtype), _kept(log, first, events, rows, dtype)]
        for index in each_once(np.concatenate(suspects)):
            if written[index] and log.nonfinite(first + int(index)):
                yield first + int(index)


def flag(log: Log, first: int) -> None:
    """Flag the rows with NaN or Inf in the segment that begins at row `first`, whose values are about to be dropped."""
    folder = log.path / "segments" / f"{first:012d}"
    events = np.load(folder / "events.npy", mmap_mode="r+")
    rare = np.load(folder / "rare.npy", mmap_mode="r+")
    rows = np.array(list(_scanned(log, first, first + len(events), (*NODES, Kind.EDIT))), np.uint64)
    events["flags"][(rows - np.uint64(first)).astype(np.intp)] |= int(Flag.NONFINITE)
    place = int(np.count_nonzero(rare))
    new = rows[~np.isin(rows + 1, rare)][: len(rare) - place]
    rare[place : place + len(new)] = new + 1


def _inline(events: np.ndarray, rows: np.ndarray, dtype: np.dtype) -> np.ndarray:
    rows = rows[(events["flags"][rows] & int(Flag.INLINE)) != 0]
    numbers = events["value"][rows].view(dtype).reshape(len(rows), schema.INLINE_BYTES // dtype.itemsize)
    return np.asarray(rows[~np.isfinite(numbers).all(axis=1)])


def _kept(log: Log, first: int, events: np.ndarray, rows: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Rows whose stretch of the values (up to where the next one of the same dtype begins) holds NaN or Inf.

    What lies between them is of other dtypes, and may look so too: whoever asks has to look again.
    """
    rows = rows[(events["flags"][rows] & int(Flag.KEPT)) != 0]
    memory = log.values_of_segment(first)
    rows = rows[events["value"][rows] < len(memory)]
    if len(rows) == 0:
        return rows
    starts = events["value"][rows].astype(np.int64)
    order = np.argsort(starts, kind="stable")
    rows, starts = rows[order], starts[order]
    last = events[rows[-1]]
    itemsize = np.dtype(schema.DTYPES[int(last["dtype"])]).itemsize
    end = min(len(memory), int(starts[-1]) + math.prod(log.shape(int(last["shape"]))) * itemsize)
    found = [rows[:0]]
    for offset in range(int(starts[0]) // schema.ALIGNMENT * schema.ALIGNMENT, end, _BLOCK):
        block = memory.between(offset, min(offset + _BLOCK, end))
        numbers = block[: len(block) // dtype.itemsize * dtype.itemsize].view(dtype)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            found.append(each_once(np.searchsorted(starts, offset + bad * dtype.itemsize, side="right") - 1))
    hits = each_once(np.concatenate(found))
    return np.asarray(rows[hits[hits >= 0]])
