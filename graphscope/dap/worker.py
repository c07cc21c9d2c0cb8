"""Work that may take long, in a thread beside: it reports progress, and ends early when it is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from graphscope.debugger.interruptible import Interruptible
from graphscope.errors import CommandError

Found = TypeVar("Found")

QUIET: Final = 0.5
"""Seconds that work may take before anything is said of it, and between two things that are said."""

_DROPPING: Final = 1.0
"""Seconds that work has to end when it was interrupted, before it is left to itself."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far work has come."""

    number: int
    part: float | None = None
    """Between 0 and 1, where that is known."""
    first: bool = False
    last: bool = False


class Worker:
    """Does one thing at a time.

    Args:
        tell: Called with how far work that takes long has come.
    """

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self._tell = tell
        self._turn = asyncio.Lock()
        self._number = 0
        self._thread: _Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return self._turn.locked()

    async def settled(self) -> None:
        """Wait until nothing is being done."""
        async with self._turn:
            pass

    def interrupt(self) -> None:
        """Let what is being done end with an error."""
        if self._thread is not None:
            self._thread.interrupt()

    async def do(
        self,
        work: Callable[[], Found],
        *,
        patience: float | None = None,
        part: Callable[[], float | None] | None = None,
    ) -> Found:
        """Do something, when what was begun before is done.

        Args:
            work: What to do, in a thread.
            patience: Seconds after which it is interrupted.
            part: Tells how much of it is done; without it, nothing is told.

        Raises:
            CommandError: It was interrupted.
        """
        async with self._turn:
            future: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
            self._thread = thread = _Thread(work, future)
            thread.start()
            self._number += 1
            try:
                await self._watched(future, patience, part)
            finally:
                if not future.done():
                    thread.interrupt()
                    await asyncio.wait({future}, timeout=_DROPPING)
                    if future.done():
                        future.exception()  # nobody else asks for it
                self._thread = None
            return future.result()

    async def _watched(
        self, future: asyncio.Future[Found], patience: float | None, part: Callable[[], float | None] | None
    ) -> None:
        await asyncio.wait({future}, timeout=QUIET if part is not None else patience)
        if future.done() or part is None:
            if not future.done():
                raise CommandError(f"That was not done within {patience:g} s", "what was asked is dropped")
            return
        self._tell(Progress(self._number, part(), first=True))
        try:
            while not future.done():
                await asyncio.wait({future}, timeout=QUIET)
                self._tell(Progress(self._number, part()))
        finally:
            self._tell(Progress(self._number, last=True))


class _Thread(threading.Thread):
    """One thing that is done; it does not keep the process alive."""

    def __init__(self, work: Callable[[], object], future: asyncio.Future[Any]) -> None:
        super().__init__(name="graphscope-work", daemon=True)
        self._work = Interruptible(work)
        self._future = future
        self._loop = asyncio.get_running_loop()

    def interrupt(self) -> None:
        """Let it end, wherever it is."""
        self._work.interrupt()

    def run(self) -> None:
        found: object = None
        error: BaseException | None = None
        try:
            found = self._work.do()
        except BaseException as raised:  # noqa: BLE001 - it is raised again where the result is waited for
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._done, found, error)

    def _done(self, found: object, error: BaseException | None) -> None:
        if self._future.done():
            return
        if error is None:
            self._future.set_result(found)
        else:
            self._future.set_exception(error)
