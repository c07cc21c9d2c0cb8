"""A terminal that is gone: its window was closed or its connection broke, and nobody will press a key any more."""

from __future__ import annotations

import asyncio
import contextlib
import select
import signal
import sys
from collections.abc import Callable
from typing import Any

from textual.driver import Driver


def is_gone() -> bool:
    """Whether nothing is at the other end of the terminal; keys are waited for in vain then, and that without rest."""
    if sys.__stdin__ is None or not hasattr(select, "poll"):
        return False
    line = select.poll()
    line.register(sys.__stdin__.fileno(), 0)
    return any(found & select.POLLHUP for _, found in line.poll(0))


def on_hang_up(act: Callable[[], object]) -> None:
    """Act where a closed terminal would end this process at once."""
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, act)


def outliving(kind: type[Driver]) -> type[Driver]:
    """A driver of this kind that goes on when its terminal is gone, until the screen has ended."""

    def begin(self: Any, *given: Any, **named: Any) -> None:
        kind.__init__(self, *given, **named)
        if hasattr(self, "_file"):
            self._file = _Outlet(self._file)

    def resume(self: Any) -> None:
        if not is_gone():  # a signal to go on follows the one that a terminal hangs up; there is nothing to go on with
            kind.resume_application_mode(self)

    return type(kind.__name__, (kind,), {"__init__": begin, "resume_application_mode": resume})


class _Outlet:
    """A stream that drops what can't be written: Textual's thread that writes would die, and the screen wait for it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
