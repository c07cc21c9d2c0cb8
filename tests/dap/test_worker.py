"""Work in a thread beside: an interrupt may come at any moment, and whoever waits hears of an end all the same."""

from __future__ import annotations

import asyncio
import random
import sys

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
                assert await asyncio.wait_for(doing, 20) == count * (count - 1) // 2
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
