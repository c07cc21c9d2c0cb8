"""`warnings.warn`: a warning names the line that it would name unrecorded, so that a program's filters fit.

A function of torch that is written in Python runs inside of itself while our mode is on the stack: one frame too many.
What stands in the place of a function is another one.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import Any

from graphscope.adapters.torch.originals import HANDING, asks
from graphscope.adapters.torch.session import Session


class Warned:
    """Follows what the program is warned of."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def entries(self) -> Iterator[tuple[Any, str, Any]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        yield warnings, "warn", self._counted(warnings.warn)

    def _counted(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
            if options.get("skip_file_prefixes"):
                options["skip_file_prefixes"] = (*options["skip_file_prefixes"], __file__)
            else:
                stacklevel += 1 + self._more(_getframe(1), stacklevel)
            original(message, category, stacklevel, source, **options)

        return warn

    def _more(self, frame: FrameType | None, levels: int) -> int:
        """How many frames on the way out by so many levels are there because of the recording."""
        more = 0
        for _ in range(1, levels):
            if frame is None:
                break
            around, count = frame.f_back, 0
            if asks(frame.f_code):
                while around is not None and (around.f_code is HANDING or self.session.frames.is_graphscope(around)):
                    around, count = around.f_back, count + 1
                if around is not None and around.f_code is frame.f_code:
                    more += count + 1
                    frame = around
            frame = frame.f_back
            while frame is not None and self.session.frames.is_graphscope(frame):
                frame, more = frame.f_back, more + 1
        return more
