"""The live edge: what the program waits with, and the answer that it will get."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.debugger import frames
from graphscope.eventlog.gate import Replace

if TYPE_CHECKING:
    from graphscope.debugger.nodes import Pending
    from graphscope.eventlog.gate import Answer


@dataclass
class Edge:
    """Where the program waits: after the node of `row`, or ahead of a node that is not computed yet."""

    row: int
    frame: FrameType
    pending: Pending | None = None
    value: Any = None
    answer: Answer = None
    floor: CodeType | None = None
    """The program's frames lie above a frame of this code."""

    @cached_property
    def stack(self) -> list[FrameType]:
        """The program's frames, outermost first."""
        return frames.stack(self.frame, self.floor)

    def held(self) -> Any:
        """The value (or cotangent) that the program will go on with, read-only; None ahead of a computation."""
        if self.pending is not None:
            return None
        array = np.asarray(self.answer.value if isinstance(self.answer, Replace) else self.value).view()
        array.flags.writeable = False
        return array
