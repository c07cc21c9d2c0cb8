"""Work that may take long, and that another thread may end early."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from graphscope.errors import CommandError

Found = TypeVar("Found")

_REPEAT: Final = 0.25
"""Seconds after which work that goes on is interrupted again: a finalizer of the collector may swallow one."""


class Interruptible(Generic[Found]):
    """One piece of work, done once.

    Args:
        work: What to do.
    """

    def __init__(self, work: Callable[[], Found]) -> None:
        self._work = work
        self._guard = threading.Lock()
        self._thread: int | None = None
        """Where it is done, while it is."""
        self._interrupted = False
        self._repeats: threading.Timer | None = None

    def do(self) -> Found:
        """Do it in this thread.

        Raises:
            CommandError: It was interrupted.
        """
        try:
            try:
                with self._guard:
                    if self._interrupted:
                        raise KeyboardInterrupt
                    self._thread = threading.get_ident()
                return self._work()
            finally:
                self._end()
        except KeyboardInterrupt:
            self._end()  # the interrupt may have come where it ended
            raise CommandError("That was interrupted") from None
        except BaseException:
            if self._interrupted:  # what code of others made of the interrupt
                raise CommandError("That was interrupted") from None
            raise

    def _end(self) -> None:
        """From here on no interrupt is raised; one that was too late is raised here, and no more."""
        with self._guard:
            self._thread = None
            if self._repeats is not None:
                self._repeats.cancel()
        with contextlib.suppress(KeyboardInterrupt):
            # Taking it back (PyThreadState_SetAsyncExc with NULL) would have Python 3.11 look for it at every jump from
            # then on, and never end a call under a profile function.
            for _ in range(8):
                pass

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt where it is done, until it ends; what has not begun does not begin.

        Not twice within a moment: the second one could hit what tells of the first.
        """
        with self._guard:
            self._interrupted = True
            if self._thread is not None and self._repeats is None:
                self._raise(self._thread)

    def _raise(self, thread: int) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
        self._repeats = threading.Timer(_REPEAT, self._interrupt_again)
        self._repeats.daemon = True
        self._repeats.start()

    def _interrupt_again(self) -> None:
        with self._guard:
            if self._thread is not None:
                self._raise(self._thread)
