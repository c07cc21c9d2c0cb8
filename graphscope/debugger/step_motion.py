"""Moves to training steps that are not recorded yet: tests that look at the loops of the program while it runs.

They run where the node was made, so the frames of the program lie around theirs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING

from graphscope.debugger.motion import Motion, Origin, Test
from graphscope.eventlog.loop_counters import loop_counters
from graphscope.eventlog.schema import Kind
from graphscope.graph.loop_turns import counters_of
from graphscope.graph.step_numbers import StepNumber

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node


def to_step(wanted: Mapping[str, int]) -> Motion:
    """To the first node of the training step that answers to some numbers."""

    def begin(log: Log, origin: Origin) -> Test:
        marks = _Marks(log, log.first)

        def test(node: Node) -> bool:
            marks.look(node.row)
            told = _counters(marks.counters)
            return bool(told or not marks.counters) and StepNumber(marks.count + 1, told).answers(wanted)

        return test

    return Motion("goto", begin)


def _next_step(log: Log, origin: Origin) -> Test:
    marks = _Marks(log, log.end)

    def test(node: Node) -> bool:
        marks.look(node.row)
        if not marks.count:
            return False
        around = _frame_of(marks.site)
        if around is not None and marks.site is not None:
            return (around.f_lineno or 0) <= marks.site.line  # farther down, the turn of the loop goes on
        return not marks.counters or _counters(marks.counters) != marks.counters

    return test


NEXT_STEP = Motion("nextstep", _next_step)
"""The first node of the next training step."""


class _Marks:
    """The ends of training steps from a row on, and what the newest of them tells."""

    def __init__(self, log: Log, start: int) -> None:
        self._log = log
        self._seen = start
        self.count = 0
        self.counters: Mapping[str, int] = {}
        self.site: Site | None = None

    def look(self, stop: int) -> None:
        """Look at the rows that were written since."""
        log = self._log
        ends = log.marks(Kind.STEP, start=self._seen, stop=stop)
        self._seen = max(self._seen, stop)
        if len(ends):
            self.count += len(ends)
            self.counters = counters_of(log, ends[-1:])[0]
            self.site = log.site(int(log.pick("site", ends[-1:])[0]))


def _counters(like: Mapping[str, int]) -> dict[str, int]:
    """What the loops of the program count now; of those names, where some are given: modules may have loops as well."""
    found = loop_counters(sys._getframe())
    return {name: each for name, each in found.items() if name in like} if like else found


def _frame_of(site: Site | None) -> FrameType | None:
    """The innermost frame of the function that a line lies in."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and site is not None:
        if (frame.f_code.co_filename, frame.f_code.co_qualname) == (site.file, site.function):
            return frame
        frame = frame.f_back
    return None
