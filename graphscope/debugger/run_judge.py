"""When a program that runs is judged as a whole, and what was found for the first time then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from graphscope.diagnose import Check, Finding, examined

if TYPE_CHECKING:
    from graphscope.graph import Graph

_EACH: Final = 16
"""So many times in the beginning, the end of each step is looked at: logs are short then."""

_APART: Final = 2
"""From one judgement to the next, the steps of the program grow by one part of so many.

Each reads all that was recorded so far, so that all together cost as much as a few of the last one.
"""


class RunJudge:
    """Judges the run at ends of training steps, ever further apart: what that costs stays a small part of the run.

    Of a program that has made no step of an optimizer, each backward pass counts as a step.
    """

    def __init__(self) -> None:
        self._steps = self._passes = 0
        self._next = 1
        self._told: set[tuple[object, ...]] = set()

    def step(self) -> bool:
        """A training step has ended; whether it is time to judge."""
        if not self._steps:
            self._next = 1
        self._steps += 1
        return self._steps >= self._next

    def backward_pass(self) -> bool:
        """A backward pass has ended; whether it is time to judge."""
        self._passes += 1
        return not self._steps and self._passes >= self._next

    def new(self, graph: Graph, checks: Iterable[Check]) -> list[Finding]:
        """What some checks find that was not told before, the most important first."""
        count = self._steps or self._passes
        self._next = count + (1 if count < _EACH else count // _APART)
        report = examined(graph, checks)
        found = [each for each in report if each.identity not in self._told]
        self._told.update(each.identity for each in report)
        return found
