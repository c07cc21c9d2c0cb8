"""Slices as people write them, `[0, :, 3:7]`, read without evaluating anything; and arrays laid out in a plane."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from graphscope.errors import CommandError

_PART = re.compile(r"(-?\d+)?(?:(:)(-?\d+)?(?:(:)(-?\d+)?)?)?")

Index = tuple[Any, ...]


def read_slice(text: str) -> Index:
    """The index that a text means; empty text means all.

    Raises:
        CommandError: It is no slice.
    """
    inside = text.strip().removeprefix("[").removesuffix("]").strip()
    return tuple(_part(part.strip(), text) for part in inside.split(",")) if inside else ()


def _part(text: str, whole: str) -> Any:
    if text == "...":
        return Ellipsis
    found = _PART.fullmatch(text)
    if found is None or not text:
        raise CommandError(f"{whole!r} is no slice", "for instance [0, :, 3:7]")
    start, colon, stop, _, step = found.groups()
    if colon is None:
        return int(start)
    return slice(*(None if bound is None else int(bound) for bound in (start, stop, step)))


def plane(array: np.ndarray, index: Index) -> tuple[np.ndarray, str]:
    """A slice of an array as rows and columns, and the index that was taken in words.

    Of an array with more dimensions than two, the first ones are taken at 0 where the slice says nothing of them.

    Raises:
        CommandError: The array has no such slice.
    """
    try:
        chosen = array[index] if index else array
    except IndexError as error:
        raise CommandError(f"No such slice of {'x'.join(map(str, array.shape))}: {error}") from None
    extra = max(chosen.ndim - 2, 0)
    words = [_words(part) for part in index] + ["0"] * extra
    chosen = chosen[(0,) * extra] if extra and all(chosen.shape[:extra]) else chosen
    while chosen.ndim > 2:
        chosen = chosen.reshape(-1, chosen.shape[-1])
    return np.atleast_2d(chosen), f"[{', '.join(words)}]" if words else ""


def element(array: np.ndarray, index: Index, row: int, column: int) -> tuple[int, ...]:
    """The index of the element that stands at a row and column of `plane`."""
    try:
        numbers, _ = plane(np.arange(array.size).reshape(array.shape), index)
    except CommandError:
        numbers, _ = plane(np.arange(array.size).reshape(array.shape), ())
    return tuple(map(int, np.unravel_index(int(numbers[row, column]), array.shape)))


def _words(part: Any) -> str:
    if part is Ellipsis:
        return "..."
    if isinstance(part, slice):
        return f"{'' if part.start is None else part.start}:{'' if part.stop is None else part.stop}"
    return str(part)
