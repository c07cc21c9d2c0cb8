"""What ran when: the rows of a log as slices of time that lie in one another, on a track for each thread and pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.graph.outline.kinds import SectionKind, key_of
from graphscope.graph.outline.outline import BLOCK, outline
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

__all__ = ["Slice", "Track", "slices"]


class Track(NamedTuple):
    """Where slices lie that follow each other or lie in one another: `thread` and `graph_pass` as rows have them."""

    thread: int
    graph_pass: int


@dataclass(slots=True)
class Slice:
    """Time from `begin` to `end`, in nanoseconds of the log's clock."""

    track: Track
    begin: int
    end: int
    row: int | None
    """The node that ran; None of what holds others."""
    title: str = ""
    """Of what holds others: a training step, a pass, an optimizer, the call of a module."""


def slices(log: Log, rows: np.ndarray) -> list[Slice]:
    """The slices of some nodes, ascending, and of all that they lie in; what holds others comes ahead of them.

    None overlaps another that does not hold it: rows that an optimizer writes of its parameters are shares of one
    call, and each ends where the next begins.
    """
    sections = _Sections(log, rows)
    tracks: dict[Track, _OpenSlices] = {}
    found: list[Slice] = []
    threads, passes = (log.pick(name, rows).tolist() for name in ("thread", "graph_pass"))
    begins, ends = (each.tolist() for each in _times(log, rows))
    for place, row in enumerate(rows.tolist()):
        track = Track(threads[place], passes[place])
        held = tracks.setdefault(track, _OpenSlices(track, found))
        held.add(row, begins[place], ends[place], sections.around(row))
    for each in tracks.values():
        each.close()
    return found


class _Section(NamedTuple):
    key: int
    title: str
    begin: int
    end: int


class _OpenSlices:
    """The slices of a track that have not ended yet, the outermost first: those of sections, then those of rows."""

    def __init__(self, track: Track, found: list[Slice]) -> None:
        self._track = track
        self._found = found
        self._open: list[tuple[int | None, Slice]] = []
        """Each with the key of its section; None of a row."""
        self._now = 0
        """Nothing begins earlier from here on."""

    def add(self, row: int, begin: int, end: int, around: tuple[_Section, ...]) -> None:
        """Put in a row that lies in some sections."""
        same = 0
        while same < min(len(around), len(self._open)) and self._open[same][0] == around[same].key:
            same += 1
        is_inside = same == len(around)
        self.close(same if not is_inside else self._rows_around(same, begin, end), begin)
        for section in around[same:]:
            first = min(section.begin or begin, begin)
            self._begin(section.key, Slice(self._track, first, section.end, None, section.title))
        room = self._open[-1][1].end if self._open and self._open[-1][0] is None else end
        self._begin(None, Slice(self._track, begin, min(end, room), row))

    def close(self, keep: int = 0, until: int | None = None) -> None:
        """End all but the outermost ones; what comes then begins at some time."""
        while len(self._open) > keep:
            ended = self._open.pop()[1]
            ended.end = max(self._now, ended.end if until is None else min(ended.end, until))
            self._now = ended.end

    def _begin(self, key: int | None, slice: Slice) -> None:
        slice.begin = self._now = max(self._now, slice.begin)
        slice.end = max(slice.begin, slice.end)
        self._found.append(slice)
        self._open.append((key, slice))

    def _rows_around(self, sections: int, begin: int, end: int) -> int:
        """How many slices are open of which a row is a part: sections, and the rules that it ran in."""
        keep = sections
        while keep < len(self._open) and self._open[keep][0] is None and _holds(self._open[keep][1], begin, end):
            keep += 1
        return keep


def _holds(slice: Slice, begin: int, end: int) -> bool:
    return slice.begin <= begin < slice.end and end <= slice.end


class _Sections:
    """The sections of a log's outline that rows lie in.

    Args:
        log: The log.
        rows: The rows, ascending.
    """

    def __init__(self, log: Log, rows: np.ndarray) -> None:
        self._log = log
        self._innermost: dict[int, int] = {}
        """By row, the key of its section."""
        self._parents: dict[int, int] = {}
        self._found: dict[int, np.void] = {}
        self._last: dict[int, int] = {}
        self._around: dict[int, tuple[_Section, ...]] = {-1: ()}
        for number in np.unique(rows // BLOCK).tolist():
            told = outline(log).stretch(number)
            firsts, slots = told.sections["first"].tolist(), told.sections["slot"].tolist()
            keys = [*map(key_of, firsts, slots), -1]
            for place, section in enumerate(told.sections):
                key = keys[place]
                self._found.setdefault(key, section)
                self._parents.setdefault(key, keys[int(section["parent"])])
                self._last[key] = int(section["last"])
            inside = rows[rows // BLOCK == number]
            inner = told.inner[inside - told.start].tolist()
            self._innermost |= {row: keys[place] for row, place in zip(inside.tolist(), inner, strict=True)}

    def around(self, row: int) -> tuple[_Section, ...]:
        """The sections that a row lies in, the outermost first."""
        return self._line(self._innermost[row])

    def _line(self, key: int) -> tuple[_Section, ...]:
        if key not in self._around:
            outer, told = self._line(self._parents[key]), self._found[key]
            title = _TITLES.get(SectionKind(int(told["kind"])))
            self._around[key] = outer if title is None else (*outer, self._section(key, title(self._log, told)))
        return self._around[key]

    def _section(self, key: int, title: str) -> _Section:
        begins, ends = _times(self._log, np.array([int(self._found[key]["first"]), self._last[key]]))
        return _Section(key, title, int(begins[0]), int(ends[1]))


def _times(log: Log, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """When rows began and ended: a rule is written when it is due, an op when it has run."""
    times, durations = (log.pick(name, rows).astype(np.int64) for name in ("time", "duration"))
    is_due = log.pick("kind", rows) == Kind.GRAD
    return np.where(is_due, times, times - durations), np.where(is_due, times + durations, times)


def _step(log: Log, section: np.void) -> str:
    return str(step_numbers(log).number(int(section["subject"])))


def _pass(_: Log, section: np.void) -> str:
    return "backward pass" if section["is_backward"] else "forward"


def _optimizer(_: Log, __: np.void) -> str:
    return "optimizer"


def _module(log: Log, section: np.void) -> str:
    return log.scope_title(int(section["scope"]))


_TITLES: Final[dict[SectionKind, Callable[[Log, np.void], str]]] = {
    SectionKind.STEP: _step,
    SectionKind.PASS: _pass,
    SectionKind.OPTIMIZER: _optimizer,
    SectionKind.SCOPE: _module,
}
"""The sections that are slices, and what they are called."""
