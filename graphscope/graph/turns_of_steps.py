"""Which marks of optimizers' steps end training steps, where the log does not count these: the last of each turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.sampling import MOST_OTHERS
from graphscope.eventlog.schema import Kind
from graphscope.graph.loop_turns import Counters, counters_of
from graphscope.graph.words import by_entry

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_NEAR: Final = 2
"""The call of an optimizer is told so many rows ahead of the mark at most."""


def ends_of_turns(log: Log, marks: np.ndarray, is_end: np.ndarray) -> np.ndarray:
    """Which marks end a turn of the program's loops, of those that are there.

    Args:
        log: The log.
        marks: Their rows.
        is_end: Which of them do as far as was known when they were made: other optimizers may have come later, and may
            have stopped.
    """
    counters, is_end = counters_of(log, marks), _with_those_behind(is_end, _takes_the_same(log, marks))
    ends = np.append(~_goes_on(log, marks, counters, is_end)[1:], np.ones(min(len(marks), 1), bool))
    ends[_begin_of_unended(counters, ends, is_end) :] = False
    return ends


def _begin_of_unended(counters: Counters, ends: np.ndarray, is_end: np.ndarray) -> int:
    """The first mark of the newest turn, if another optimizer has to make its step in it as in those before."""
    ended, told = np.flatnonzero(ends), np.flatnonzero(ends & is_end)
    behind = int(told[-1]) + 1 if len(told) else len(ends)
    if not 0 < len(ends) - behind <= MOST_OTHERS or not is_end[ended[ended < behind][-2:]].all():
        return len(ends)
    before = counters[behind - 1]
    turn = dict([*counters[behind].items()][: len(before)])
    is_one = all(_is_in(counters, place, turn) for place in range(behind, len(ends)))
    is_next = [*turn] == [*before] and (bool(turn) or not counters.widths[behind:].any())
    return behind if is_one and is_next else len(ends)


def _goes_on(log: Log, marks: np.ndarray, counters: Counters, is_end: np.ndarray) -> np.ndarray:
    """Which marks go on with the step of the mark before, as where two optimizers step.

    Those that take what one pass brought are of one step, whatever loop over optimizers counts. In a turn no line marks
    a step twice, unless other optimizers do, as in a loop over them; and an inner loop may have stepped one several
    times before another steps behind it.
    """
    sites, makers = log.pick("site", marks).tolist(), _makers(log, marks).tolist()
    is_same_loss = _without_a_pass_between(log, marks)
    found = np.zeros(len(marks), bool)
    found[1:] = counters.equal()[1:] & ~is_end[:-1]
    found |= _takes_the_same(log, marks)
    for place in range(1, _first_that_goes_on(counters, is_end)):  # no other optimizer was known to come
        is_other_line = sites[place] not in sites[:place]
        is_other = counters.which[place] > 0 and _are_different(makers[: place + 1])
        found[place] = is_other_line or is_same_loss[place] or is_other
        if not found[place]:
            break
    for first, behind in _runs(counters.repeated()):
        if _are_different(makers[first:behind]):  # each has made one: what loops count are the steps
            found[first + 1 : behind] = True
            continue
        begun = first
        for place in range(first + 1, behind):
            is_other_line = sites[place] not in sites[begun:place]
            is_other = is_same_loss[place] and _are_different(makers[begun : place + 1])
            found[place] |= is_other_line or is_other
            begun = begun if found[place] else place
    for place in _behind_inner_loops(counters):
        begun = _begin_of_turn(counters, place)
        if place - begun <= MOST_OTHERS and 0 < makers[place] not in makers[begun:place]:
            found[begun + 1 : place + 1] = True
    return found


def _first_that_goes_on(counters: Counters, is_end: np.ndarray) -> int:
    """The place of the first mark whose step is known to go on, if loops counted the same up to there; else 0."""
    place = 0 if is_end.all() else int(np.argmin(is_end))
    return place if place <= MOST_OTHERS and counters.equal()[1 : place + 1].all() else 0


def _are_different(makers: list[int]) -> bool:
    """Whether each is known and there once."""
    return 0 not in makers and len(set(makers)) == len(makers)


def _makers(log: Log, marks: np.ndarray) -> np.ndarray:
    """The number of the optimizer that has made each step; 0 where the log does not tell."""
    found = np.zeros(len(marks), np.int64)
    for distance in range(_NEAR, 0, -1):
        places = np.flatnonzero(marks - distance >= log.first)
        rows = marks[places] - distance
        calls = log.pick("kind", rows) == Kind.CALL
        places, rows = places[calls], rows[calls]
        for entry, own in by_entry(log, rows):
            if entry.get("call") == "step" and isinstance(entry.get("object"), int):
                found[places[own]] = entry["object"]
    return found


def _without_a_pass_between(log: Log, marks: np.ndarray) -> np.ndarray:
    """Whether no backward pass has begun between each mark and the one before, and some ahead of that."""
    begun = np.searchsorted(log.marks(Kind.BACKWARD_BEGIN), marks)
    return np.append(False, (begun[1:] == begun[:-1]) & (begun[:-1] > 0)) if len(marks) else np.zeros(0, bool)


def _takes_the_same(log: Log, marks: np.ndarray) -> np.ndarray:
    """Whether each is of another optimizer than that before it, which took what the same pass has brought."""
    makers = np.append(0, _makers(log, marks))
    is_other = (makers[1:] != makers[:-1]) & (makers[1:] > 0) & (makers[:-1] > 0)
    return np.asarray(is_other & _without_a_pass_between(log, marks))


def _with_those_behind(is_end: np.ndarray, takes_the_same: np.ndarray) -> np.ndarray:
    """The marks that end steps, and those of other optimizers behind them in the same step."""
    found = is_end
    while (behind := np.append(False, found[:-1]) & takes_the_same & ~found).any():
        found = found | behind
    return found


def _runs(repeated: np.ndarray) -> list[tuple[int, int]]:
    """Where marks at which loops count the same begin and where others do, of those that are several."""
    begins = np.flatnonzero(~repeated)
    ends = np.append(begins[1:], len(repeated))
    several = ends - begins > 1
    return list(zip(begins[several].tolist(), ends[several].tolist(), strict=True))


def _behind_inner_loops(counters: Counters) -> list[int]:
    """The places of marks behind a loop, in a turn of the one around it, that the mark before is in."""
    widths = counters.widths
    fewer = np.flatnonzero((widths[1:] < widths[:-1]) & (widths[1:] > 0)) + 1
    return [place for place in fewer.tolist() if _is_in(counters, place - 1, counters[place])]


def _begin_of_turn(counters: Counters, place: int) -> int:
    """The first of the places ahead of one that are in the same turn of its loop, as far as is of interest."""
    turn, begun = counters[place], place
    while begun and place - begun <= MOST_OTHERS and _is_in(counters, begun - 1, turn):
        begun -= 1
    return begun


def _is_in(counters: Counters, place: int, turn: dict[str, int]) -> bool:
    """Whether a place is in a turn of a loop, or of one inside of it."""
    return [*counters[place].items()][: len(turn)] == [*turn.items()]
