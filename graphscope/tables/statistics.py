"""The table of values: statistics of many at once, from the values themselves or as they were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.schema import NODES, Flag
from graphscope.graph.sizes import norms_of
from graphscope.graph.stacks import stacks
from graphscope.tables.batches import Batch, known, steps_of, stretches
from graphscope.tables.vocabulary import Vocabulary

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_OF_FINITE: Final = ("minimum", "maximum", "mean", "std")
_COUNTS: Final = ("nan", "inf", "zero")
_STORED: Final = int(Flag.INLINE | Flag.KEPT | Flag.SUMMARY)


def batches(log: Log) -> Iterator[Batch]:
    """The statistics of the values of a log."""
    words = Vocabulary(log)
    for first, events in stretches(log):
        stored = np.isin(events["kind"], NODES) & ((events["flags"] & _STORED) != 0) & (events["several"] == 0)
        rows = first + np.flatnonzero(stored)
        shapes = events["shape"][stored]
        records, is_there = _statistics(log, rows)
        rows, records = rows[is_there], records[is_there]
        sizes = words.count(shapes[is_there])
        some = sizes > records["nan"].astype(np.int64) + records["inf"].astype(np.int64)
        yield {
            "step": steps_of(log, rows),
            "row": rows,
            **{name: known(records[name], some) for name in _OF_FINITE},
            "norm": _norms(log, rows),
            **{name: records[name] for name in _COUNTS},
            "size": sizes,
        }


def _norms(log: Log, rows: np.ndarray) -> np.ndarray:
    """The norms of values; hidden where one is not known, infinite where elements are not finite."""
    found = norms_of(log, rows)
    return known(found, ~np.isnan(found))


def _statistics(log: Log, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A SUMMARY of the value of each row, and of which rows there is one."""
    found, is_there = np.zeros(len(rows), schema.SUMMARY), np.zeros(len(rows), bool)
    for places, values in stacks(log, rows):
        if values.dtype.kind in "fiubc":
            _summarize(values, found, places)
            is_there[places] = True
    summarised = np.flatnonzero((log.pick("flags", rows) & int(Flag.SUMMARY)) != 0)
    if len(summarised):
        memory, size = log.values_of_segment(int(rows[0])), schema.SUMMARY.itemsize
        starts = log.pick("value", rows[summarised]).astype(np.int64)
        inside = starts + size <= len(memory)
        taken = memory[starts[inside, None] + np.arange(size)]
        found[summarised[inside]] = np.ascontiguousarray(taken).view(schema.SUMMARY).reshape(-1)
        is_there[summarised[inside]] = True
    return found, is_there


def _summarize(values: np.ndarray, found: np.ndarray, places: np.ndarray) -> None:
    """Fill in the statistics of values that lie in the rows of an array."""
    with np.errstate(all="ignore"):  # the program's numbers may be too large to be squared
        numbers = np.abs(values) if values.dtype.kind == "c" else values
        found["zero"][places] = (numbers == 0).sum(axis=1)
        finite = np.isfinite(numbers) if numbers.dtype.kind == "f" else None
        if finite is None or finite.all():
            _of_finite(numbers, found, places)
            return
        found["nan"][places] = np.isnan(numbers).sum(axis=1)
        found["inf"][places] = np.isinf(numbers).sum(axis=1)
        whole = finite.all(axis=1)
        _of_finite(numbers[whole], found, places[whole])
        for place in np.flatnonzero(~whole & finite.any(axis=1)).tolist():
            _of_finite(numbers[place : place + 1, finite[place]], found, places[place : place + 1])


def _of_finite(numbers: np.ndarray, found: np.ndarray, places: np.ndarray) -> None:
    if numbers.size == 0:
        return
    found["minimum"][places], found["maximum"][places] = numbers.min(axis=1), numbers.max(axis=1)
    if numbers.shape[1] == 1:  # most values of a program that computes with numbers
        found["mean"][places] = numbers[:, 0]
        return
    found["mean"][places] = numbers.mean(axis=1, dtype=np.float64)
    found["std"][places] = numbers.std(axis=1, dtype=np.float64)
