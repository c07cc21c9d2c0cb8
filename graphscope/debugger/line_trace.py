"""Lines of the program that are about to run: Python tells of those that a breakpoint or a step asks for.

Tracing costs each call of the program a little, so it is on only while somebody asks for lines, and only frames with
such lines are traced line by line.
"""

from __future__ import annotations

import dis
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from traceback import walk_tb
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final

from graphscope.debugger import frames
from graphscope.debugger.source_blocks import first_lines
from graphscope.eventlog.own_files import is_internal, is_own

if TYPE_CHECKING:
    from graphscope.debugger.motion import End, Reach
    from graphscope.graph.select import Line

_INNER: Final = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Code that runs as a part of the line that it begins in."""

_ENDINGS: Final = (StopIteration, StopAsyncIteration, GeneratorExit, SystemExit)
"""Exceptions that are no sign of anything wrong."""

Arrive = Callable[[FrameType], None]
Fail = Callable[[FrameType, BaseException], None]


class LineTrace:
    """Tells when a statement is about to run that somebody asks for, once each time that it runs.

    Args:
        arrive: Called in the frame's thread; what it raises reaches the program.
        fail: Called so where an exception arises, if that is asked for.
        only_own: Says whether steps keep to the program's own files: else they lead into libraries as well.
    """

    def __init__(self, arrive: Arrive, fail: Fail, only_own: Callable[[], bool]) -> None:
        self._arrive = arrive
        self._fail = fail
        self._only_own = only_own
        self._lines: tuple[Line, ...] = ()
        self._reach: Reach | None = None
        self._exceptions = False
        self._stack: list[FrameType] = []
        self._thread = 0
        self._end: End | None = None
        """Where the only call ends that the step leads into."""
        self._wanted: dict[int, tuple[frozenset[int], CodeType]] = {}
        """By code, its lines that are asked for; codes go by their ids, since hashing one takes long."""
        self._visits: dict[int, int] = {}
        """For each frame that is traced, the statement it is in."""
        self._turns: dict[int, tuple[frozenset[int], CodeType]] = {}
        """By code, the instructions where loops begin their next turn."""
        self._is_on = False
        self._hook = self._called
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.off)  # the debugger belongs to the parent

    def step(self, reach: Reach | None, frame: FrameType | None, end: End | None = None) -> None:
        """Tell of where a step leads that begins where the program waits.

        Args:
            reach: How far it goes: over what a line calls, into it, or out of the function; None for no step.
            frame: The innermost frame; None ahead of the program's first line.
            end: Where the call ends, of those of the line, which is the only one to go into.
        """
        stack = self._stack_of(frame)
        self._reach, self._thread, self._end = reach, threading.get_ident(), end
        self._stack = [] if reach is None else stack[1:] if reach == "out" else stack
        self._settle(stack)

    def look_out(self, lines: tuple[Line, ...], frame: FrameType | None, *, exceptions: bool = False) -> None:
        """Tell of lines that breakpoints ask for, and of exceptions; `frame` is where the program is, if it runs."""
        self._exceptions = exceptions
        if lines != self._lines:
            self._lines, self._wanted = lines, {}
        self._settle(self._stack_of(frame))

    def _settle(self, stack: list[FrameType]) -> None:
        if not self._lines and self._reach is None and not self._exceptions:
            self.off()
            return
        for each in stack:
            self._visits[id(each)] = statement_of(each)
            if self._is_asked_for(each):
                each.f_trace = self._in_frame
        if not self._is_on:
            self._is_on = True
            sys.settrace(self._hook)
            threading.settrace(self._hook)

    def off(self) -> None:
        """Let the program run untraced."""
        if self._is_on:
            self._is_on = False
            sys.settrace(None)
            threading.settrace(None)
        self._reach, self._lines, self._stack, self._exceptions = None, (), [], False
        self._visits.clear()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For the time of a block, which is none of the program's, nothing is traced in this thread."""
        if sys.gettrace() is not self._hook:
            yield
            return
        sys.settrace(None)
        try:
            yield
        finally:
            if self._is_on:
                sys.settrace(self._hook)

    def is_led_to(self, frame: FrameType) -> bool:
        """Whether the step that is made ends at the next line of a frame."""
        if self._reach is None or threading.get_ident() != self._thread:
            return False
        inner = self._reach == "into" and self._is_shown(frame) and frame.f_code.co_name not in _INNER
        if inner and (self._end is None or self._is_chosen(frame)):
            return True
        return any(frame is each for each in self._stack)

    def _is_chosen(self, frame: FrameType) -> bool:
        """Whether the call that was chosen has led to a frame, by way of libraries if need be."""
        outer = next(iter(self._stack_of(frame.f_back, 1)), None)
        return outer is not None and outer is self._stack[0] and _call_of(outer) == self._end

    def _is_shown(self, frame: FrameType) -> bool:
        """Whether one may stand in a frame."""
        only_own = self._only_own()
        return _has_lines(frame.f_code.co_filename, only_own) and (only_own or not _is_ours(frame))

    def _stack_of(self, frame: FrameType | None, most: int = sys.maxsize) -> list[FrameType]:
        """A frame and those that called it, the innermost first, as far as one may stand in them."""
        found: list[FrameType] = []
        while frame is not None and len(found) < most:
            if self._is_shown(frame):
                found.append(frame)
            frame = frame.f_back
        return found

    def _called(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """Called at each call of the program: what most of them need comes first."""
        found = self._wanted.get(id(frame.f_code))
        if found is not None and not found[0] and self._reach != "into" and not self._exceptions:
            return None
        return self._in_frame if self._is_on and self._is_asked_for(frame) else None

    def _in_frame(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if event == "return":
            self._visits.pop(id(frame), None)
        elif event == "exception":
            if self._exceptions and self._is_on and self._arises(frame, *argument):
                self._fail(frame, argument[1])
        elif event == "line" and self._is_on:
            statement = statement_of(frame)
            if self._visits.get(id(frame)) != statement or self._comes_again(frame):  # else a further line of its text
                self._visits[id(frame)] = statement
                if statement in self._lines_in(frame.f_code) or self.is_led_to(frame):
                    self._arrive(frame)
        return self._in_frame

    def _is_asked_for(self, frame: FrameType) -> bool:
        wanted = bool(self._lines_in(frame.f_code)) or self.is_led_to(frame)
        return wanted or (self._exceptions and self._is_shown(frame))

    def _arises(self, frame: FrameType, kind: type, error: BaseException, trace: TracebackType | None) -> bool:
        """Whether an exception has come to none of the program's lines before; what ends loops is none to tell of."""
        if issubclass(kind, _ENDINGS) or not self._is_shown(frame):
            return False
        inner = () if trace is None else walk_tb(trace.tb_next)
        return not any(self._is_shown(each) for each, _ in inner)

    def _comes_again(self, frame: FrameType) -> bool:
        """Whether a loop of one line begins its next turn."""
        code = frame.f_code
        if id(code) not in self._turns:
            jumps = (each for each in dis.get_instructions(code) if "BACKWARD" in each.opname)
            self._turns[id(code)] = frozenset(each.argval for each in jumps), code
        return frame.f_lasti in self._turns[id(code)][0]

    def _lines_in(self, code: CodeType) -> frozenset[int]:
        """The statements of a code that are asked for, by the lines where they begin."""
        found = self._wanted.get(id(code))
        if found is None:
            found = self._wanted[id(code)] = self._asked_in(code), code
        return found[0]

    def _asked_in(self, code: CodeType) -> frozenset[int]:
        wanted = [line for line in self._lines if line.is_in(code.co_filename)]
        if not wanted:
            return frozenset()
        begins = _statements(code.co_filename)
        own = {begins.get(line, line) for _, _, line in code.co_lines() if line}
        own -= {begins.get(code.co_firstlineno, code.co_firstlineno)} if code.co_name in _INNER else set()
        return frozenset({begins.get(line.number, line.number) for line in wanted} & own)


def _call_of(frame: FrameType) -> End | None:
    """Where the call ends that a frame is in; None where it is in something else, as where a loop asks what is next."""
    code, at = frame.f_code, frame.f_lasti
    while dis.opname[code.co_code[at]] == "CACHE":  # it lies behind its instruction
        at -= 2
    _, line, _, column = next(islice(code.co_positions(), at // 2, None))
    is_call = dis.opname[code.co_code[at]].startswith("CALL")
    return (line, column) if is_call and line is not None and column is not None else None


def is_at(frame: FrameType, line: Line) -> bool:
    """Whether a frame is in the statement that a line belongs to."""
    file = frame.f_code.co_filename
    return line.is_in(file) and statement_at(file, line.number) == statement_of(frame)


def statement_of(frame: FrameType) -> int:
    """The line where the statement begins that a frame is in."""
    return statement_at(frame.f_code.co_filename, frame.f_lineno or frame.f_code.co_firstlineno)


def statement_at(file: str, line: int) -> int:
    """The line where the statement begins that a line of a file belongs to."""
    return _statements(file).get(line, line)


def _is_ours(frame: FrameType) -> bool:
    """Whether graphscope has called a function of a library, as to record something, and the program has not."""
    at: FrameType | None = frame
    while at is not None and not is_own(at.f_code.co_filename):
        if is_internal(at.f_code.co_filename):
            return True
        at = at.f_back
    return False


@lru_cache(maxsize=4096)
def _has_lines(file: str, only_own: bool) -> bool:
    """Whether the text of a file can be shown, and it is the program's own, or that of any library is wanted."""
    return (is_own(file) if only_own else not is_internal(file)) and bool(frames.text_of_file(file))


@lru_cache(maxsize=256)
def _statements(file: str) -> dict[int, int]:
    return first_lines(frames.text_of_file(file))
