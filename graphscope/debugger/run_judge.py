"""When a program that runs is judged as a whole, and what was found for the first time then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from graphscope.diagnose import Check, Finding, examined

if TYPE_CHECKING:
    from graphscope.graph import Graph

_APART: Final = 2
"""From one judgement to the next, the steps of the program grow by one part of so many.

Each reads all that was recorded so far, so that all together cost as much as a few of the last one.
"""


class RunJudge:
    """Judges the run at ends of training steps, ever further apart: what that costs stays a small part of the run."""

    def __init__(self) -> None:
        self._steps = 0
        self._next = 1
        self._told: set[tuple[object, ...]] = set()

    def step(self) -> None:
        """A training step has ended."""
        self._steps += 1

    @property
    def is_due(self) -> bool:
        """Whether it is time to judge."""
        return self._steps >= self._next

    def new(self, graph: Graph, checks: Iterable[Check]) -> list[Finding]:
        """What some checks find that was not told before, the most important first."""
        self._next = self._steps + max(self._steps // _APART, 1)
        report = examined(graph, checks)
        found = [each for each in report if _identity(each) not in self._told]
        self._told.update(map(_identity, report))
        return found


def _identity(found: Finding) -> tuple[object, ...]:
    return found.kind, found.file, found.line, found.cause
