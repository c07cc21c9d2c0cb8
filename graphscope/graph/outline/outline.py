"""The outline of a log: its steps, and the sections of whatever stretch of it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph.outline.calls import Calls
from graphscope.graph.outline.kinds import SECTION, SectionKind
from graphscope.graph.outline.steps import Steps, steps
from graphscope.graph.outline.stretches import PLAIN, SLOTS, Carried, Stretch, stretch

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

BLOCK: Final = 1 << 14
"""Rows a stretch."""

_KEPT: Final = 24


class Outline:
    """The sections of a log, a stretch of `BLOCK` rows at a time; those that were looked at last are kept.

    A stretch says what goes on into the next one, so that what lies ahead of the step it begins in is never looked at.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._kept: dict[int, tuple[int, Stretch]] = {}
        self._carried: dict[int, Carried] = {}
        self._scopes: dict[int, list[int]] = {}
        self._of: Steps | None = None

    @property
    def steps(self) -> Steps:
        """The training steps."""
        return steps(self._log)

    def stretch(self, number: int) -> Stretch:
        """The stretch of that number: rows from `number * BLOCK` on."""
        log = self._log
        start = max(number * BLOCK, log.first)
        stop = min((number + 1) * BLOCK, log.end)
        kept = self._kept.get(number)
        told = self.steps
        if told is not self._of and (self._of is None or not _agree(self._of, told)):
            self._kept.clear()
            self._carried.clear()
            kept = None
        self._of = told
        if kept is not None and kept[0] == stop:
            return kept[1]
        made = stretch(log, told, start, max(stop, start), self._carry(number, start), self._calls(start, stop))
        while len(self._kept) >= _KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[number] = stop, made
        if stop == (number + 1) * BLOCK:
            self._carried[number] = made.carried
        return made

    def step_at(self, row: int) -> np.void | None:
        """The section of the step that begins at a row, as its first stretch has it: no row of it is looked at."""
        log, told = self._log, self.steps
        place = told.place(row)
        if len(told) < 2 or log.end - log.first <= PLAIN or place is None or told.first[place] != row:
            return None
        section: np.void = np.zeros(1, SECTION)[0]
        section["first"], section["last"] = row, min(int(told.last[place]), (row // BLOCK + 1) * BLOCK - 1, log.end - 1)
        section["kind"], section["slot"] = SectionKind.STEP, SLOTS[SectionKind.STEP]
        section["parent"], section["subject"] = -1, place
        section["is_backward"] = told.backward_pass(row) is not None
        return section

    def of_row(self, row: int) -> Stretch:
        """The stretch that holds a row."""
        return self.stretch(row // BLOCK)

    def _carry(self, number: int, start: int) -> Carried:
        """What goes on into a stretch: nothing where a step begins with it."""
        if start <= self._log.first or (self.steps.first == start).any():
            return Carried()
        if number - 1 in self._carried:
            return self._carried[number - 1]
        begin, found = self._begin_of(start), Carried()
        for earlier in range(begin // BLOCK, number):  # only what lies in the same step
            if earlier not in self._carried:
                low, high = max(begin, earlier * BLOCK), (earlier + 1) * BLOCK
                self._carried[earlier] = stretch(
                    self._log, self.steps, low, high, found, self._calls(low, high)
                ).carried
            found = self._carried[earlier]
        return found

    def _begin_of(self, row: int) -> int:
        """Where the step begins that a row lies in, or what lies between two steps."""
        told = self.steps
        place = told.place(row)
        if place is not None:
            return int(told.first[place])
        ended = int(np.searchsorted(told.last, row))
        return int(told.last[ended - 1]) + 1 if ended else self._log.first

    def _calls(self, start: int, stop: int) -> Calls:
        """The calls that rows of a stretch may belong to: those of its steps, or of what runs outside of them."""
        return Calls(self._log, self._scopes, self._begin_of(start), stop)


def _agree(old: Steps, new: Steps) -> bool:
    """Whether what was known of the steps has stayed as it was, but for the end of the last."""
    count = len(old)
    if (count > 1) != (len(new) > 1) or count > len(new):
        return False
    return bool((old.first == new.first[:count]).all() and (old.last[:-1] == new.last[: max(count - 1, 0)]).all())


def outline(log: Log) -> Outline:
    """The outline of a log."""
    found: tuple[int, Outline] | None = log.readings.get(outline)
    if found is None:
        found = log.readings[outline] = 0, Outline(log)
    return found[1]
