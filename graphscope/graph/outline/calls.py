"""Which call of a module a row belongs to, in both passes: the row where that call begins, and the calls around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import ROW_MASK, Flag, Kind, Pass

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_SHIFT: Final = 40
"""A row number has at most so many bits where it stands behind the number of a scope."""
_DEEPEST: Final = 64
_LONGEST: Final = 32
"""Scopes lie in so many others at most, and a node of a backward pass is so many nodes from its forward node."""
_UNTOLD: Final = (
    Kind.UNWRITTEN, Kind.BACKWARD_BEGIN, Kind.BACKWARD_END, Kind.STEP, Kind.PRINT, Kind.ASSERTION, Kind.EDIT,
    Kind.EXCEPTION, Kind.WAIT, Kind.ASSIGN, Kind.CALL, Kind.RANDOM, Kind.COMPILE, Kind.ACCUMULATE,
)  # fmt: skip
"""Rows that say no module: they lie where the row ahead of them does."""


class Calls:
    """The calls of the modules that are told in some rows.

    Args:
        log: The log.
        lines: Scopes with those around them, as far as they were looked at.
        start: The first row.
        stop: The row behind the last one.
    """

    def __init__(
        self, log: Log, lines: dict[int, list[int]], start: int | None = None, stop: int | None = None
    ) -> None:
        self._log = log
        self._lines = lines
        rows = log.marks(Kind.SCOPE_ENTER, start=start, stop=stop)
        self._begins = np.sort(log.pick("scope", rows).astype(np.int64) << _SHIFT | rows)

    def begins(self, scopes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Where the newest call of each scope began at each row; where none is told, a number below 0 for the scope."""
        wanted = scopes << _SHIFT | rows
        place = np.searchsorted(self._begins, wanted, side="right") - 1
        found = self._begins[np.maximum(place, 0)] if len(self._begins) else np.zeros(len(rows), np.int64)
        known = (place >= 0) & (found >> _SHIFT == scopes) & (scopes > 0)
        return np.where(known, found & ((1 << _SHIFT) - 1), -scopes)

    def around(self, scopes: np.ndarray, calls: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """The calls around some calls and these themselves, from the outermost inward: of each level scopes and begins.

        A call that lies less deep has 0 at deeper levels.
        """
        known, which = np.unique(scopes, return_inverse=True)
        lines = [self._line(scope) for scope in known.tolist()]
        found = []
        rows = np.where(calls < 0, np.iinfo(np.int64).max >> 24, calls)
        for level in range(max(map(len, lines), default=0)):
            here = np.array([line[level] if level < len(line) else 0 for line in lines], np.int64)[which]
            begins = np.where(here == scopes, calls, self.begins(here, rows))
            found.append((here, np.where(here == 0, 0, begins)))
        return found

    def _line(self, scope: int) -> list[int]:
        if scope in self._lines:
            return self._lines[scope]
        number = scope
        found: list[int] = []
        while scope and scope not in found and len(found) < _DEEPEST:  # a damaged log may tell a scope inside of itself
            found.append(scope)
            told = self._log.scope(scope)
            scope = told.parent if told is not None else 0
        self._lines[number] = found[::-1]
        return self._lines[number]


def distinct(scopes: np.ndarray, calls: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct calls of some rows: their scopes, where they began, and which of them each row is of."""
    parted = np.append(True, (scopes[1:] != scopes[:-1]) | (calls[1:] != calls[:-1]))[: len(scopes)]
    first = np.flatnonzero(parted)
    keys = scopes[first] << _SHIFT | np.maximum(calls[first], 0)
    _, chosen, which = np.unique(keys, return_index=True, return_inverse=True)
    return scopes[first][chosen], calls[first][chosen], which[np.cumsum(parted) - 1]


def scopes_and_rows(log: Log, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of rows from `start` up to `stop`: their scopes, the rows at which their calls ran, and for which that is known.

    The rule of a node, and what runs inside of it, is of the call that the node ran in; what adds to a gradient, of
    that which it came from.
    """
    kinds = log.column("kind", start, stop)
    scopes = log.column("scope", start, stop).astype(np.int64)
    rows = np.arange(start, stop)
    again = (kinds == Kind.LEAF) & (log.column("tensor", start, stop) != rows) & (scopes == 0)
    known = ~np.isin(kinds, _UNTOLD) & ~again
    backward = np.flatnonzero(log.column("graph_pass", start, stop) == Pass.BACKWARD)
    if len(backward) == 0:
        return scopes, rows, known
    forward = log.column("forward", start, stop).astype(np.int64)
    of_rule = (kinds == Kind.GRAD) | ((kinds == Kind.OP) & (forward > 0))
    chosen = backward[of_rule[backward]]
    rows[chosen] = _forward_nodes(log, forward[chosen], start + chosen)
    unsaid = chosen[scopes[chosen] == 0]
    scopes[unsaid] = log.pick("scope", rows[unsaid])
    added = backward[kinds[backward] == Kind.ACCUMULATE]
    inline = (log.column("flags", start, stop)[added] & int(Flag.EDGES)) == 0
    sources = (log.pick("inputs", start + added)[:, 0] & np.uint64(ROW_MASK)).astype(np.int64) - start
    inside = inline & (sources >= 0) & (sources < added - 0) & (log.column("input_count", start, stop)[added] > 0)
    targets, sources = added[inside], sources[inside]
    known[targets] = known[sources]
    scopes[targets], rows[targets] = scopes[sources], rows[sources]
    return scopes, rows, known


def _forward_nodes(log: Log, forward: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The forward nodes that rules belong to: a node of the engine may name another one of the backward pass."""
    found = np.where((forward >= log.first) & (forward < own), forward, own)
    for _ in range(_LONGEST):
        indirect = np.flatnonzero(log.pick("kind", found) == Kind.GRAD)
        if len(indirect) == 0:
            break
        following = log.pick("forward", found[indirect]).astype(np.int64)
        closer = (following >= log.first) & (following < found[indirect])
        if not closer.any():
            break
        found[indirect[closer]] = following[closer]
    return found
