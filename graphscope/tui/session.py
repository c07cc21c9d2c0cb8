"""Who carries commands out for the screen: a debugger over a recorded log, or later a program that runs."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from typing import Protocol

from graphscope.debugger import interpreter
from graphscope.debugger.breakpoints import Breakpoints
from graphscope.debugger.lines import expand
from graphscope.debugger.results import Ended, Message, Result, Resumed, Stop
from graphscope.debugger.session import Debugger
from graphscope.errors import GraphscopeError
from graphscope.tui.scene import Mark


class Session(Protocol):
    """The other end of the screen. Its methods may take long; they are called from one thread, never the screen's."""

    def begin(self) -> Stop | None:
        """Go to where the screen is to open; None where there is no node yet."""
        ...

    def carry_out(self, line: str, block: tuple[str, ...] = ()) -> list[Result]:
        """Carry out a typed line; what each of its commands answered."""
        ...

    def interrupt(self) -> None:
        """End what is being carried out, from another thread; nothing when nothing is."""
        ...

    def complete(self, line: str, word: str) -> list[str]:
        """What a word at the end of a line may become."""
        ...

    @property
    def now(self) -> int:
        """The row where the debugger stands."""
        ...

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The breakpoints."""
        ...


class RecordedSession:
    """A debugger over a log that is finished, or that another process writes."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._busy = threading.Lock()
        self._thread: int | None = None
        """The thread that carries something out, while one does."""

    def begin(self) -> Stop | None:
        """Go to the first node."""
        self._debugger.log.refresh()
        result = interpreter.answer(self._debugger, "restart")
        return result if isinstance(result, Stop) else None

    def carry_out(self, line: str, block: tuple[str, ...] = ()) -> list[Result]:
        """Carry out a line: aliases written out, `;;` parted, and what is attached to a breakpoint behind it."""
        try:
            with self._busy:
                self._thread = threading.get_ident()
            found = self._carry_out(line, block)
            with self._busy:
                self._thread = None
        except KeyboardInterrupt:
            self._thread = None
            return [Message("Interrupted", "what was begun is undone", error=True)]
        return found

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt where something is carried out; the debugger then stays where it was."""
        with self._busy:
            if self._thread is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._thread), ctypes.py_object(KeyboardInterrupt)
                )
                self._thread = None

    def _carry_out(self, line: str, block: tuple[str, ...]) -> list[Result]:
        debugger = self._debugger
        found: list[Result] = []
        try:
            waiting = deque(expand(line, debugger.aliases))
        except GraphscopeError as error:
            return [Message(error.message, error.hint or "", error=True)]
        while waiting:
            result = interpreter.answer(debugger, waiting.popleft(), block)
            found.append(result)
            if isinstance(result, Ended | Resumed):
                break
            if isinstance(result, Stop):
                waiting = deque(result.commands)
        return found

    def complete(self, line: str, word: str) -> list[str]:
        """What a word at the end of a line may become."""
        return interpreter.complete(self._debugger, line, word)

    @property
    def now(self) -> int:
        """The row where the debugger stands."""
        return self._debugger.now

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The breakpoints."""
        return marks_of(self._debugger.breakpoints)


def marks_of(breakpoints: Breakpoints) -> tuple[Mark, ...]:
    """Breakpoints as the screen draws them."""
    return tuple(Mark(found.number, found.spec, found.enabled, found.selector) for found in breakpoints)
