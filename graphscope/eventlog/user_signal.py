"""SIGUSR1: a person asks a recording that keeps the newest steps to hold those, and to record the next ones.

By default the signal ends a program. Who was told to send it does not know what a recording has come to: it does not
while a handler of ours stands in the place of the default, whether anything is recorded or not.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Final

from graphscope.eventlog.notices import say

if TYPE_CHECKING:
    from graphscope.eventlog.writer import Writer

_SIGNAL: Final = getattr(signal, "SIGUSR1", None)
"""None: this system has no such signal."""


class _Handler:
    """Ours. A program that asks whether the signal has a handler finds it equal to the default, and sets its own."""

    def __init__(self) -> None:
        self.writer: Writer | None = None
        """What is asked; None: nothing is recorded."""
        self.is_silent = False
        self._told: str | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if (writer := self.writer) is None or writer.broken is not None:
            self._tell("nothing is recorded")
        elif not writer.is_ring:
            self._tell("every step is recorded in any case")
        elif not _asks(writer):
            self._tell("`on` does not name it")
        else:
            writer.remark()

    def __eq__(self, other: object) -> bool:
        return other is self or other is signal.SIG_DFL

    __hash__ = object.__hash__

    def _tell(self, why: str) -> None:
        if not self.is_silent and self._told != why:
            self._told = why
            say(f"SIGUSR1 asks for nothing: {why}; the program goes on")


_HANDLER: Final = _Handler()
_lasts = False


def guard() -> None:
    """Let the signal end this process no more, whatever becomes of its recording, unless the program sees to it."""
    global _lasts
    _lasts = True
    _install()


def watch(writer: Writer) -> None:
    """Let the signal ask a recording, unless the program heeds it or runs in another thread than signals come to."""
    if writer.is_ring and _asks(writer):
        _install()
    _HANDLER.writer, _HANDLER.is_silent = writer, False


def leave() -> None:
    """Let it ask the recording no more, which ends."""
    _HANDLER.writer = None
    if _SIGNAL is not None and not _lasts and _is_main() and signal.getsignal(_SIGNAL) is _HANDLER:
        signal.signal(_SIGNAL, signal.SIG_DFL)


def detach() -> None:
    """Do nothing in a forked child: the recording is the parent's, who is signalled with it."""
    _HANDLER.writer, _HANDLER.is_silent = None, True


def _asks(writer: Writer) -> bool:
    return "signal" in writer.sampling.on


def _install() -> None:
    if _SIGNAL is not None and _is_main() and signal.getsignal(_SIGNAL) is signal.SIG_DFL:
        signal.signal(_SIGNAL, _HANDLER)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
