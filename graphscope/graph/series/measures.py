"""What updates did to parameters, from the statistics and values of a log: norms, and which share of elements moved."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.samples import MEASURES, MOST
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.sizes import norm_of, norms_of
from graphscope.graph.words import by_entry, numbers, told

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_MOST_COMPARED: Final = 1 << 11
_MOST_BYTES: Final = 1 << 26
"""Values of so many updates, and of so many bytes in all, are compared; of a longer log at steps spread over it."""
_STRETCH: Final = 1 << 17
"""What was measured is read of so many updates at once: of a long log there are millions."""


def measure(log: Log, found: np.ndarray, parts: np.ndarray, parts_of: Callable[[int], np.ndarray]) -> None:
    """Fill in the norms, and what moved.

    They were measured when the update was recorded, of a large parameter in a sample of it. Statistics that the log
    has are of all its elements. Values are compared, as far as they are, of updates that were not measured.

    Args:
        log: The log.
        found: The updates.
        parts: How many rows added up to the gradient of each.
        parts_of: Those rows of one.
    """
    known, is_told_in_time = _measured(log, found), ~_is_told_late(log, found)
    chosen = np.zeros(len(found), bool)
    chosen[~known] = _chosen(found["count"][~known], found["step"][~known])
    chosen &= is_told_in_time
    is_better_known = _is_summarised(log, found["before"]) & is_told_in_time & ~(known & (found["count"] <= MOST))
    places = np.flatnonzero(chosen | is_better_known)
    _fill(found, "weight", places, norms_of(log, found["before"][places]))
    single = places[parts[places] == 1]
    _fill(found, "gradient", single, norms_of(log, found["pulled"][single]))
    sums = _Sums(log)
    for place in np.flatnonzero(chosen).tolist():
        _compare(log, found[place : place + 1], sums.of(parts_of(place)) if parts[place] > 1 else None)


def measure_norms(log: Log, found: np.ndarray, parts: np.ndarray) -> None:
    """Fill in the norms alone: those that were measured, else of the values that the log has."""
    _measured(log, found, ("gradient", "weight"))
    weights = np.flatnonzero(np.isnan(found["weight"]) & (parts > 0))
    gradients = np.flatnonzero(np.isnan(found["gradient"]) & (parts == 1))
    values = norms_of(log, np.concatenate([found["before"][weights], found["pulled"][gradients]]))
    _fill(found, "weight", weights, values[: len(weights)])
    _fill(found, "gradient", gradients, values[len(weights) :])


def _fill(found: np.ndarray, name: str, places: np.ndarray, values: np.ndarray) -> None:
    is_known = ~np.isnan(values)
    found[name][places[is_known]] = values[is_known]


def _measured(log: Log, found: np.ndarray, names: Sequence[str] = MEASURES) -> np.ndarray:
    """Fill in what was measured when an update was recorded, of some names, else NaN; of which updates it was."""
    for name in MEASURES:
        found[name] = np.nan
    for low in range(0, len(found), _STRETCH):
        part = found[low : low + _STRETCH]
        for entry, which in by_entry(log, part["row"]):
            for name, number in told(entry, "measured").items():
                if name in names:
                    part[name][which] = numbers(log, part["row"][which], number)
    return np.asarray(~np.isnan(found["gradient"]))


def _is_summarised(log: Log, rows: np.ndarray) -> np.ndarray:
    return np.asarray((log.pick("flags", rows) & int(Flag.SUMMARY)) != 0)


def _is_told_late(log: Log, found: np.ndarray) -> np.ndarray:
    """Whether the parameter itself was written again for the update, as at a segment's begin: with its new value."""
    late = (found["before"] == found["row"] - 1) & (found["before"] > found["pulled"])
    return np.asarray(late & (log.pick("kind", found["before"]) == Kind.LEAF))


def _chosen(counts: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The updates whose values are compared: all, or those of some steps that are spread over the log.

    Args:
        counts: The elements of the parameter of each.
        steps: The step of each.
    """
    total = int(counts.sum()) * 8
    share = min(_MOST_COMPARED / max(len(steps), 1), _MOST_BYTES / max(total, 1))
    if share >= 1:
        return np.ones(len(steps), bool)
    every: np.ndarray = each_once(steps)
    taken = every[np.unique(np.linspace(0, len(every) - 1, max(int(share * len(every)), 2)).astype(np.int64))]
    return np.asarray(np.isin(steps, taken))


class _Sum(NamedTuple):
    """What rows add up to."""

    parts: int
    total: np.ndarray | None
    """None where some value is not known."""
    most: float
    """The sum of their norms: that of the total is no larger."""


class _Sums:
    """Sums of gradients; where they are not cleared, each goes on from the one before."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._newest: dict[int, _Sum] = {}
        """By the first row of each."""

    def of(self, rows: np.ndarray) -> _Sum:
        """The sum of some rows."""
        first = int(rows[0])
        known = self._newest.get(first)
        if known is None or known.parts > len(rows):
            known = _Sum(1, self._log.value(first), float(norms_of(self._log, rows[:1])[0]))
        more = rows[known.parts :]
        total, most = known.total, known.most + float(norms_of(self._log, more).sum())
        for row in more.tolist() if total is not None else ():
            value = self._log.value(row)
            total = None if value is None or total is None or value.shape != total.shape else _added(total, value)
        found = self._newest[first] = _Sum(len(rows), total, most)
        return found


def _added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(one + other)


def _compare(log: Log, one: np.ndarray, sum_of_parts: _Sum | None) -> None:
    """Fill in of one update what takes values: those of the parameter before and after, and of its gradient."""
    before, after = log.value(int(one["before"][0])), log.value(int(one["row"][0]))
    known = before is not None and after is not None and before.shape == after.shape and before.dtype == after.dtype
    gradient = sum_of_parts.total if sum_of_parts is not None else log.value(int(one["pulled"][0])) if known else None
    if sum_of_parts is not None:  # of parts that were summarised the sum is not known
        one["gradient"] = norm_of(gradient) if gradient is not None else sum_of_parts.most
    if not known or before is None or after is None:
        statistics = log.summary(int(one["before"][0]))
        if statistics is not None and statistics == log.summary(int(one["row"][0])) and one["weight"][0] > 0:
            one["update"] = one["moved"] = 0.0  # seven statistics of all its elements are what they were
        return
    with np.errstate(all="ignore"):
        one["update"] = norm_of(np.subtract(after, before, dtype=None if before.dtype.kind == "c" else np.float64))
    changed = (after != before) & ~((after != after) & (before != before))
    pulled = gradient != 0 if gradient is not None and gradient.shape == before.shape else np.ones(before.shape, bool)
    one["moved"] = float(changed[pulled].mean()) if pulled.any() else (math.nan if not changed.any() else 1.0)
