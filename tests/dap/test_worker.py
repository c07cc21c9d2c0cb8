"""Work in a thread beside: an interrupt may come at any moment, and whoever waits hears of an end all the same."""

from __future__ import annotations

import asyncio
import random
import sys
import threading
from collections.abc import Callable

import pytest

from graphscope.dap.worker import Worker
from graphscope.errors import CommandError


def test_an_interrupt_at_any_moment_is_answered() -> None:
    chance = random.Random(1)

    def work(count: int) -> int:
        return sum(number for number in range(count))

    async def hurry() -> tuple[int, int]:
        worker, done, cut = Worker(lambda _: None), 0, 0
        for _ in range(300):
            count = chance.randrange(3000)
            doing = asyncio.create_task(worker.do(lambda: work(count), part=lambda: None))  # noqa: B023 - at once
            for _ in range(chance.randrange(20)):
                await asyncio.sleep(0)
                worker.interrupt()
            try:
                assert await asyncio.wait_for(doing, 120) == count * (count - 1) // 2
                done += 1
            except CommandError:
                cut += 1
        return done, cut

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        done, cut = asyncio.run(hurry())
    finally:
        sys.setswitchinterval(before)
    assert done > 10
    assert cut > 10


def test_an_interrupt_that_is_swallowed_is_repeated() -> None:
    begun, swallowed = threading.Event(), threading.Event()

    def work() -> None:
        try:
            begun.set()
            while True:
                pass
        except KeyboardInterrupt:  # as a callback of the collector does
            swallowed.set()
        while True:
            pass

    asyncio.run(_interrupted(work, begun))
    assert swallowed.is_set()


def test_an_error_of_interrupted_work_is_told_as_the_interrupt() -> None:
    begun = threading.Event()

    def work() -> None:
        try:
            begun.set()
            while True:
                pass
        except KeyboardInterrupt as interrupt:
            raise SystemError("AST constructor recursion depth mismatch") from interrupt

    asyncio.run(_interrupted(work, begun))


async def _interrupted(work: Callable[[], None], begun: threading.Event) -> None:
    worker = Worker(lambda _: None)
    doing = asyncio.create_task(worker.do(work, part=lambda: None))
    await asyncio.to_thread(begun.wait, 120)
    worker.interrupt()
    with pytest.raises(CommandError, match="interrupted"):
        await asyncio.wait_for(doing, 120)
