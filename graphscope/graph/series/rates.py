"""Learning rates: what the rows of updates tell of the settings that they were made with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph.words import by_entry, numbers, told

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_RATES: Final = ("lr", "alpha", "step")
"""Attributes of rows that tell the learning rate, or its negative."""


def tells_settings(log: Log, rows: np.ndarray) -> np.ndarray:
    """Which rows tell the settings of an optimizer."""
    found = np.zeros(len(rows), bool)
    for entry, which in by_entry(log, rows):
        found[which] = "lr" in told(entry, "attributes")
    return found


def rates_of(log: Log, rows: np.ndarray) -> np.ndarray:
    """The learning rate of each row of an update; NaN where it is not told as a number."""
    found = np.full(len(rows), np.nan)
    for entry, which in by_entry(log, rows):
        attributes = told(entry, "attributes")
        name = next((name for name in _RATES if name in attributes), "")
        if name:
            found[which] = np.abs(numbers(log, rows[which], attributes[name]))
    return found
