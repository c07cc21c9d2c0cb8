"""What the training steps of a log are called: by the counters of the program's own loops where the log tells them
(`epoch 2, batch 3`), else counted from 1.

A step ends with a STEP mark; the marks of several optimizers in one turn of a loop end one step together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.graph.reading import once_a_length
from graphscope.graph.words import by_entry, numbers, told

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

    def __str__(self) -> str:
        return ", ".join(f"{name} {number}" for name, number in self.parts)


class StepNumbers:
    """The training steps of a log, each by its place: 0, 1, ...; what runs behind the last mark is one more.

    Args:
        log: The log.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        marks = log.rare()
        marks = marks[log.pick("kind", marks) == Kind.STEP]
        self.ends: np.ndarray = marks
        """The rows where steps end."""
        self._counters: list[Mapping[str, int]] = []
        """By place."""
        self._turns: list[int] = []
        if len(marks):
            self._group(marks, _counters(log, marks), log.pick("site", marks).tolist())

    def _group(self, marks: np.ndarray, counters: list[dict[str, int]], sites: list[int]) -> None:
        """Put marks together that several lines make in one turn, and count the turns of loops that count nothing."""
        last: list[int] = []
        lines: set[int] = set()
        for place, (found, site) in enumerate(zip(counters, sites, strict=True)):
            goes_on = bool(found) and bool(last) and counters[last[-1]] == found
            if goes_on and site not in lines:
                last[-1] = place
                lines.add(site)
                continue
            self._turns.append(self._turns[-1] + 1 if goes_on else 1)
            lines = {site}
            last.append(place)
        self.ends = marks[last]
        self._counters = [counters[place] for place in last]
        for place, turn in enumerate(self._turns):
            is_alone = turn == 1 and self._turns[place + 1 : place + 2] != [2]
            self._turns[place] = 0 if is_alone else turn

    def __len__(self) -> int:
        has_tail = not len(self.ends) or int(self.ends[-1]) < self._log.end - 1
        return len(self.ends) + has_tail

    def place(self, row: int) -> int:
        """The place of the step that a row belongs to."""
        return min(int(np.searchsorted(self.ends, row)), len(self) - 1)

    def span(self, place: int) -> tuple[int, int]:
        """First and last row of the step at a place; what runs ahead of the first belongs to it."""
        first = int(self.ends[place - 1]) + 1 if 1 <= place <= len(self.ends) else self._log.first
        return first, int(self.ends[place]) if place < len(self.ends) else self._log.end - 1

    def number(self, place: int) -> StepNumber:
        """What the step at a place is called."""
        if place < len(self._counters):
            return StepNumber(place + 1, self._counters[place], self._turns[place])
        return StepNumber(place + 1, {})

    def of(self, row: int) -> StepNumber:
        """What the step is called that a row belongs to."""
        return self.number(self.place(row))


@once_a_length
def step_numbers(log: Log) -> StepNumbers:
    """What the training steps of a log are called, as far as it goes now."""
    return StepNumbers(log)


def _counters(log: Log, marks: np.ndarray) -> list[dict[str, int]]:
    """What marks tell of the loops around them."""
    found: list[dict[str, int]] = [{} for _ in marks]
    for entry, which in by_entry(log, marks):
        names, encoded = entry.get("counters"), told(entry, "attributes").get("numbers")
        if isinstance(names, list) and isinstance(encoded, dict) and isinstance(encoded.get("tuple"), list):
            columns = [numbers(log, marks[which], part).tolist() for part in encoded["tuple"]]
            for place, *row in zip(which.tolist(), *columns, strict=True):
                found[place] = {str(name): int(each) for name, each in zip(names, row, strict=False)}
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
