"""The parts of a call: the calls of modules right inside of it, and between these the ops that hang together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.graph.modules.step_rows import Call, StepRows

if TYPE_CHECKING:
    from collections.abc import Hashable

    from graphscope.eventlog.reader import Log

Shape = tuple[int, ...]
_MOST_SHAPES: Final = 4


@dataclass(frozen=True)
class Parts:
    """What a call consists of, in the order in which it ran."""

    calls: tuple[Call | None, ...]
    """Of each part the call of a module that it is; None of ops."""
    owners: np.ndarray
    """Of each row of the step the part that it is of; -1 where it is of none, which is also the last place."""
    forward: tuple[np.ndarray, ...]
    """The ops of each part."""
    backward: tuple[np.ndarray, ...]
    """The backward rules of each."""
    edges: tuple[np.ndarray, np.ndarray]
    """What ops of the parts take, as rows of ops and of inputs, but for what lies within one part."""
    leaving: np.ndarray
    """The rows whose values are taken by others than the part that made them."""

    def __len__(self) -> int:
        return len(self.calls)

    def shapes(
        self, log: Log, rows: StepRows, part: int, parameters: np.ndarray
    ) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """What a part takes and gives.

        Args:
            log: The log.
            rows: The rows of the step.
            part: The part.
            parameters: Which edges lead from parameters.
        """
        users, sources = self.edges
        own = (self.owners[users - rows.start] == part) & ~parameters
        taken = list(dict.fromkeys(sources[own].tolist()))
        made = self.forward[part]
        given = self.leaving[np.isin(self.leaving, made)]
        given = given if len(given) else made[-1:]
        return _shapes(log, taken), _shapes(log, given.tolist())

    def signature(self, log: Log, rows: StepRows, part: int) -> tuple[Hashable, str]:
        """What is the same of parts that are alike but for their numbers, and what tells one module from another."""
        call = self.calls[part]
        own = self.forward[part]
        what = (log.pick("op", own).tobytes(), log.pick("shape", own).tobytes())
        scope = log.scope(call.scope) if call is not None else None
        if call is None or scope is None:
            return what, ""
        return (*what, scope.type), scope.name


def _shapes(log: Log, sources: list[int]) -> tuple[Shape, ...]:
    return tuple(log.event(row).shape for row in sources[:_MOST_SHAPES] if log.first <= row < log.end)


def parts_of(log: Log, rows: StepRows, around: tuple[Call, ...]) -> Parts:
    """The parts of a call, or of the program where there is none around."""
    inside = rows.inside(around)
    count = rows.stop - rows.start
    begins, scopes = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if len(around) < len(rows.levels):
        scopes, begins = rows.levels[len(around)]
    is_call = inside & (scopes > 0)
    ran = np.flatnonzero(rows.is_forward & inside)
    keys = np.where(is_call, begins * (1 << 20) + scopes, 0)
    owners = np.full(count, -1)
    of_calls = ran[is_call[ran]]
    first = of_calls[np.unique(keys[of_calls], return_index=True)[1]]
    own = ran[~is_call[ran]]
    groups = _together(rows, own, np.cumsum(np.append(True, keys[ran[1:]] != keys[ran[:-1]]))[~is_call[ran]])
    order = sorted(
        [(row, Call(int(scopes[row]), int(begins[row])), int(keys[row])) for row in first.tolist()]
        + [(int(group[0]), None, group) for group in groups],
        key=lambda found: found[0],
    )
    known = {key: place for place, (_, call, key) in enumerate(order) if call is not None}
    if known:
        ordered = np.array(sorted(known), np.int64)
        at = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
        owners = np.where(is_call & (ordered[at] == keys), np.array([known[key] for key in ordered.tolist()])[at], -1)
    for place, (_, call, group) in enumerate(order):
        if call is None:
            owners[group] = place
    _with_rules(log, rows, owners, inside & ~is_call)
    return _gathered(rows, owners, tuple(call for _, call, _ in order))


def _together(rows: StepRows, own: np.ndarray, runs: np.ndarray) -> list[np.ndarray]:
    """Ops that no module lies between, parted into those that one leads to the other."""
    if len(own) == 0:
        return []
    places = np.full(rows.stop - rows.start, -1)
    places[own] = np.arange(len(own))
    users, sources = rows.edges
    inside = sources >= rows.start
    upper, lower = places[sources[inside] - rows.start], places[users[inside] - rows.start]
    joined = (upper >= 0) & (lower >= 0)
    upper, lower = upper[joined], lower[joined]
    same = runs[upper] == runs[lower]
    parent = list(range(len(own)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for one, other in zip(upper[same].tolist(), lower[same].tolist(), strict=True):
        one, other = sorted((root(one), root(other)))
        parent[other] = one
    roots = np.array([root(place) for place in range(len(own))])
    order = np.argsort(roots, kind="stable")
    return np.split(own[order], np.flatnonzero(np.diff(roots[order])) + 1)


def _with_rules(log: Log, rows: StepRows, owners: np.ndarray, own: np.ndarray) -> None:
    """Give the backward rules of ops to the part that these are of."""
    rules = np.flatnonzero(own & rows.is_rule)
    forward = log.pick("forward", rules + rows.start).astype(np.int64)
    for _ in range(8):
        known = (forward >= rows.start) & (forward < rows.stop)
        indirect = np.flatnonzero(known & rows.is_rule[np.where(known, forward - rows.start, 0)])
        if len(indirect) == 0:
            break
        forward[indirect] = log.pick("forward", forward[indirect]).astype(np.int64)
    owners[rules[known]] = owners[forward[known] - rows.start]


def _gathered(rows: StepRows, owners: np.ndarray, calls: tuple[Call | None, ...]) -> Parts:
    users, sources = rows.edges
    inside = sources >= rows.start
    target = owners[users - rows.start]
    source = np.full(len(users), -1)
    source[inside] = owners[sources[inside] - rows.start]
    apart = source != target
    leaving = each_once(sources[apart & (source >= 0)])
    into = apart & (target >= 0)
    return Parts(
        calls,
        owners,
        _by_owner(rows.is_forward, owners, len(calls), rows.start),
        _by_owner(rows.is_rule, owners, len(calls), rows.start),
        (users[into], sources[into]),
        leaving,
    )


def _by_owner(wanted: np.ndarray, owners: np.ndarray, count: int, start: int) -> tuple[np.ndarray, ...]:
    rows = np.flatnonzero(wanted & (owners >= 0))
    order = np.argsort(owners[rows], kind="stable")
    cuts = np.searchsorted(owners[rows][order], np.arange(1, count))
    return tuple(start + part for part in np.split(rows[order], cuts)) if count else ()
