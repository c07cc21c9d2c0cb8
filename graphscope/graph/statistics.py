"""The statistics of the values of many rows at once, from the values themselves or as they were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.schema import Flag
from graphscope.eventlog.values import summary_record
from graphscope.graph.stacks import stacks

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LARGE: Final = 256
"""Values of so many elements are measured one by one, by compiled code, which looks at each element once."""


def statistics(log: Log, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A SUMMARY of the value of each row that has one output, ascending, and of which rows there is one."""
    found, is_there = np.zeros(len(rows), schema.SUMMARY), np.zeros(len(rows), bool)
    for places, values in stacks(log, rows):
        if values.dtype.kind in "fiubc":
            _summarize(values, found, places)
            is_there[places] = True
    summarised = np.flatnonzero((log.pick("flags", rows) & int(Flag.SUMMARY)) != 0)
    starts, size = log.pick("value", rows[summarised]).astype(np.int64), schema.SUMMARY.itemsize
    for first, events in log.chunks(*_extent(rows[summarised])):
        memory = log.values_of_segment(first)
        of_segment = (rows[summarised] >= first) & (rows[summarised] < first + len(events))
        inside = of_segment & (starts + size <= len(memory))
        taken = memory.at(starts[inside], size)
        found[summarised[inside]] = np.ascontiguousarray(taken).view(schema.SUMMARY).reshape(-1)
        is_there[summarised[inside]] = True
    return found, is_there


def _extent(rows: np.ndarray) -> tuple[int, int]:
    """The first of ascending rows, and the row behind the last."""
    return (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)


def _summarize(values: np.ndarray, found: np.ndarray, places: np.ndarray) -> None:
    """Fill in the statistics of values that lie in the rows of an array."""
    if values.shape[1] >= _LARGE:
        records = b"".join(map(summary_record, values))
        found[places] = np.frombuffer(records, schema.SUMMARY)
        return
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
