"""What the training steps of a log are called: by the counters of the program's own loops where the log tells them
(`epoch 2, batch 3`), else counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.graph.loop_text import counters_by_text
from graphscope.graph.loop_turns import Counters, count_behind, places_among_equal, told_at, told_in_unended
from graphscope.graph.outline.steps import Steps, steps
from graphscope.graph.series.every_step import steps_made
from graphscope.graph.skipped_turns import SkippedTurns
from graphscope.graph.step_marks import step_marks
from graphscope.graph.unended_step import counters_behind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


_FEW: Final = 8
"""So many steps are told one by one."""


@dataclass(frozen=True, slots=True)
class StepNumber:
    """What a training step is called."""

    count: int
    """Counted from 1, as the program makes them."""
    counters: Mapping[str, int]
    """What the loops of the program count, by the program's names, the outermost first; empty where that is unknown."""
    turn: int = 0
    """Counted from 1 among the steps with the same counters, as of a loop that counts nothing; 0 of the only one."""
    is_of_all: bool = False
    """Whether the count alone is known, and what loops count in the steps beside it is another number."""

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """What is counted and the number, the outermost first."""
        nouns = [noun(name) for name in self.counters]
        nouns = [each or ("batch" if "epoch" in nouns[:place] else "step") for place, each in enumerate(nouns)]
        is_clear = len(set(nouns)) == len(nouns) and not (self.turn and "step" in nouns)
        told = tuple(zip(nouns if is_clear else self.counters, self.counters.values(), strict=True))
        return (*told, ("step", self.turn)) if self.turn else told or (("step", self.count),)

    @property
    def number(self) -> int:
        """By which a person asks for it: what the only loop counts, else counted from 1."""
        return self.parts[0][1] if len(self.parts) == 1 else self.count

    @property
    def asked(self) -> str:
        """The same with its name, where that says more: `51 (epoch 1, batch 0)`."""
        return str(self.number) if len(self.parts) == 1 else f"{self.number} ({self})"

    def answers(self, wanted: Mapping[str, int]) -> bool:
        """Whether it has these numbers: `{"epoch": 2, "batch": 3}`, by nouns or the program's names.

        A `step` that no loop counts is the turn of the only loop there is, else counted from 1.
        """
        told = {**self.counters, **dict(self.parts)}
        if "step" not in told:
            told["step"] = self.number
        return wanted.items() <= told.items()

    def __str__(self) -> str:
        if self.is_of_all:
            return f"training step {self.count} of all"
        return ", ".join(f"{name} {number}" for name, number in self.parts)


class StepNumbers:
    """What the steps are called, each by its place among the `steps` of the outline.

    Args:
        log: The log.
    """

    def __init__(self, log: Log) -> None:
        self.steps: Steps = steps(log)
        marks, count = step_marks(log), len(self.steps)
        ends = np.flatnonzero(marks.is_recorded)
        behind = np.searchsorted(marks.rows[ends], self.steps.last, side="right")
        inside = np.flatnonzero(behind > np.searchsorted(marks.rows[ends], self.steps.first))
        of_ended = ends[behind[inside] - 1]
        self.counts = np.arange(1, count + 1)
        """Which step each is, counted from 1 as the program makes them."""
        self.counts[inside] = marks.counts[of_ended]
        told, told_counts = marks.counters, marks.counts
        of_all = np.searchsorted(marks.counts, marks.counts[of_ended], side="right") - 1  # see `StepMarks`
        counters = told.picked(of_all).spread(inside, count)
        made = int(marks.counts[-1]) if len(marks.counts) else steps_made(log)
        if not made:
            passes = np.searchsorted(self.steps.ends, self.steps.last, side="right")
            inside = np.arange(int((np.diff(passes, prepend=0) > 0).sum()))
            told, told_counts = counters_by_text(log, self.steps.begins, len(inside)), inside + 1
            counters = told.spread(inside, count)
        self._is_last_of_all = False
        if count and count - 1 not in inside[-1:]:
            first = int(self.steps.first[-1])
            if made:
                self.counts[-1] = count_behind(log, first) or made + 1
            reached = told_in_unended(log, first)
            names = told.newest or ({} if made else _of_training(reached))
            of_steps = {name: each for name, each in reached.items() if name in names}  # modules may have loops as well
            known = of_steps or counters_behind(told, told_counts, int(self.counts[-1]))
            self._is_last_of_all = known is None
            counters = counters.replaced(count - 1, known or {})
        self._counters = counters
        self._turns = _turns(counters)
        self._skipped = SkippedTurns(self.steps, counters)
        self._outside = {row: self._failed_in(log, row) for row in log.marks(Kind.EXCEPTION)[-_FEW:].tolist()}

    def __len__(self) -> int:
        return len(self._counters)

    def number(self, place: int) -> StepNumber:
        """What the step at a place is called."""
        is_of_all = self._is_last_of_all and place in (len(self) - 1, -1)
        return StepNumber(int(self.counts[place]), self._counters[place], int(self._turns[place]), is_of_all)

    @property
    def numbers(self) -> np.ndarray:
        """The number by which a person asks for each."""
        counted = self.counts.copy()
        alone = (self._counters.widths == 1) & (self._turns == 0)
        counted[alone] = self._counters.columns[alone, :1].ravel()
        return counted

    def of(self, row: int) -> StepNumber | None:
        """What the step is called that a row belongs to; None of what is in none.

        An exception behind the end of a step that was left out is in none of the log's, and of that one all the same.
        A row of a turn that made no step is called as that turn is.
        """
        place = self.steps.place(row)
        if place is None:
            return self._outside.get(row)
        found, behind = self.number(place), self._skipped.behind(place, row)
        if not behind:
            return found
        *_, (inner, value) = found.counters.items()
        return replace(found, counters={**found.counters, inner: value - behind}, turn=0)

    def _failed_in(self, log: Log, row: int) -> StepNumber | None:
        count, told = told_at(log, row)
        if told and not len(self) and not len(log.marks(Kind.STEP)):  # of the first, no mark tells the loops
            first = _of_training(told)
            return StepNumber(1, first) if first else None
        names = self._counters.newest
        of_steps = {name: each for name, each in told.items() if name in names}
        return StepNumber(count, of_steps) if count and (of_steps or not names) else None

    def count_at(self, row: int) -> int:
        """Which step a row belongs to, counted from 1; of what is in none, the one that follows."""
        place = int(np.searchsorted(self.steps.last, row))
        return int(self.counts[place]) if place < len(self) else int(self.counts[-1]) + 1

    def find(self, wanted: Mapping[str, int]) -> int | None:
        """The place of the first step that answers to some numbers; no numbers are those of none."""
        if not wanted:
            return None
        counted = np.column_stack([self.counts, self._turns, self._counters.columns])
        has_all = np.all([(counted == number).any(axis=1) for number in wanted.values()], axis=0)
        return next((place for place in np.flatnonzero(has_all).tolist() if self.number(place).answers(wanted)), None)

    def numbered(self, number: int) -> int | None:
        """The place of the step by whose number a person asks; else of the only one whose innermost loop counts it."""
        places = np.flatnonzero(self.numbers == number)
        if not len(places):
            places = np.flatnonzero(self._innermost() == number)
            places = places if len(places) == 1 else places[:0]
        return int(places[0]) if len(places) else None

    def _innermost(self) -> np.ndarray:
        """What the innermost loop counts at each place; where no loop is known, the number."""
        counters, told = self._counters, self.numbers
        inside = np.flatnonzero(counters.widths)
        told[inside] = counters.columns[inside, counters.widths[inside] - 1]
        return told

    def told(self, words: Callable[[StepNumber], str], count: int) -> str:
        """The first steps, so many: each in words where they are few, else the first and the last of how many."""
        if count > _FEW:
            return f"{words(self.number(0))} to {words(self.number(count - 1))}, {count:,} in all"
        *others, last = [words(self.number(place)) for place in range(count)]
        between = "; " if any(", " in each for each in [*others, last]) else ", "
        return f"{between.join(others)} and {last}" if others else last

    def title(self, row: int) -> str:
        """The same in words: `step 30`; empty of what is in none."""
        return str(self.of(row) or "")


def step_numbers(log: Log) -> StepNumbers:
    """What the training steps of a log are called, as far as it goes now; a program that waits may tell more of it."""
    known = log.end, len(log.table("attrs"))
    kept: tuple[int, tuple[tuple[int, int], StepNumbers]] | None = log.readings.get(step_numbers)
    if kept is None or kept[1][0] != known:
        kept = log.readings[step_numbers] = log.end, (known, StepNumbers(log))
    return kept[1][1]


def _turns(counters: Counters) -> np.ndarray:
    """The places of steps among those with the same counters, from 1 on; 0 of those that are alone with theirs."""
    is_first = ~counters.repeated()
    is_alone = is_first & np.append(is_first[1:], True)
    return np.where(is_alone, 0, places_among_equal(is_first) + 1)


def _of_training(told: Mapping[str, int]) -> dict[str, int]:
    """What the loops count that are those of a training by their names: an inner one may be any, as of a module."""
    return {name: each for name, each in told.items() if _is_of_training(name)}


def _is_of_training(name: str) -> bool:
    return any(_NOUNS.get(part) for part in name.rpartition(".")[2].lower().split("_"))


def noun(name: str) -> str:
    """What a counter counts, by the program's name for it: `step` for `global_step`; empty for `i`."""
    name = name.rpartition(".")[2]
    parts = name.lower().split("_")
    return next((_NOUNS[part] for part in reversed(parts) if part in _NOUNS), name if len(name) > 2 else "")


_NOUNS: Final[dict[str, str]] = {
    **{each: each for each in ("step", "epoch", "batch", "episode", "round", "fold", "seed", "trial", "iteration")},
    "steps": "step", "iter": "iteration", "it": "iteration", "ep": "epoch", "minibatch": "batch", "idx": "",
}  # fmt: skip
