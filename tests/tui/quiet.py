"""An event loop that knows when the application has done all that was asked of it.

Textual's pilot waits until the process has been idle for a while. This loop looks instead: nothing is ready to run, no
timer is due within a frame, and no thread of its own is at work. What is due within a frame is not waited for: the
clock is put forward, when there is nothing else to do.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Coroutine
from typing import Any

import pytest
import textual._time
import textual.app
import textual.pilot

_FRAME = 0.02
"""Seconds: what is due so soon, a repaint above all, belongs to what was asked."""
_FRAMES = 50
"""Timers that are waited for at most; those of an application that is ending go on without effect."""


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Waits for what the loop waits for, and tells who waits for quiet."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[asyncio.Future[None]] = []
        self.at_work: set[asyncio.Future[Any]] = set()
        self.ahead = 0.0
        self._frames = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not self.waiting or timeout == 0:
            return super().select(timeout)
        if timeout is not None and timeout < _FRAME and self._frames < _FRAMES:
            self._frames += 1
            found = super().select(timeout if self.at_work else 0)
            if not found and not self.at_work:
                self.ahead += timeout
            return found
        used = time.process_time()
        found = super().select(_FRAME if self.at_work else 0)
        if found or (self.at_work and time.process_time() - used > _FRAME / 20):
            return found
        self._frames = 0
        for each in self.waiting:  # a thread that does nothing waits for something that was not done yet
            if not each.done():
                each.set_result(None)
        self.waiting.clear()
        return found


class Loop(asyncio.SelectorEventLoop):
    """An event loop that can be waited for."""

    def __init__(self) -> None:
        self._own_selector = _Selector()
        super().__init__(self._own_selector)

    def time(self) -> float:
        return super().time() + self._own_selector.ahead

    def run_in_executor(self, *given: Any) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = super().run_in_executor(*given)
        self._own_selector.at_work.add(future)
        future.add_done_callback(self._own_selector.at_work.discard)
        return future

    async def quiet(self) -> None:
        """Wait until nothing is to be done any more."""
        future = self.create_future()
        self._own_selector.waiting.append(future)
        await future


async def quiet(*_: object) -> None:
    """Wait until the application has nothing to do any more."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Loop)
    await loop.quiet()


def run(body: Coroutine[Any, Any, None]) -> None:
    """Run an application, and let its pilot wait no longer than there is something to do."""
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner(loop_factory=Loop) as runner:
        patch.setattr(textual.app, "wait_for_idle", quiet)
        patch.setattr(textual.pilot, "wait_for_idle", quiet)
        patch.setattr(textual.pilot.Pilot, "_wait_for_screen", quiet)
        patch.setattr(textual._time, "get_time", runner.get_loop().time)
        runner.run(body)
