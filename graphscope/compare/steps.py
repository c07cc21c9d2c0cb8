"""The training steps of a log: which rows each has, and which of them are its forward pass, its backward passes, its
update.

A step ends where an optimizer has stepped, or a scaler has left that out; where several step one after the other, with
the last. Of updates by hand it ends where a parameter was written last; without updates, where a backward pass ends.
What is written in place right behind that, and gradients that are cleared, belong to it as well.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import series
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.compare.difference import When
    from graphscope.eventlog.reader import Log

_PASS_MARKS: Final = (Kind.BACKWARD_BEGIN, Kind.BACKWARD_END, Kind.STEP)
_AT_THE_END: Final = (Kind.UNWRITTEN, Kind.STEP, Kind.CALL, Kind.ASSIGN, Kind.PRINT)
_WRITTEN: Final = int(Flag.IN_PLACE | Flag.NO_GRAD)


@dataclass(frozen=True, slots=True)
class Step:
    """The rows `start <= row < stop` of a training step."""

    number: int
    """Counted from 1."""
    start: int
    stop: int
    passes: tuple[tuple[int, int], ...]
    """Of each backward pass the row where it begins, and that behind its end; several where gradients add up."""
    update: int
    """From this row on it is the update: what is done to gradients and parameters; `stop` where there is none."""

    def part(self, row: int) -> When:
        """What a row of the step belongs to; what runs between two backward passes is forward."""
        if row >= self.update:
            return "update"
        return "backward" if any(begin <= row < end for begin, end in self.passes) else "forward"

    def rows(self, part: When) -> np.ndarray:
        """The rows of a part, marks among them, ascending."""
        if part == "update":
            return np.arange(self.update, self.stop)
        inside = np.zeros(self.update - self.start, bool)
        for begin, end in self.passes:
            inside[begin - self.start : end - self.start] = True
        found: np.ndarray = self.start + np.flatnonzero(inside if part == "backward" else ~inside)
        return found

    def __contains__(self, row: int) -> bool:
        return self.start <= row < self.stop


@once_a_length
def steps(log: Log) -> tuple[Step, ...]:
    """The steps of a log, one after the other: every row belongs to one, those ahead of the first step to that.

    What runs behind the last one, as an evaluation, is one more, without an update.
    """
    passes = _passes(log)
    begins = [begin for begin, _ in passes]
    ends = _ends(log, passes)
    has_tail = not ends or ends[-1] < log.end
    stops = [*ends, log.end] if has_tail else ends
    found: list[Step] = []
    for number, stop in enumerate(stops if len(log) else (), 1):
        start = found[-1].stop if found else log.first
        own = tuple(passes[bisect_left(begins, start) : bisect_left(begins, stop)])
        update = own[-1][1] if own and not (has_tail and number == len(stops)) else stop
        found.append(Step(number, start, stop, own, update))
    return tuple(found)


def step_of(log: Log, row: int) -> Step:
    """The step that a row belongs to."""
    found = steps(log)
    return found[min(bisect_right(found, row, key=lambda each: each.stop), len(found) - 1)]


def _passes(log: Log) -> list[tuple[int, int]]:
    """The backward passes that lie in no other; one that failed ends with its step."""
    marks = log.marks(*_PASS_MARKS)
    kinds = log.pick("kind", marks)
    found: list[tuple[int, int]] = []
    begin, depth = 0, 0
    for row, kind in zip(marks.tolist(), kinds.tolist(), strict=True):
        if kind == Kind.BACKWARD_BEGIN:
            begin, depth = (begin, depth + 1) if depth else (row, 1)
        elif depth:
            depth = 0 if kind == Kind.STEP else depth - 1
            if not depth:
                found.append((begin, row + (kind == Kind.BACKWARD_END)))
    return [*found, (begin, log.end)] if depth else found


def _ends(log: Log, passes: list[tuple[int, int]]) -> list[int]:
    """The rows behind the ends of the steps."""
    known = training(log)
    last = np.union1d(known.step_ends, known.rows("scaler.step"))
    if not len(last):
        last = series.updates(log)["row"]
    if not len(last):
        return [end for _, end in passes]
    if passes:
        following = np.searchsorted([begin for begin, _ in passes], last)
        last = last[np.r_[np.diff(following) > 0, True]]
    others = np.r_[_others(log), log.end]
    found: list[int] = np.unique(others[np.searchsorted(others, last + 1)]).tolist()
    return found


def _others(log: Log) -> np.ndarray:
    """The rows that can't belong to the end of a step: those that compute something new, and bounds of modules."""
    found = [np.zeros(0, np.int64)]
    for first, rows in log.chunks():
        kinds, flags = rows["kind"], rows["flags"]
        written = (kinds == Kind.OP) & ((flags & _WRITTEN) == _WRITTEN) & (rows["graph_pass"] == Pass.FORWARD)
        found.append(first + np.flatnonzero(~written & ~np.isin(kinds, _AT_THE_END)))
    return np.concatenate(found)
