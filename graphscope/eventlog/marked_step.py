"""The newest training step that is marked in a log: where the program has come to since."""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType, FrameType
from typing import NamedTuple


class MarkedStep(NamedTuple):
    """Such a step."""

    is_counted: bool
    """Whether it bears that count in the log, as no loop counts it."""
    code: CodeType
    """That of the function that ended it."""
    line: int
    """The line there."""

    def step_of(self, ended: int, frame: FrameType | None, lines: Mapping[FrameType, int]) -> int:
        """The step that a frame is in, counted from 1: the newest that ended, where it is farther down than its end.

        Args:
            ended: So many have ended.
            frame: The frame.
            lines: Those of frames that were at another line than they are at now.
        """
        while frame is not None and frame.f_code is not self.code:
            frame = frame.f_back
        return ended + (frame is None or (lines.get(frame) or frame.f_lineno or 0) <= self.line)
