"""What the marks of training steps tell of the loops around them, and what is told where a program waited or failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.graph.words import by_entry, numbers, told

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


@dataclass(frozen=True, slots=True)
class Counters(Sequence[dict[str, int]]):
    """What loops counted at each of many places, in columns: places are many, and loops few."""

    loops: tuple[tuple[str, ...], ...]
    """The counters of some loops, by the program's names, the outermost first; those at 0 are none at all."""
    which: np.ndarray
    """Of each place, which of these are told there."""
    columns: np.ndarray
    """A line for each place, a column for each counter."""

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, index: int) -> dict[str, int]: ...
    @overload
    def __getitem__(self, index: slice) -> Counters: ...
    def __getitem__(self, index: int | slice) -> dict[str, int] | Counters:
        if isinstance(index, slice):
            return Counters(self.loops, self.which[index], self.columns[index])
        return dict(zip(self.loops[self.which[index]], self.columns[index].tolist(), strict=False))

    @property
    def widths(self) -> np.ndarray:
        """How many counters are told at each place."""
        widths: np.ndarray = np.array([len(names) for names in self.loops])[self.which]
        return widths

    @property
    def newest(self) -> dict[str, int]:
        """What is told at the last place; nothing where there is none."""
        return self[-1] if len(self) else {}

    def repeated(self) -> np.ndarray:
        """Whether each place is told the same as the one before it; not where nothing is told."""
        return self.equal() & (self.which > 0)

    def equal(self) -> np.ndarray:
        """The same, also where nothing is told."""
        found = np.zeros(len(self), bool)
        found[1:] = self.which[1:] == self.which[:-1]
        found[1:] &= (self.columns[1:] == self.columns[:-1]).all(axis=1)
        return found

    def picked(self, places: np.ndarray) -> Counters:
        """The same at some of the places alone."""
        return Counters(self.loops, self.which[places], self.columns[places])

    def spread(self, places: np.ndarray, count: int) -> Counters:
        """The same at other places, ascending, of so many; at those between them nothing is told."""
        which, columns = np.zeros(count, np.int64), np.zeros((count, self.columns.shape[1]), np.int64)
        which[places], columns[places] = self.which, self.columns
        return Counters(self.loops, which, columns)

    def shortened(self, widths: np.ndarray) -> Counters:
        """The same without the inner loops of some: at most so many counters of each entry of `loops`."""
        loops = tuple(dict.fromkeys(names[:width] for names, width in zip(self.loops, widths.tolist(), strict=True)))
        kept = [loops.index(names[:width]) for names, width in zip(self.loops, widths.tolist(), strict=True)]
        which = np.array(kept, np.int64)[self.which]
        inside = np.arange(self.columns.shape[1]) < np.array([len(names) for names in loops])[which][:, None]
        return Counters(loops, which, np.where(inside, self.columns, 0))

    def replaced(self, place: int, counters: Mapping[str, int]) -> Counters:
        """The same but for what is told at one place."""
        names = tuple(counters)
        loops = self.loops if names in self.loops else (*self.loops, names)
        wide = max(self.columns.shape[1], len(names))
        which, columns = self.which.copy(), np.zeros((len(self), wide), np.int64)
        columns[:, : self.columns.shape[1]] = self.columns
        which[place], columns[place] = loops.index(names), 0
        columns[place, : len(names)] = list(counters.values())
        return Counters(loops, which, columns)


def places_among_equal(is_first: np.ndarray) -> np.ndarray:
    """The place of each among those that are equal and lie together, from 0 on.

    Args:
        is_first: Which differ from the one before them.
    """
    places = np.arange(len(is_first))
    found: np.ndarray = places - np.maximum.accumulate(np.where(is_first, places, 0))
    return found


def untold(count: int) -> Counters:
    """Nothing told at any of so many places."""
    return Counters(((),), np.zeros(count, np.int64), np.zeros((count, 0), np.int64))


def counters_of(log: Log, marks: np.ndarray) -> Counters:
    """What the loops of the program counted at each mark."""
    loops: dict[tuple[str, ...], int] = {(): 0}
    which = np.zeros(len(marks), np.int64)
    found: list[tuple[np.ndarray, list[np.ndarray]]] = []
    for names, parts, places in _told(log, marks):
        parts = parts[: len(names)]
        which[places] = loops.setdefault(tuple(names[: len(parts)]), len(loops))
        found.append((places, [numbers(log, marks[places], part) for part in parts]))
    columns = np.zeros((len(marks), max(map(len, loops))), np.int64)
    for places, told_there in found:
        for column, each in enumerate(told_there):
            columns[places, column] = np.nan_to_num(each)
    return Counters(tuple(loops), which, columns)


def counts_of(log: Log, marks: np.ndarray) -> np.ndarray:
    """Which step each mark ends, counted from 1; 0 where the log does not tell."""
    found = np.zeros(len(marks), np.int64)
    for names, parts, places in _told(log, marks):
        if len(parts) > len(names):
            found[places] = np.nan_to_num(numbers(log, marks[places], parts[len(names)]))
    return found


def _told(log: Log, marks: np.ndarray) -> Iterator[tuple[list[str], list[Any], np.ndarray]]:
    """The names of the counters that some marks tell, their numbers as typed JSON, and the places of the marks."""
    for entry, places in by_entry(log, marks):
        names, encoded = entry.get("counters"), told(entry, "attributes").get("numbers")
        if isinstance(names, list) and isinstance(encoded, dict) and isinstance(encoded.get("tuple"), list):
            yield [str(name) for name in names], encoded["tuple"], places


def told_behind(log: Log, row: int) -> dict[str, int]:
    """What the loops counted where the program waited or failed last, from a row on; empty where it did not."""
    return _counters(_turn_behind(log, row))


def told_in_unended(log: Log, row: int) -> dict[str, int]:
    """The same of a step that has not ended, from its first row on; else what they counted where an optimizer made a
    step that is part of it.
    """
    made = log.marks(Kind.STEP)
    return told_behind(log, row) or counters_of(log, made[made >= row][-1:]).newest


def count_behind(log: Log, row: int) -> int:
    """Which step that was, counted from 1; 0 where the log does not tell."""
    return int(_turn_behind(log, row).get("step", 0))


def told_at(log: Log, row: int) -> tuple[int, dict[str, int]]:
    """Which step a row that tells of a failure came in, counted from 1, and what loops counted; 0: not told.

    A step that was left out may be none of the log's.
    """
    entry = _turn_behind(log, row)
    return (int(entry.get("step", 0)), _counters(entry)) if entry.get("row") == row else (0, {})


def _counters(turn: dict[str, Any]) -> dict[str, int]:
    return dict(zip(turn["counters"], turn["numbers"], strict=True)) if turn else {}


def _turn_behind(log: Log, row: int) -> dict[str, Any]:
    for entry in reversed(log.table("attrs")):
        if isinstance(entry, dict) and entry.get("call") == "turn" and entry["row"] >= row:
            return entry
    return {}


def is_of_ended(log: Log, row: int) -> bool:
    """Whether the program waited or failed last, from a row on, in the rest of the turn whose step had ended there."""
    turn, marks = _turn_behind(log, row), log.marks(Kind.STEP)[-1:]
    return bool(turn.get("has_ended")) and turn.get("step", 0) in (0, *counts_of(log, marks).tolist())


def raised_later(log: Log) -> np.ndarray:
    """The exceptions that came in a later step than that of the mark ahead of them."""
    raised: np.ndarray = log.marks(Kind.EXCEPTION)
    if not len(raised):
        return raised
    turns = [each for each in log.table("attrs") if isinstance(each, dict) and each.get("call") == "turn"]
    came = {each["row"]: each.get("step", 0) for each in turns}
    marks = log.marks(Kind.STEP)
    ended = np.append(0, counts_of(log, marks))[np.searchsorted(marks, raised)]
    return raised[np.array([came.get(row, 0) for row in raised.tolist()]) > ended]
