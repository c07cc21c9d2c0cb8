"""The training steps and backward passes of a run, from the marks of the log alone."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Kind
from graphscope.graph.loop_turns import is_of_ended, raised_later, told_behind
from graphscope.graph.outline.lines import lies_below
from graphscope.graph.pass_marks import pass_marks
from graphscope.graph.reading import once_a_length
from graphscope.graph.series.every_step import steps_made
from graphscope.graph.step_marks import step_marks

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_BEHIND: Final = 64
"""So many rows behind the end of a step may still be of its turn of the loop."""
_AHEAD: Final = 1 << 16
"""The turn that the first step lies in begins within so many rows ahead of its backward pass."""


@dataclass(frozen=True)
class Steps:
    """Steps are counted by their places, from 0 on; rows ascend."""

    first: np.ndarray
    """The first row of each step."""
    last: np.ndarray
    """The last row of each; of one that has not ended the last that there is."""
    begins: np.ndarray
    """Where backward passes begin; of those inside of others nothing is said."""
    ends: np.ndarray
    """Where they end; of one that has not ended the last row that there is."""

    def __len__(self) -> int:
        return len(self.first)

    def place(self, row: int) -> int | None:
        """The step that a row belongs to; None for what is in none, as what makes the model."""
        found = bisect_right(self.first, row) - 1  # numpy would let other threads go ahead, for each line of a screen
        return found if found >= 0 and row <= self.last[found] else None

    def places(self, rows: np.ndarray) -> np.ndarray:
        """The step of each row; -1 for what is in none."""
        found = np.searchsorted(self.first, rows, side="right") - 1
        return np.where((found >= 0) & (rows <= np.append(self.last, -1)[found]), found, -1)

    def backward_pass(self, row: int) -> int | None:
        """The backward pass that a row lies in, by its place among them."""
        found = bisect_right(self.begins, row) - 1
        return found if found >= 0 and row <= self.ends[found] else None

    def durations(self, log: Log) -> np.ndarray:
        """How long each took, in nanoseconds: from the row ahead of its first one on."""
        begun = log.pick("time", np.maximum(self.first - 1, log.first)).astype(np.int64)
        return np.asarray(log.pick("time", self.last).astype(np.int64) - begun)

    def passes_of(self, step: int) -> range:
        """The backward passes of a step, by their places."""
        low, high = np.searchsorted(self.begins, (self.first[step], self.last[step] + 1))
        return range(int(low), int(high))


@once_a_length
def steps(log: Log) -> Steps:
    """The steps of a log as it is now."""
    begins, ends = _outermost(log)
    marked, counts, is_recorded, _ = step_marks(log)
    has_ended = steps_made(log) > 0  # also where the log has let go of all that did
    if not has_ended:
        marked = _turns(log, begins, ends)
        counts, is_recorded = np.arange(len(marked)), np.ones(len(marked), bool)
        has_ended = len(marked) > 0
    last = _with_what_follows(log, marked, begins)
    first = _behind_gaps(log, np.append(log.first, last + 1)[: len(last)], last)
    behind = int(last[-1]) + 1 if len(last) else log.first
    goes_on = has_ended and not log.closed
    is_begun = has_ended and ((begins >= behind).any() or bool(told_behind(log, behind)))
    is_first_whole = not is_recorded[:1].all()
    first, last = first[is_recorded], last[is_recorded]  # what runs behind a step that was left out is none of the next
    is_newest_recorded = (counts[is_recorded][-1:] == counts[-1:]).any()
    if is_newest_recorded and is_of_ended(log, behind):
        last[-1] = log.end - 1
    elif behind < log.end and (goes_on or is_begun):
        first, last = np.append(first, behind), np.append(last, log.end - 1)
    if len(first) and not is_first_whole:
        first[0] = _begin_of_first(log, first, last, begins)
    log.release()  # marks lie everywhere in a long log
    return Steps(first.astype(np.int64), last.astype(np.int64), begins, ends)


def _behind_gaps(log: Log, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Where steps begin: what lies ahead of rows that are missing is of an earlier step."""
    gaps = np.append(-1, log.gaps())
    return np.asarray(np.maximum(first, gaps[np.searchsorted(gaps, last, side="right") - 1]))


def _outermost(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Where the backward passes begin and end that lie in no other."""
    marks, end = pass_marks(log), log.end - 1
    rows, change = marks.rows, np.where(marks.is_begin, 1, -1)
    depth = np.cumsum(change)
    depth -= np.minimum(np.minimum.accumulate(depth), 0)  # a log that begins inside of a pass has ends without begins
    begins = rows[(change == 1) & (depth == 1)]
    closing = rows[(change == -1) & (depth == 0)]
    following = np.searchsorted(closing, begins)
    ends = np.append(closing, end)[following]
    return begins, np.minimum(ends, np.append(begins[1:] - 1, end)) if len(begins) else ends


def _turns(log: Log, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Where steps end in a program that has no optimizer: with the backward passes that one line of it begins."""
    sites = log.pick("site", begins)
    known, times = np.unique(sites[sites > 0], return_counts=True)
    if len(known) == 0 or times.max() < 2:
        return begins[:0]
    found = ends[sites == known[np.argmax(times)]]
    return np.asarray(found[log.pick("kind", found) == Kind.BACKWARD_END])


def _with_what_follows(log: Log, marked: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """The ends of steps, with what the rest of the loop's turn did: what lies farther down in the same function.

    Where the next backward pass begins farther down as well, what follows is of that.
    """
    found = marked.copy()
    if len(marked) == 0:
        return found
    sites = log.pick("site", _ahead(log, marked))
    following = np.searchsorted(begins, marked)
    open_ones = np.arange(len(marked))
    has_next = following < len(begins)
    next_sites = np.zeros(len(marked), np.int64)
    next_sites[has_next] = log.pick("site", begins[following[has_next]])
    open_ones = open_ones[~lies_below(log, sites, next_sites)]
    later = raised_later(log)
    until = np.minimum(
        np.append(marked[1:], log.end), np.append(later, log.end)[np.searchsorted(later, marked, side="right")]
    )
    for distance in range(1, _BEHIND):
        rows = marked[open_ones] + distance
        inside = rows < until[open_ones]
        open_ones, rows = open_ones[inside], rows[inside]
        if len(rows) == 0:
            break
        follows = lies_below(log, sites[open_ones], log.pick("site", rows))
        open_ones = open_ones[follows]
        found[open_ones] = rows[follows]
    return found


def _ahead(log: Log, marked: np.ndarray) -> np.ndarray:
    """The last row up to each end of a step that has a line."""
    rows = marked
    for _ in range(4):
        bare = (log.pick("site", rows) == 0) & (rows > log.first)
        rows = rows - bare
    return rows


def _begin_of_first(log: Log, first: np.ndarray, last: np.ndarray, begins: np.ndarray) -> int:
    """Where the turn begins that the first step lies in: what ran ahead of the loop is none of it.

    The next step begins as the first does. The first call in it is found again ahead of the first backward pass, as
    often as it occurs in the next.
    """
    passes = begins[(begins >= first[0]) & (begins <= last[0])]
    stop = int(passes[0]) if len(passes) else int(last[0]) + 1
    if len(first) < 2:
        return int(first[0])
    start, behind = max(int(first[0]), stop - _AHEAD), begins[begins >= first[1]]
    end = min(int(behind[0]) if len(behind) else int(last[1]) + 1, int(first[1]) + _AHEAD)
    wanted, seen = _calls(log, int(first[1]), end), _calls(log, start, stop)
    if len(wanted) == 0:
        return int(first[0])
    times = int((wanted["call"] == wanted["call"][0]).sum())
    found = seen["row"][seen["call"] == wanted["call"][0]]
    if len(found) == 0:
        return int(first[0])
    known = np.append(each_once(log.column("site", int(first[1]), end)), 0)
    return _with_what_it_takes(log, int(found[max(len(found) - times, 0)]), start, known)


def _calls(log: Log, start: int, stop: int) -> np.ndarray:
    """The ops that ran in some rows, each told by its op, line and module."""
    rows = np.flatnonzero(log.column("kind", start, stop) == Kind.OP)
    found = np.zeros(len(rows), [("row", "<i8"), ("call", "<i8")])
    found["row"] = start + rows
    told = [log.column(name, start, stop)[rows].astype(np.int64) for name in ("op", "site", "scope")]
    found["call"] = told[0] * 1_000_003 + told[1] * 998_244_353 + told[2] * 2_147_483_647
    return found


def _with_what_it_takes(log: Log, row: int, start: int, sites: np.ndarray) -> int:
    """The first of the rows right ahead of an op that make no value and stand at some lines: its leaves and modules."""
    kinds = log.column("kind", start, row)
    belongs = np.isin(kinds, (Kind.LEAF, Kind.SCOPE_ENTER, Kind.ASSIGN, Kind.CALL))
    passed_over = belongs & np.isin(log.column("site", start, row), sites) | np.isin(kinds, (Kind.RANDOM, Kind.COMPILE))
    others = np.flatnonzero(~passed_over)
    return start + (int(others[-1]) + 1 if len(others) else 0)
