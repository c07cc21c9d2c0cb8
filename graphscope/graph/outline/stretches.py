"""The sections of a stretch of rows, found in bulk: for each way in which rows belong together, the runs that do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Kind
from graphscope.graph.outline.calls import Calls, distinct, scopes_and_rows
from graphscope.graph.outline.kinds import KINDS, SECTION, SectionKind
from graphscope.graph.outline.optimizing import optimized, runs_up_to
from graphscope.graph.outline.origins import origins
from graphscope.graph.outline.steps import Steps

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

PLAIN: Final = 24
"""A log of so few rows is told without headers that have no row of their own."""

_DEEPEST: Final = 128
_SLOT_OF_SCOPES: Final = 8
SLOTS: Final = {
    SectionKind.STEP: 1,
    SectionKind.PASS: 2,
    SectionKind.OPTIMIZER: 3,
    SectionKind.PARAMETER: 4,
    SectionKind.MAKING: _SLOT_OF_SCOPES + _DEEPEST,
    SectionKind.LIBRARY: _SLOT_OF_SCOPES + _DEEPEST + 1,
}
"""The slot of each kind; modules have those in between, by how deep they lie."""


class Column(NamedTuple):
    """One way in which rows belong together."""

    kind: SectionKind
    slot: int
    values: np.ndarray
    """What tells sections apart, for each row; 0 where it lies in none."""
    scopes: np.ndarray | None = None
    """Of modules, their numbers."""


class Carried(NamedTuple):
    """What goes on from one stretch to the next."""

    sections: tuple[tuple[int, int, int], ...] = ()
    """Slot, value and first row of each section that its last row lies in."""
    scope: int = 0
    """The module that rows lie in which say none."""
    row: int = 0
    """A row of that call."""


@dataclass(frozen=True)
class Stretch:
    """Rows that lie together, and their sections."""

    start: int
    sections: np.ndarray
    """Each a SECTION, in the order in which one reads them: what holds another comes ahead of it."""
    inner: np.ndarray
    """Of each row the innermost section that it lies in, by its place; -1 where it lies in none."""
    is_shown: np.ndarray
    """Which rows have something to say beside the headers."""
    carried: Carried

    @property
    def stop(self) -> int:
        """The row behind the last."""
        return self.start + len(self.inner)

    def within(self, row: int) -> list[int]:
        """The sections that a row lies in, from the outermost inward, by their places."""
        found, place = [], int(self.inner[row - self.start])
        while place >= 0:
            found.append(place)
            place = int(self.sections["parent"][place])
        return found[::-1]


_SAY_NOTHING: Final = (
    Kind.UNWRITTEN,
    Kind.SCOPE_ENTER,
    Kind.SCOPE_EXIT,
    Kind.BACKWARD_BEGIN,
    Kind.BACKWARD_END,
    Kind.RANDOM,
)
"""Rows that are told by headers, and by where these end."""


def shown(log: Log, start: int, stop: int, has_step_headers: bool) -> np.ndarray:
    """Which rows have something to say beside the headers: a leaf that a segment repeats says nothing new."""
    kinds = log.column("kind", start, stop)
    again = (kinds == Kind.LEAF) & (log.column("tensor", start, stop) != np.arange(start, start + len(kinds)))
    silent = np.isin(kinds, _SAY_NOTHING) | again
    if has_step_headers:
        silent |= kinds == Kind.STEP
    return np.asarray(~silent)


def stretch(log: Log, steps: Steps, start: int, stop: int, carried: Carried, calls: Calls) -> Stretch:
    """The sections of the rows from `start` up to `stop`.

    Args:
        log: The log.
        steps: Its steps.
        start: The first row.
        stop: The row behind the last.
        carried: What goes on from the rows ahead.
        calls: The calls of modules that these rows may belong to.
    """
    rows = np.arange(start, stop)
    has_steps = len(steps) > 1
    is_shown = shown(log, start, stop, has_steps)
    steps_of = steps.places(rows) + 1 if has_steps else np.zeros(len(rows), np.int64)
    passes, is_backward = _passes(steps, rows, steps_of)
    scopes, called_at, last = _filled(log, start, stop, carried)
    *called, which = distinct(scopes, calls.begins(scopes, called_at))
    is_plain = log.end - log.first <= PLAIN
    columns = []
    if not is_plain:
        columns.append(Column(SectionKind.STEP, SLOTS[SectionKind.STEP], steps_of))
    columns.append(Column(SectionKind.PASS, SLOTS[SectionKind.PASS], passes))
    if not is_plain:
        optimizer, parameter = optimized(log, steps, start, stop)
        columns.append(Column(SectionKind.OPTIMIZER, SLOTS[SectionKind.OPTIMIZER], optimizer))
        columns.append(Column(SectionKind.PARAMETER, SLOTS[SectionKind.PARAMETER], parameter))
    for level, (numbers, of_level) in enumerate(calls.around(*called)[:_DEEPEST]):
        values = of_level[which] * 2 + (numbers[which] > 0)  # a call may begin at row 0
        values[is_backward & is_plain] = 0
        columns.append(Column(SectionKind.SCOPE, _SLOT_OF_SCOPES + level, values, numbers[which]))
    if not is_plain:
        columns += _of_origin(log, start, stop, which, optimizer)
    return _assembled(start, columns, is_shown, is_backward, carried, last, stop == log.end)


def _passes(steps: Steps, rows: np.ndarray, steps_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pass of each row, and whether that is a backward pass."""
    place = np.searchsorted(steps.begins, rows, side="right") - 1
    is_backward = (place >= 0) & (rows <= np.append(steps.ends, -1)[place])
    found = np.where(is_backward, 2 * place + 2, 0)
    low, high = np.searchsorted(steps.begins, (rows[0], rows[-1])) if len(rows) else (0, 0)
    near = np.arange(max(int(low) - 1, 0), min(int(high) + 2, len(steps.begins)))
    several = np.bincount(steps.places(steps.begins[near]) + 1, minlength=1) if len(near) else np.zeros(1, np.int64)
    of_several = (steps_of > 0) & (np.append(several, 0)[np.minimum(steps_of, len(several))] > 1)
    following = np.append(steps.begins, np.iinfo(np.int64).max)[place + 1]
    ahead = of_several & ~is_backward & (following <= np.append(steps.last, -1)[steps_of - 1])
    found[ahead] = 2 * (place[ahead] + 1) + 3
    return found, is_backward


def _filled(log: Log, start: int, stop: int, carried: Carried) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """The scope of each row, and a row of its call: what tells none lies where the row ahead does. And the last."""
    scopes, rows, known = scopes_and_rows(log, start, stop)
    kinds = log.column("kind", start, stop)
    outside = np.isin(kinds, (Kind.BACKWARD_BEGIN, Kind.BACKWARD_END, Kind.STEP))
    scopes[outside], known = 0, known | outside
    left = kinds == Kind.SCOPE_EXIT
    source = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
    behind = scopes.copy()
    for number in each_once(scopes[left]).tolist():
        told = log.scope(number)
        behind[left & (scopes == number)] = told.parent if told is not None else 0
    unknown = ~known
    has = unknown & (source >= 0)
    scopes[has], rows[has] = behind[source[has]], rows[source[has]]
    lone = unknown & (source < 0)
    scopes[lone], rows[lone] = carried.scope, carried.row
    if len(scopes) == 0:
        return scopes, rows, (carried.scope, carried.row)
    end = int(source[-1])
    last = (int(behind[end]), int(rows[end])) if end >= 0 else (carried.scope, carried.row)
    return scopes, rows, last


def _of_origin(log: Log, start: int, stop: int, which: np.ndarray, optimizer: np.ndarray) -> list[Column]:
    """The rows that make modules, and those that a library made for a line of the program.

    In modules of a library all are. What a call did of which the log has a mark, as `clip_grad_norm_`, ends with that.
    """
    callers, makes = origins(log)
    sites = np.minimum(log.column("site", start, stop), len(callers) - 1)
    kinds = log.column("kind", start, stop)
    is_node = np.isin(kinds, (Kind.LEAF, Kind.OP, Kind.GRAD))
    making = makes[sites] & is_node
    own = np.bincount(which, weights=is_node & (callers[sites] == 0) & (sites > 0)) > 0
    at_root = log.column("scope", start, stop) == 0
    library = np.where(is_node & ~making & (own[which] | at_root), callers[sites], 0)
    ends_call = (kinds == Kind.CALL) & (sites > 0)
    library = np.where((library == 0) & runs_up_to(sites, ends_call), sites, library)
    library[optimizer > 0] = 0
    return [
        Column(SectionKind.MAKING, SLOTS[SectionKind.MAKING], making.astype(np.int64)),
        Column(SectionKind.LIBRARY, SLOTS[SectionKind.LIBRARY], library),
    ]


def _assembled(
    start: int,
    columns: list[Column],
    is_shown: np.ndarray,
    is_backward: np.ndarray,
    carried: Carried,
    last: tuple[int, int],
    is_end: bool,
) -> Stretch:
    """The runs of equal values, column by column: a run ends where one of the columns ahead has another value."""
    count = len(is_shown)
    parted = np.zeros(count, bool)
    parted[:1] = True
    lines = np.append(0, np.cumsum(is_shown))
    inner = np.full(count, -1)
    parts: list[np.ndarray] = []
    known = {slot: (value, first) for slot, value, first in carried.sections}
    same_so_far, made, carry = True, 0, []
    for column in columns:
        values = column.values.copy()
        first = np.flatnonzero(parted | np.append(True, values[1:] != values[:-1])[:count])
        behind = np.append(first[1:], count)
        goes_on = np.zeros(len(first), bool)
        before = known.get(column.slot)
        if count:
            same_so_far &= before == (None if values[0] == 0 else (int(values[0]), before[1] if before else 0))
            goes_on[0] = same_so_far and values[0] != 0
        least = KINDS[column.kind].least
        few = lines[behind] - lines[first] < least
        if column.kind is SectionKind.SCOPE:
            few &= is_backward[first]
        few &= ~goes_on & ((behind < count) | is_end)
        values[np.repeat(few, behind - first)] = 0
        kept = (values[first] != 0) if count else np.zeros(0, bool)
        parted[1:] |= values[1:] != values[:-1]
        number = np.full(len(first), -1)
        number[kept] = made + np.arange(np.count_nonzero(kept))
        part = np.zeros(np.count_nonzero(kept), SECTION)
        part["first"], part["last"] = start + first[kept], start + behind[kept] - 1
        part["kind"], part["slot"], part["goes_on"] = column.kind, column.slot, goes_on[kept]
        if len(part) and goes_on[0] and before is not None:
            part["first"][0] = before[1]
        part["parent"] = inner[first[kept]]
        part["is_backward"] = is_backward[first[kept]]
        part["subject"] = _subjects(column, values[first[kept]])
        if column.scopes is not None:
            part["scope"] = column.scopes[first[kept]]
        parts.append(part)
        made += len(part)
        run = np.repeat(number, behind - first)
        inner = np.where(run >= 0, run, inner)
        if count and values[-1] != 0:
            carry.append((column.slot, int(values[-1]), int(part["first"][-1])))
    return _in_order(start, parts, inner, is_shown, Carried(tuple(carry), *last))


def _subjects(column: Column, values: np.ndarray) -> np.ndarray:
    """What sections are about, by the values that tell them apart."""
    if column.kind is SectionKind.SCOPE:
        return values >> 1
    if column.kind is SectionKind.PASS:
        return values // 2 - 1
    return values - 1 if column.kind is SectionKind.STEP else values


def _in_order(
    start: int, parts: list[np.ndarray], inner: np.ndarray, is_shown: np.ndarray, carried: Carried
) -> Stretch:
    """The sections in the order in which one reads them."""
    sections = np.concatenate([np.zeros(0, SECTION), *parts])
    order = np.lexsort((sections["slot"], sections["first"]))
    place = np.append(np.empty(len(order), np.int64), -1)
    place[order] = np.arange(len(order))
    sections = sections[order]
    sections["parent"] = place[sections["parent"]]
    around = sections["parent"]
    while (around >= 0).any():
        sections["level"] += around >= 0
        around = np.where(around >= 0, sections["parent"][around], -1)
    return Stretch(start, sections, place[inner].astype(np.int32), is_shown, carried)
