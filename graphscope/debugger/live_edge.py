"""The live edge: what the program waits with, and the answer that it will get."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.debugger import frames
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace

if TYPE_CHECKING:
    from graphscope.debugger.nodes import Pending
    from graphscope.debugger.results import Frame, Place
    from graphscope.eventlog.gate import Answer


@dataclass
class Edge:
    """Where the program waits: after the node of `row`, or ahead of a node that is not computed yet."""

    row: int
    frame: FrameType | None
    """None where the program is another process."""
    pending: Pending | None = None
    value: Any = None
    cuts: bool = False
    """Whether the value can be cut off from what it was computed from."""
    answer: Answer = None
    floor: CodeType | None = None
    """The program's frames lie above a frame of this code."""
    remote_frames: tuple[Frame, ...] = ()
    """What another process said of its frames, outermost first."""
    passed: bool = False
    """The program has gone on from the node of `row`."""
    libraries: bool = False
    """The frames of recorded libraries are shown as well: it waits at a line of one."""
    line: Place | None = None
    """The line that it is at, in no node: about to run, or halted. `row` is that of the node which comes next then."""

    @property
    def is_ahead(self) -> bool:
        """Whether the node of `row` is yet to come."""
        return self.pending is not None or self.line is not None

    @cached_property
    def stack(self) -> list[FrameType]:
        """The program's frames, outermost first."""
        return [] if self.frame is None else frames.stack(self.frame, self.floor, libraries=self.libraries)

    def runs(self, file: str, line: int) -> bool:
        """Whether a line of a file is being run."""
        frame = self.frame
        while frame is not None:
            if frame.f_lineno == line and frame.f_code.co_filename == file:
                return True
            frame = frame.f_back
        return False

    def behind(self, row: int) -> Edge:
        """The same place, looked at from an earlier node, which the program has gone on from."""
        return Edge(row, self.frame, floor=self.floor, passed=True)

    def replace(self, array: np.ndarray, *, cut: bool = False) -> None:
        """Let the program go on with another value, and write that into the log."""
        assert self.frame is not None
        self.answer = Replace(array, cut)
        recording.edit(self.row, array, self.frame, cut=cut)

    def held(self) -> Any:
        """The value (or cotangent) that the program will go on with, read-only; None where there is none at hand."""
        held = self.answer.value if isinstance(self.answer, Replace) else self.value
        if self.pending is not None or self.passed or self.frame is None or held is None:
            return None
        array = np.asarray(held).view()
        array.flags.writeable = False
        return array
