"""SIGUSR1: a person asks a recording that keeps the newest steps to hold those, and to record the next ones."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from graphscope.eventlog.writer import Writer

_SIGNAL: Final = getattr(signal, "SIGUSR1", None)
"""None: this system has no such signal."""


_watching: Any = None


def watch(writer: Writer) -> None:
    """Heed the signal, unless the program does, or does not run in the thread that signals come to."""
    global _watching
    if _SIGNAL is None or not _is_main():
        return
    if signal.getsignal(_SIGNAL) is not signal.SIG_DFL:
        return

    def heed(number: int, frame: FrameType | None) -> None:
        writer.remark()

    _watching = heed
    signal.signal(_SIGNAL, heed)


def leave() -> None:
    """Heed it no more."""
    global _watching
    ours, _watching = _watching, None
    if _SIGNAL is not None and ours is not None and _is_main() and signal.getsignal(_SIGNAL) is ours:
        signal.signal(_SIGNAL, signal.SIG_DFL)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
