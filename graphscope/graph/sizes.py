"""How large values are: the 2-norms of many rows at once, from values or from the statistics that stand for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.schema import SUMMARY, Flag
from graphscope.graph.stacks import stacks

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def counts_of(log: Log, rows: np.ndarray) -> np.ndarray:
    """How many elements the first output of each row has."""
    numbers = log.pick("shape", rows)
    first, which = grouped([numbers])
    found = [math.prod(log.shape(number)) for number in numbers[first].tolist()]
    return np.asarray(np.array(found, np.int64)[which])


def norms_of(log: Log, rows: np.ndarray) -> np.ndarray:
    """The 2-norm of the value of each row, of its first output; NaN where that is not known or not a number."""
    found = np.full(len(rows), np.nan)
    flags = log.pick("flags", rows)
    summarised = (flags & int(Flag.SUMMARY)) != 0
    found[summarised] = _of_statistics(log, rows[summarised])
    for places, values in stacks(log, rows):
        found[places] = _norms(values)
    return found


def norm_of(value: np.ndarray) -> float:
    """The 2-norm of an array; NaN where it is none of numbers."""
    return float(_norms(value.reshape(1, -1))[0])


def _norms(values: np.ndarray) -> np.ndarray:
    """The 2-norm of each row of an array."""
    if values.dtype.kind not in "fciub":
        return np.full(len(values), np.nan)
    numbers = np.abs(values) if values.dtype.kind == "c" else values
    with np.errstate(all="ignore"):  # not by a product of BLAS, which starts threads for it
        found = np.asarray(np.sqrt(np.square(numbers, dtype=np.float64).sum(axis=1)))
        beyond = np.flatnonzero(np.isinf(found) | (found == 0))  # of numbers whose squares are, perhaps, and not they
        if len(beyond) and numbers.itemsize == np.dtype(np.float64).itemsize:
            largest = np.abs(numbers[beyond]).max(axis=1, initial=0).astype(np.float64)
            beyond, largest = (each[np.isfinite(largest) & (largest > 0)] for each in (beyond, largest))
            parts = np.square(numbers[beyond] / largest[:, None]).sum(axis=1)
            found[beyond] = largest * np.sqrt(parts)
    return found


def norms_of_sums(log: Log, rows: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The 2-norm of the sum of the values of each group of rows; NaN where one is not known, or of another shape.

    Args:
        log: The log.
        rows: The rows.
        groups: The number of the group that each row is of; a group of no row has the norm 0.
    """
    count = int(groups.max(initial=-1)) + 1
    sums: list[np.ndarray | None] = [None] * count
    left = np.bincount(groups, minlength=count)
    order = np.argsort(groups, kind="stable")
    rows, groups = rows[order], groups[order]
    shapes = log.pick("shape", rows)
    is_one = np.ones(count, bool)
    is_one[groups[1:][(groups[1:] == groups[:-1]) & (shapes[1:] != shapes[:-1])]] = False
    for places, values in stacks(log, rows):
        if values.dtype.kind not in "fciub":
            continue
        of = groups[places]
        begins = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
        with np.errstate(all="ignore"):
            added = np.add.reduceat(values, begins, axis=0, dtype=np.result_type(values, np.float64))
            for place, group in enumerate(of[begins].tolist()):
                known = sums[group]
                if is_one[group]:
                    sums[group] = added[place] if known is None else known + added[place]
        left -= np.bincount(of, minlength=count)
    is_known = is_one & (left == 0)
    return np.array([_norm_of_sum(total) if known else math.nan for total, known in zip(sums, is_known, strict=True)])


def _norm_of_sum(total: np.ndarray | None) -> float:
    return 0.0 if total is None else norm_of(total)


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
            taken = memory.at(places[which], size)
            found.append((np.ascontiguousarray(taken).view(SUMMARY).reshape(-1), which))
    return found
