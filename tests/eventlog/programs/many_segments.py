"""How many more descriptors a process has open after a recording of many segments, which it still goes on with."""

from pathlib import Path

import graphscope as gs


def descriptors() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


x = gs.ones(3)
before = descriptors()
with gs.record("run.gscope") as log:
    for _ in range(200_000):
        x * 2.0
    log.refresh()
    assert log.value(log.end - 1) is not None
    print(descriptors() - before)
