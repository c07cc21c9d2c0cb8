"""The fields that repeat from row to row: each combination of them once, and a small number a row that says which."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.narrow_numbers import NarrowNumbers

if TYPE_CHECKING:
    from graphscope.eventlog.rows import Rows

Among = Callable[[np.ndarray], np.ndarray]
"""Which of some rows are meant, as booleans; it looks at their fields `schema.REPEATED` alone."""

_BLOCK: Final = 1 << 13
"""So many rows stay in the processor's cache."""
_WORDS: Final = schema.PREFIX // 8
_PLACES: Final = 16
"""Bits of a combination's place in the table in which it is looked up."""
_FIRST: Final = 1 << 7
"""So many rows tell most combinations, and are soon sorted."""
_FEW: Final = 8
"""Up to so many combinations are sooner compared with each row than looked up for it."""
_STRETCH: Final = 1 << 20
"""So many rows are looked at in one go: what is made of them stays in the cache."""
_NONE: Final = 0
"""The number of the combination of rows that are not there."""


class Repeated(NamedTuple):
    """The repeated fields of all rows of a log."""

    distinct: np.ndarray
    """Each combination, an EVENT with no other fields than these; the first one is that of rows that are not there."""
    which: np.ndarray
    """By row, from the first of the log on: the number of its combination."""

    def column(self, field: str) -> _Looked:
        """One field of all rows."""
        return _Looked(np.ascontiguousarray(self.distinct[field]), self.which)

    def places(self, among: Among, start: int, stop: int) -> np.ndarray:
        """Those of some places whose rows are meant, ascending."""
        meant = np.array(among(self.distinct), bool)
        meant[_NONE] = False
        numbers = np.flatnonzero(meant).tolist()
        found = [np.zeros(0, np.int64)]
        for low in range(start, stop, _STRETCH) if numbers else ():
            which = self.which[low : min(low + _STRETCH, stop)]
            if len(numbers) > _FEW:
                are_meant = meant.take(which)
            else:
                are_meant = which == numbers[0]
                for number in numbers[1:]:
                    are_meant |= which == number
            found.append(low + np.flatnonzero(are_meant))
        return np.concatenate(found)


class _Looked:
    """A field of all rows, looked up by the combination of each."""

    __slots__ = ("_table", "_which")

    def __init__(self, table: np.ndarray, which: np.ndarray) -> None:
        self._table = table
        self._which = which

    @property
    def nbytes(self) -> int:
        return self._which.nbytes

    def __len__(self) -> int:
        return len(self._which)

    def __getitem__(self, places: np.ndarray | slice) -> np.ndarray:
        found: np.ndarray = self._table.take(self._which[places])
        return found


def read_repeated(rows: Rows, attrs: NarrowNumbers) -> Repeated:
    """Read the repeated fields of all rows.

    Args:
        rows: The rows.
        attrs: The field `attrs` of all rows, which is read beside them.
    """
    known, which = _Combinations(), NarrowNumbers(len(rows))
    size = _FIRST  # they are all new; later ones are known, and the more are looked up at once the better
    for first, events in rows.chunks():
        start = 0
        while start < len(events):
            part = events[start : start + size]
            known.number(part, first - rows.first + start, which, attrs)
            start, size = start + len(part), 2 * size
    return Repeated(known.distinct(), which.column)


class _Combinations:
    """The combinations met so far, found again by a hash of their bytes."""

    def __init__(self) -> None:
        self.count = 1
        self._numbers: dict[bytes, int] = {}
        self._words = np.zeros((_WORDS, 64), np.uint64)
        self._places = np.zeros(1 << _PLACES, np.uint32)

    def distinct(self) -> np.ndarray:
        """All of them, as rows."""
        found = np.zeros(self.count, schema.EVENT)
        found.view((np.uint8, schema.EVENT.itemsize))[:, : schema.PREFIX] = np.ascontiguousarray(
            self._words[:, : self.count].T
        ).view(np.uint8)
        return found

    def number(self, rows: np.ndarray, place: int, which: NarrowNumbers, attrs: NarrowNumbers) -> None:
        """Say of some rows, from a place on, the numbers of their combinations, and their `attrs`."""
        part = slice(place, place + len(rows))
        unknown, most = self._look_up(rows, which.column[part], attrs.column[part])
        if attrs.widen(most):
            self._look_up(rows, which.column[part], attrs.column[part])
        if unknown:
            others = np.flatnonzero(which.column[part] == _NONE)
            numbers = self._others(np.stack(_masked_words(rows[others]), axis=1))
            which.widen(self.count - 1)
            which.column[part][others] = numbers

    def _look_up(self, rows: np.ndarray, numbers: np.ndarray, entries: np.ndarray) -> tuple[int, int]:
        return look_up(rows, _MASK, _FACTORS, self._words, self._places, rows["attrs"], numbers, entries)

    def _others(self, words: np.ndarray) -> np.ndarray:
        """The same of those that their places do not tell: new ones, and those that share a place."""
        several, which = np.unique(words, axis=0, return_inverse=True)
        found = np.zeros(len(several), np.uint32)
        for at, (each, place) in enumerate(zip(several, _places(list(several.T)).tolist(), strict=True)):
            found[at] = number = self._numbers.setdefault(each.tobytes(), self.count)
            if number == self.count:
                self._add(each)
                self._places[place] = number
        return found[which.reshape(-1)]

    def _add(self, words: np.ndarray) -> None:
        if self.count == self._words.shape[1]:
            self._words = np.concatenate([self._words, np.zeros_like(self._words)], axis=1)
        self._words[:, self.count] = words
        self.count += 1


def _masked() -> np.ndarray:
    """The bits of the repeated fields, in the words that rows begin with."""
    one = np.zeros(1, schema.EVENT)
    for name in schema.REPEATED:
        one[name] = np.iinfo(schema.EVENT[name]).max
    return np.frombuffer(one.tobytes()[: schema.PREFIX], np.uint64)


_MASK: Final = _masked()
_FACTORS: Final = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)
"""Odd numbers without a pattern in their bits (multiplicative hashing: Knuth, The Art of Computer Programming, 6.4)."""


def _masked_words(rows: np.ndarray) -> list[np.ndarray]:
    """The words that rows begin with, but for fields that don't repeat."""
    whole = np.ndarray((len(rows), _WORDS), np.uint64, rows, 0, (rows.strides[0], 8))
    return [whole[:, column] & _MASK[column] for column in range(_WORDS)]


def _places(words: list[np.ndarray]) -> np.ndarray:
    mixed = words[0] * _FACTORS[0]
    for own, factor in zip(words[1:], _FACTORS[1:], strict=True):
        mixed ^= own * factor
    return np.asarray((mixed >> np.uint64(64 - _PLACES)).view(np.intp))


def _look_up(
    rows: np.ndarray, _: np.ndarray, __: np.ndarray, known: np.ndarray, places: np.ndarray, attrs: np.ndarray,
    numbers: np.ndarray, entries: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    entries[:] = attrs
    for start in range(0, len(rows), _BLOCK):
        words = _masked_words(rows[start : start + _BLOCK])
        at = places.take(_places(words)).astype(np.intp)
        differ = np.zeros(len(at), bool)
        for column, own in enumerate(words):
            differ |= known[column].take(at) != own
        at[differ] = _NONE
        numbers[start : start + _BLOCK] = at
    return len(numbers) - int(np.count_nonzero(numbers)), int(attrs.max())


look_up: Callable[..., tuple[int, int]] = _look_up
"""Write, of rows, the numbers of combinations and the `attrs` into the last arguments, 0 where a combination is not
known; how many are not, and the largest of the `attrs`, of which as much is written as there is room for. The others
are the rows, the mask of the repeated fields, the factors of the hash, the words of all combinations, the table in
which they are looked up, and the field `attrs` of the rows. All in one call, as a thread that reads a log while others
run waits for its turn behind each."""

if not TYPE_CHECKING:
    with suppress(ImportError):  # it was not built here: there was no compiler
        look_up = import_module("graphscope.eventlog._repeated").look_up
