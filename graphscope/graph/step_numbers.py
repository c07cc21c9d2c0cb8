"""What the training steps of a log are called: by the counters of the program's own loops where the log tells them
(`epoch 2, batch 3`), else counted from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.graph.loop_text import counters_by_text
from graphscope.graph.loop_turns import counters_of, told_behind
from graphscope.graph.outline.steps import Steps, steps

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


@dataclass(frozen=True, slots=True)
class StepNumber:
    """What a training step is called."""

    count: int
    """Counted from 1."""
    counters: Mapping[str, int]
    """What the loops of the program count, by the program's names, the outermost first; empty where that is unknown."""
    turn: int = 0
    """Counted from 1 among the steps with the same counters, as of a loop that counts nothing; 0 of the only one."""

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """What is counted and the number, the outermost first."""
        nouns = [noun(name) for name in self.counters]
        nouns = [each or ("batch" if "epoch" in nouns[:place] else "step") for place, each in enumerate(nouns)]
        is_clear = len(set(nouns)) == len(nouns)
        told = tuple(zip(nouns if is_clear else self.counters, self.counters.values(), strict=True))
        return (*told, ("step", self.turn)) if self.turn else told or (("step", self.count),)

    @property
    def number(self) -> int:
        """By which a person asks for it: what the only loop counts, else counted from 1."""
        return self.parts[0][1] if len(self.parts) == 1 else self.count

    def answers(self, wanted: Mapping[str, int]) -> bool:
        """Whether it has these numbers: `{"epoch": 2, "batch": 3}`, by nouns or the program's names.

        A `step` that no loop counts is the turn of the only loop there is, else counted from 1.
        """
        told = {**self.counters, **dict(self.parts)}
        if "step" not in told:
            told["step"] = self.number
        return wanted.items() <= told.items()

    def __str__(self) -> str:
        return ", ".join(f"{name} {number}" for name, number in self.parts)


class StepNumbers:
    """What the steps are called, each by its place among the `steps` of the outline.

    Args:
        log: The log.
    """

    def __init__(self, log: Log) -> None:
        self.steps: Steps = steps(log)
        ends = self.steps.marks[self.steps.kinds == Kind.STEP]
        behind = np.searchsorted(ends, self.steps.last, side="right")
        inside = np.flatnonzero(behind > np.searchsorted(ends, self.steps.first))
        self._counters: list[Mapping[str, int]] = [{} for _ in self.steps.first]
        for place, counters in zip(inside.tolist(), counters_of(log, ends[behind[inside] - 1]), strict=True):
            self._counters[place] = counters
        if not len(ends):
            passes = np.searchsorted(self.steps.ends, self.steps.last, side="right")
            ended = int((np.diff(passes, prepend=0) > 0).sum())
            self._counters[:ended] = counters_by_text(log, self.steps.begins, ended)
        if self._counters and not self._counters[-1]:
            told = told_behind(log, int(self.steps.first[-1]))
            names = self._counters[-2] if len(self) > 1 else told
            of_steps = {name: each for name, each in told.items() if name in names}  # modules may have loops as well
            self._counters[-1] = of_steps or _following(self._counters[:-1])
        self._turns = _turns(self._counters)

    def __len__(self) -> int:
        return len(self._counters)

    def number(self, place: int) -> StepNumber:
        """What the step at a place is called."""
        return StepNumber(place + 1, self._counters[place], self._turns[place])

    def of(self, row: int) -> StepNumber | None:
        """What the step is called that a row belongs to; None of what is in none."""
        place = self.steps.place(row)
        return None if place is None else self.number(place)

    def find(self, wanted: Mapping[str, int]) -> int | None:
        """The place of the first step that answers to some numbers; no numbers are those of none."""
        if not wanted:
            return None
        return next((place for place in range(len(self)) if self.number(place).answers(wanted)), None)

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


def _following(ended: list[Mapping[str, int]]) -> dict[str, int]:
    """What the loops count in a step that has not ended: the innermost one goes on as it did."""
    if not ended or not ended[-1]:
        return {}
    *outer, inner = ended[-1]
    before = ended[-2] if len(ended) > 1 else {}
    is_same_loop = [*before] == [*ended[-1]] and all(before[name] == ended[-1][name] for name in outer)
    by = ended[-1][inner] - before[inner] if is_same_loop else 1
    return {**ended[-1], inner: ended[-1][inner] + by}


def _turns(counters: list[Mapping[str, int]]) -> list[int]:
    """The places of steps among those with the same counters, from 1 on; 0 of those that are alone with theirs."""
    found: list[int] = []
    for place, each in enumerate(counters):
        is_next = bool(each) and place > 0 and each == counters[place - 1]
        if is_next and found[-1] == 0:
            found[-1] = 1
        found.append(found[-1] + 1 if is_next else 0)
    return found


def noun(name: str) -> str:
    """What a counter counts, by the program's name for it: `step` for `global_step`; empty for `i`."""
    name = name.rpartition(".")[2]
    parts = name.lower().split("_")
    return next((_NOUNS[part] for part in reversed(parts) if part in _NOUNS), name if len(name) > 2 else "")


_NOUNS: Final[dict[str, str]] = {
    **{each: each for each in ("step", "epoch", "batch", "episode", "round", "fold", "seed", "trial", "iteration")},
    "steps": "step", "iter": "iteration", "it": "iteration", "ep": "epoch", "minibatch": "batch", "idx": "",
}  # fmt: skip
