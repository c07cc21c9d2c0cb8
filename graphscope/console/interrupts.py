"""Ctrl-C while a program is debugged: it stops the program at its next node, and a second one interrupts it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from graphscope.debugger.gate import LiveGate


@contextlib.contextmanager
def handled(gate: LiveGate) -> Iterator[None]:
    """Handle Ctrl-C for a program under this gate; in another thread than the main one, nothing is changed."""
    before = install(gate)
    try:
        yield
    finally:
        if before is not None and signal.getsignal(signal.SIGINT) is not before:
            signal.signal(signal.SIGINT, before)


def install(gate: LiveGate) -> signal._HANDLER:
    """Handle Ctrl-C for a program under this gate from now on; returns who handled it before."""
    if threading.current_thread() is not threading.main_thread():
        return None

    process = os.getpid()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if os.getpid() != process:  # a child that the program forked has no prompt
            signal.default_int_handler(number, frame)
        if gate.asking and not gate.asking_here:
            return  # the prompt is in another thread; a KeyboardInterrupt here would hit the program
        if gate.asking or not gate.pause():
            signal.default_int_handler(number, frame)
        print("\nThe program stops at its next node; Ctrl-C again interrupts it.", flush=True)

    return signal.signal(signal.SIGINT, interrupt)
