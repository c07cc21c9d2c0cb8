"""Breakpoints at lines that call: they stop at the first node that a call of the line makes, each time it is run."""

from __future__ import annotations

import threading
from types import CodeType, FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphscope.debugger.breakpoints import Breakpoint
    from graphscope.graph.select import Line


class LineCalls:
    """Which calls of which lines the program is in, thread by thread."""

    def __init__(self) -> None:
        self._codes: dict[Line, dict[int, tuple[bool, CodeType]]] = {}
        """By line, whether the code of a frame has it; codes go by their ids, since hashing one takes long."""
        self._calls: dict[tuple[int, int], FrameType] = {}
        """By breakpoint and thread, the frame that its line has called: held, so that no other can be taken for it."""

    def entered(self, frame: FrameType, breakpoints: list[Breakpoint]) -> set[int]:
        """The numbers of those whose line is being run, in a call that no node was made in before.

        Args:
            frame: The innermost frame of the program where a node was made.
            breakpoints: Those that may stop there.
        """
        found, thread = set(), threading.get_ident()
        for each in breakpoints:
            if each.line is not None:
                call, key = self._call(frame, each.line), (each.number, thread)
                if call is None:
                    self._calls.pop(key, None)
                elif self._calls.get(key) is not call:
                    self._calls[key] = call
                    found.add(each.number)
        return found

    def _call(self, frame: FrameType, line: Line) -> FrameType | None:
        """The frame that a line has called on the way to `frame`; its own where it has called none."""
        inner, outer, number = frame, frame, line.number
        known = self._codes.setdefault(line, {})
        while True:
            code = outer.f_code
            found = known.get(id(code))
            if found is None:
                has = any(each == number for _, _, each in code.co_lines()) and line.is_in(code.co_filename)
                found = known[id(code)] = (has, code)
            if found[0] and outer.f_lineno == number:
                return inner
            back = outer.f_back
            if back is None:
                return None
            inner, outer = outer, back
