"""What values look like, within a budget of bytes: small ones as they are, of large ones a picture and a histogram."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Picture", "picture", "samples"]

EXACT: Final = 256
"""A value of so many elements or fewer is told to the bit."""
SIDES: Final = (64, 48, 32, 24, 16, 12, 8)
"""The longest side that a picture of a larger one has; the first with which all fit is taken."""
BINS: Final = 24
LEVELS: Final = 250
"""Finite elements are told by their level between the least and the greatest, from 0 up to this."""
INFINITE_BELOW, INFINITE, NOT_A_NUMBER = 253, 254, 255


@dataclass(frozen=True, slots=True)
class Picture:
    """What is told of a value."""

    rows: int
    columns: int
    low: float
    """What level 0 stands for; 0 of a value that is told exactly."""
    high: float
    data: bytes
    """Elements as float32, or a level each; behind levels the histogram, each bin as a share of the fullest of 255."""
    is_exact: bool


def samples(
    groups: Sequence[Sequence[int]],
    value_of: Callable[[int], np.ndarray | None],
    size_of: Callable[[int], int],
    budget: int,
) -> dict[str, Any]:
    """Pictures of the values of nodes as columns, and their bytes in base64.

    Args:
        groups: The nodes, those that matter most in the first group: pictures are as large as all of its fit.
        value_of: The value of a node; None where it was not kept.
        size_of: How many elements it has.
        budget: So many bytes all of them may take, in base64.
    """
    room = budget // 4 * 3
    first = [size_of(node) for node in groups[0]] if groups else []
    side = next((each for each in SIDES if sum(_bytes(size, each) for size in first) <= room), SIDES[-1])
    found: dict[str, list[Any]] = {name: [] for name in ("node", "rows", "columns", "low", "high", "exact", "place")}
    data = bytearray()
    left_out = 0
    for node in (node for group in groups for node in sorted(group, key=lambda node: size_of(node) > EXACT)):
        if len(data) + _bytes(size_of(node), side) > room:
            left_out += 1
            continue
        value = value_of(node)
        made = None if value is None else picture(value, side)
        if made is None:
            continue
        entry = (node, made.rows, made.columns, made.low, made.high, int(made.is_exact), len(data))
        for name, told in zip(found, entry, strict=True):
            found[name].append(told)
        data += made.data
    return {**found, "data": base64.b64encode(bytes(data)).decode(), "bins": BINS, "left_out": left_out}


def _bytes(size: int, side: int) -> int:
    return 4 * size if size <= EXACT else side * side + BINS


def picture(value: np.ndarray, side: int) -> Picture | None:
    """The picture of a value with no more than so many rows and columns; None of what is no numbers."""
    if value.size == 0 or value.dtype.kind not in "fiubc":
        return None
    with np.errstate(all="ignore"):
        numbers = np.abs(value) if value.dtype.kind == "c" else value
        table = numbers.reshape(-1, numbers.shape[-1] if numbers.ndim else 1)
        if value.size <= EXACT:
            return Picture(len(table), table.shape[1], 0.0, 0.0, table.astype("<f4").tobytes(), is_exact=True)
        if table.shape[0] == 1 or table.shape[1] == 1:  # a long vector is wrapped
            flat = table.reshape(-1)
            flat = flat[_spread(flat.size, side * side)]
            table = flat[: flat.size // side * side].reshape(-1, side) if flat.size >= side else flat.reshape(1, -1)
        table = table[np.ix_(_spread(table.shape[0], side), _spread(table.shape[1], side))].astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        data = _levels(table, low, high) + _histogram(finite, low, high)
        return Picture(len(table), table.shape[1], low, high, data, is_exact=False)


def _spread(count: int, most: int) -> np.ndarray:
    """Places that are spread evenly over some."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _levels(table: np.ndarray, low: float, high: float) -> bytes:
    scaled = np.nan_to_num((table - low) / ((high - low) or 1.0), nan=0.0, posinf=1.0, neginf=0.0)
    levels = np.rint(np.clip(scaled, 0, 1) * LEVELS)
    levels = np.where(np.isnan(table), NOT_A_NUMBER, np.where(np.isposinf(table), INFINITE, levels))
    return np.where(np.isneginf(table), INFINITE_BELOW, levels).astype(np.uint8).tobytes()


def _histogram(finite: np.ndarray, low: float, high: float) -> bytes:
    if not finite.size or not np.isfinite(high - low):
        return bytes(BINS)
    counts, _ = np.histogram(finite.astype(np.float64), BINS, (low, high if high > low else low + 1))
    return bytes(np.ceil(counts / counts.max() * 255).astype(np.uint8))
