"""Which rank comes to another collective than the others: one left out, one too many, another order or size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import Place, Track
from graphscope.eventlog.names import short_place

_SIZED: Final = frozenset({"all_reduce", "broadcast", "reduce", "all_gather_into_tensor", "reduce_scatter_tensor"})
"""Collectives to which all must bring the same shape."""

_PAIRED: Final = {"recv": "send", "irecv": "isend"}
"""What one of two ranks does where the other does the other."""

_FURTHEST: Final = 256
"""So many collectives are looked through for those that were left out."""
_SURE: Final = 8
"""So many that follow must be the same then, or all that there are."""

Call = tuple[str, tuple[int, ...]]


class _Meeting(NamedTuple):
    """What a rank came to."""

    rank: str
    log: Path
    row: int
    call: Call
    place: Place
    passes: int

    def __str__(self) -> str:
        return f"{_spoken(self.call)} at {short_place(*self.place)}" if self.place[0] else _spoken(self.call)


class _Departure(NamedTuple):
    """Where a rank first comes to something else than the first rank of its group."""

    number: int
    usual: _Meeting
    other: _Meeting
    ahead: int
    """So many collectives of the first rank's it has left out; below 0, so many more it came to; 0: neither."""


class _Group:
    """The ranks of one group: the first is kept, and of each other where it parts from that."""

    def __init__(self) -> None:
        self.usual: Track | None = None
        self._rows = np.zeros(0, np.int64)
        self.ranks: list[str] = []
        self.departures: list[_Departure] = []

    def add(self, track: Track, places: np.ndarray, everyone: int) -> None:
        """Look at another rank, which has these meetings of the group."""
        self.ranks.append(track.name)
        if self.usual is None:
            self.usual, self._rows = track, places
        else:
            found = _departure(self.usual, self._rows, track, places)
            self.departures += [] if found is None else [found]
        if len(self.ranks) == everyone:
            self.usual = None  # it is large, and all are here

    def told(self) -> Iterator[Told]:
        if not self.departures:
            return
        number = min(each.number for each in self.departures)
        here = [each for each in self.departures if each.number == number]
        kinds = Counter((each.other.call, each.other.passes) for each in here)
        most, count = kinds.most_common(1)[0]
        if 2 * count > len(self.ranks):  # the first rank is the odd one
            same = next(each for each in here if (each.other.call, each.other.passes) == most)
            odd = [same.usual.rank]
            yield _told(odd, same.usual, same.other, -same.ahead)
        else:
            alike = [each for each in here if (each.other.call, each.other.passes) == most]
            yield _told([each.other.rank for each in alike], alike[0].other, alike[0].usual, alike[0].ahead)


class Meetings:
    """Compares the collectives of each group, in their order."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, tuple[int, ...]], _Group] = {}

    def add(self, track: Track) -> None:
        """Look at another rank."""
        for place, key in enumerate(track.groups):
            own = np.flatnonzero(track.meetings["group"] == place)
            self._groups.setdefault(key, _Group()).add(track, own, len(key[1]))

    def told(self) -> Iterator[Told]:
        """The first collective of each group at which ranks part."""
        for group in self._groups.values():
            yield from group.told()


def _departure(first: Track, firsts: np.ndarray, other: Track, others: np.ndarray) -> _Departure | None:
    here, there = _same(first.meetings["number"][firsts], other.meetings["number"][others])
    numbers: dict[tuple[str, tuple[int, ...] | None], int] = {}
    signs = [_signs(track, places, numbers) for track, places in ((first, firsts), (other, others))]
    differ = np.flatnonzero((signs[0][here] != signs[1][there]).any(axis=1))
    if not len(differ):
        return None
    at = int(here[differ[0]]), int(there[differ[0]])
    ahead = _ahead(signs[0][at[0] :], signs[1][at[1] :])
    one, two = first.meetings[firsts[at[0]]], other.meetings[others[at[1]]]
    return _Departure(int(one["number"]), _meeting(first, one), _meeting(other, two), ahead)


def _same(one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the same numbers stand among some, and among others: mostly all do, in the same order."""
    if np.array_equal(one, two):
        places = np.arange(len(one))
        return places, places
    _, here, there = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    return here, there


def _signs(track: Track, places: np.ndarray, numbers: dict[tuple[str, tuple[int, ...] | None], int]) -> np.ndarray:
    """By what two ranks' collectives are the same: what they do, and how many backward passes have begun."""
    keys = [(_PAIRED.get(op, op), shape if op in _SIZED else None) for op, shape in track.calls]
    calls = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    met = track.meetings
    return np.stack([calls[met["call"][places]], met["passes"][places]], axis=1)


def _ahead(usual: np.ndarray, other: np.ndarray) -> int:
    """How many of the usual collectives the other has left out where they part; below 0 how many more it has.

    Of several answers, as where the same comes again and again, the one is taken by which both end together.
    """
    found: list[tuple[int, int]] = []
    for count in range(1, _FURTHEST):
        for one, two, ahead in ((usual[count:], other, count), (usual, other[count:], -count)):
            length = min(len(one), len(two), _SURE)
            if length and np.array_equal(one[:length], two[:length]):
                found.append((abs(len(one) - len(two)), ahead))
    return min(found, key=lambda each: (each[0], abs(each[1])))[1] if found else 0


def _meeting(track: Track, met: np.void) -> _Meeting:
    call, place = track.calls[int(met["call"])], track.places[int(met["place"])]
    return _Meeting(track.name, track.path, int(met["row"]), call, place, int(met["passes"]))


def _told(odd: list[str], met: _Meeting, usual: _Meeting, ahead: int) -> Told:
    who, verb = named(odd), "s" if len(odd) == 1 else ""
    evidence = {"backward passes begun there": met.passes, "backward passes begun elsewhere": usual.passes}
    if ahead > 0:
        count = f"{ahead} collectives, the first of them {usual}" if ahead > 1 else str(usual)
        verdict = f"{who} leave{verb} out {count}: the next that it comes to, {met}, meets that of the others"
        cure = "let every rank call it, whatever a condition says; a rank with nothing to add adds zeros"
        return told(usual.log, usual.row, usual.place, odd[0], "collective left out", verdict, cure, evidence)
    if ahead < 0:
        count = f"{-ahead} collectives more than the others, the first of them {met}" if ahead < -1 else f"{met} too"
        verdict = f"{who} come{verb} to {count}: it meets {usual} of {usual.rank}"
        cure = "let every rank call it, or none"
        return told(met.log, met.row, met.place, odd[0], "one collective more", verdict, cure, evidence)
    verdict = f"{who} come{verb} to {met}, where {usual.rank} comes to {usual}"
    cause = "another size" if met.call[0] == usual.call[0] else "another collective"
    cure = "let all ranks call the same collectives in the same order, with the same shapes"
    if met.call == usual.call:
        cause = "another backward pass"
        verdict += f": {met.passes} backward passes have begun there, {usual.passes} here"
    return told(met.log, met.row, met.place, odd[0], cause, verdict, cure, evidence)


def _spoken(call: Call) -> str:
    op, shape = call
    return f"{op} of {list(shape)}" if shape else op
