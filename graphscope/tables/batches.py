"""Stretches of a log's rows, and what a batch of a table is made of: columns of NumPy, texts by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

ROWS: Final = 122_880
"""So many rows of a log are read at once, and are a row group at most: as many as DuckDB gives to a thread."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Texts (or lists) of few kinds: each row names an entry by its number; an entry that is None stands for null."""

    numbers: np.ndarray
    entries: Sequence[Any]


Values: TypeAlias = "np.ndarray | Coded | list[Any]"
"""A column of a batch; what a masked array hides is null."""
Batch: TypeAlias = Mapping[str, Values]
"""The columns of some rows, by name."""


def stretches(log: Log) -> Iterator[tuple[int, np.ndarray]]:
    """The number of the first, and the rows as they lie on disk, of one stretch of the log after the other."""
    for first, events in log.chunks():
        for low in range(0, len(events), ROWS):
            yield first + low, events[low : low + ROWS]


def steps_of(log: Log, rows: np.ndarray) -> np.ndarray:
    """The training step of each row, counted from 1; hidden where it is in none."""
    numbers = step_numbers(log)
    places = numbers.steps.places(rows)
    return np.ma.MaskedArray(np.append(numbers.counts, 0)[places], places < 0)


def known(numbers: np.ndarray, is_known: np.ndarray) -> np.ndarray:
    """The same with those hidden that are not known."""
    return np.ma.MaskedArray(numbers, ~is_known)
