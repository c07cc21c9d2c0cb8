"""Rows in groups of those that have the same numbers in some fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

_COUNTED: Final = 1 << 20
"""Numbers below this are counted in a table; larger ones are sorted."""


class Groups(NamedTuple):
    """The groups of some rows, in ascending order of their numbers."""

    first: np.ndarray
    """The place of the first row of each."""
    which: np.ndarray
    """The group of each row."""


def grouped(columns: Sequence[np.ndarray]) -> Groups:
    """Group rows by the numbers that they have in some columns.

    As `np.unique` of the columns side by side, which sorts the rows: of millions that have few different numbers, as
    those of sites and ops are, that takes twenty times as long as to count them.

    Args:
        columns: Whole numbers, each column as long as there are rows.
    """
    keys = np.zeros(len(columns[0]), np.int64)
    size = 1
    for column in columns:
        numbers, count = _small(column)
        if size * count > _COUNTED:
            keys, size = _renumbered(keys, size)
        if size * count > np.iinfo(np.int64).max:
            numbers, count = _renumbered(numbers, count)
        keys = keys * count + numbers
        size *= count
    which, count = _renumbered(keys, size)
    first = np.zeros(count, np.int64)
    first[which[::-1]] = np.arange(len(which) - 1, -1, -1)
    return Groups(first, which)


def those(rows: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Some of many rows, of which booleans tell; a copy of many is large, so that none is made of all."""
    return rows if members.all() else rows[members]


def _small(column: np.ndarray) -> tuple[np.ndarray, int]:
    """A column in numbers from 0 on that keep its order, and a number above all of them."""
    if not len(column):
        return column.astype(np.int64), 1
    least = int(column.min())
    return (column - column.dtype.type(least)).astype(np.int64), int(column.max()) - least + 1


def _renumbered(numbers: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Numbers below a size as numbers without gaps, in the same order, and how many different ones there are."""
    if size > _COUNTED:
        several, which = np.unique(numbers, return_inverse=True)
        return which, len(several)
    there = np.zeros(size, bool)
    there[numbers] = True
    places = np.cumsum(there) - 1
    return places[numbers], int(there.sum())
