"""Which rank comes to another collective than the others: one left out, one too many, another order or size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from graphscope.diagnose.ranks.clock import UNTOLD, in_common
from graphscope.diagnose.ranks.ends import SENT
from graphscope.diagnose.ranks.place import Place
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import Track
from graphscope.eventlog.names import short_place

_SIZED: Final = frozenset({"all_reduce", "broadcast", "reduce", "all_gather_into_tensor", "reduce_scatter_tensor"})
"""Collectives to which all must bring the same shape."""

_PAIRED: Final = dict.fromkeys(SENT, "send")
"""What one of two ranks does where the other does the other, at once or later."""

_PASSES: Final = 2
"""The column of signs that tells the backward pass."""

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
    turn: int
    passes: int

    @property
    def sign(self) -> tuple[Call, int, int]:
        """By which it is the same as what another rank came to."""
        return self.call, self.turn, self.passes

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
        kinds = Counter(each.other.sign for each in here)
        most, count = kinds.most_common(1)[0]
        if 2 * count > len(self.ranks):  # the first rank is the odd one
            same = next(each for each in here if each.other.sign == most)
            odd = [same.usual.rank]
            yield _told(odd, same.usual, same.other, -same.ahead)
        else:
            alike = [each for each in here if each.other.sign == most]
            yield _told([each.other.rank for each in alike], alike[0].other, alike[0].usual, alike[0].ahead)


class Meetings:
    """Compares the collectives of each group, in their order."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, tuple[int, ...]], _Group] = {}

    def add(self, track: Track) -> None:
        """Look at another rank."""
        if not track.is_named:
            return
        for place, key in enumerate(track.groups):
            own = np.flatnonzero(track.meetings["group"] == place)
            self._groups.setdefault(key, _Group()).add(track, own, len(key[1]))

    def told(self) -> Iterator[Told]:
        """The first collective of each group at which ranks part."""
        for group in self._groups.values():
            yield from group.told()


def _departure(first: Track, firsts: np.ndarray, other: Track, others: np.ndarray) -> _Departure | None:
    here, there = in_common(first.meetings["number"][firsts], other.meetings["number"][others])
    numbers: dict[tuple[str, tuple[int, ...] | None], int] = {}
    are_told = first.is_whole == other.is_whole and not first.missing and not other.missing
    signs = [_signs(track, places, numbers, are_told) for track, places in ((first, firsts), (other, others))]
    if _are_in_the_same_steps(first.meetings[firsts[here]], other.meetings[others[there]]):
        for each in signs:  # a rank may make passes of its own, to look at something, or as it goes in smaller parts
            each[:, _PASSES] = UNTOLD
    one, two = _lines(first, firsts), _lines(other, others)
    are_alike = _are_alike(signs[0][here], signs[1][there])
    if not are_alike.all():
        lines = [(one[mine], two[its]) for mine, its in zip(here.tolist(), there.tolist(), strict=True)]
        are_alike |= _are_in_step(signs[0][here] - signs[1][there], lines)
    differ = np.flatnonzero(~are_alike)
    if not len(differ):
        return None
    at = int(here[differ[0]]), int(there[differ[0]])
    ahead = _ahead(signs[0][at[0] :], signs[1][at[1] :])
    at = _began(one, two, *at, ahead) if ahead > 0 else _began(two, one, *at[::-1], -ahead)[::-1] if ahead else at
    met, usual = other.meetings[others[at[1]]], first.meetings[firsts[at[0]]]
    return _Departure(int(usual["number"]), _meeting(first, usual), _meeting(other, met), ahead)


def _are_in_the_same_steps(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether two ranks come to each of their collectives with as many steps behind them, and make some."""
    return bool(len(one) and one["ended"][-1] > one["ended"][0]) and np.array_equal(one["ended"], two["ended"])


def _signs(
    track: Track, places: np.ndarray, numbers: dict[tuple[str, tuple[int, ...] | None], int], are_told: bool
) -> np.ndarray:
    """By what two ranks' collectives are the same: what they do, in which step, and in which of its backward passes.

    Of two ranks that send and receive, one may be ahead of the other by many passes, as in a pipeline.
    """
    keys = [(_PAIRED.get(op, op), shape if op in _SIZED else None) for op, shape in track.calls]
    calls = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    met = track.meetings[places]
    found = np.stack([calls[met["call"]], met["turn"], met["passes"]], axis=1)
    is_pair = np.array([key[0] in _PAIRED.values() for key in keys], bool)[met["call"]]
    found[is_pair | (met["passes"] == UNTOLD) | (not are_told), 1:] = UNTOLD
    return found


def _are_alike(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Which signs are the same: what is not told of one is as of the other."""
    return np.asarray(((one == two) | (one == UNTOLD) | (two == UNTOLD)).all(axis=1))


def _are_in_step(apart: np.ndarray, lines: list[tuple[Place, Place]]) -> np.ndarray:
    """Which of two ranks' collectives are one though backward passes lie between: as stages of a pipeline come to it.

    Each does so at a line of its own, and is always as many passes ahead of the other there.

    Args:
        apart: The signs of one rank, less those of the other.
        lines: The lines of both.
    """
    found, at = np.zeros(len(lines), bool), dict[tuple[Place, Place], list[int]]()
    for place, pair in enumerate(lines):
        at.setdefault(pair, []).append(place)
    for (here, there), places in at.items():
        is_steady = apart[places[0], 0] == 0 and (apart[places] == apart[places[0]]).all()
        found[places] = here != there and len(places) > 1 and is_steady
    return found


def _ahead(usual: np.ndarray, other: np.ndarray) -> int:
    """How many of the usual collectives the other has left out where they part; below 0 how many more it has.

    Of several answers, as where the same comes again and again, the one is taken by which both end together.
    """
    found: list[tuple[int, int]] = []
    for count in range(1, _FURTHEST):
        for one, two, ahead in ((usual[count:], other, count), (usual, other[count:], -count)):
            length = min(len(one), len(two), _SURE)
            if length and _are_alike(one[:length], two[:length]).all():
                found.append((abs(len(one) - len(two)), ahead))
    return min(found, key=lambda each: (each[0], abs(each[1])))[1] if found else 0


def _lines(track: Track, places: np.ndarray) -> list[Place]:
    """The line of each collective."""
    return [track.places[place] for place in track.meetings["place"][places].tolist()]


def _began(longer: list[Place], shorter: list[Place], at: int, other: int, more: int) -> tuple[int, int]:
    """Where the one that has more collectives came to the first of these.

    The same collective may be called at several lines, of which one is too many: where that is so, it shows only in
    the lines, until a pass begins.
    """
    here, there = at, other
    while here and there and longer[here - 1 + more] == shorter[there - 1]:
        here, there = here - 1, there - 1
    return (here, there) if longer[here] != shorter[there] else (at, other)


def _meeting(track: Track, met: np.void) -> _Meeting:
    call, place = track.calls[int(met["call"])], track.places[int(met["place"])]
    return _Meeting(track.name, track.path, int(met["row"]), call, place, int(met["turn"]), int(met["passes"]))


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
