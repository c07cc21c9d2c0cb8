"""What keeping the values of a step takes at least: how many bytes they are, given to a file, and copied in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

import numpy as np

from benchmarks.engines import load
from benchmarks.measure import batch

ROUNDS: Final = 5


def floor(run: Callable[[], object]) -> dict[str, float]:
    """The bytes of values that a step under `full` has in the log; a write of them, and a copy, as shares of the step.

    Args:
        run: One step.
    """
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        sizes = kept(run, Path(folder) / "run.gscope")
        calls = max(int(0.1 / batch(run, 1, process_time)), 1)
        rounds = [
            (batch(run, calls, process_time) / calls, written(sizes, Path(folder) / "values.npy"), copied(sizes))
            for _ in range(ROUNDS)
        ]
    return {
        "bytes, values of a step": float(sum(sizes)),
        "pwrite of them": median(writing / step for step, writing, _ in rounds),
        "copy of them": median(copying / step for step, _, copying in rounds),
    }


def kept(run: Callable[[], object], path: Path) -> list[int]:
    """The bytes of each value that a step adds to a log, one after the other; rows may have one in common."""
    writer = load("graphscope.eventlog.record").start(path, policy="full")
    run()
    first = writer.end - writer.base
    run()
    end = writer.end - writer.base
    load("graphscope.eventlog.record").stop(writer)
    log = load("graphscope.eventlog.reader").load(path)
    sizes = {}
    for row in range(first, end):
        for slot in range(log.event(row).output_count):
            value = log.value(row, slot)
            if value is not None and value.nbytes > load("graphscope.eventlog.schema").INLINE_BYTES:
                sizes[value.ctypes.data] = value.nbytes
    return list(sizes.values())


def written(sizes: list[int], path: Path) -> float:
    """Seconds that it takes to write so many values through a file that is reserved as those of logs are."""
    load("graphscope.eventlog.mapped").reserve(path, np.dtype("u1"), sum(sizes))
    content = np.ones(max(sizes), np.uint8).data
    file = os.open(path, os.O_WRONLY)
    try:
        start, offset = process_time(), 0
        for size in sizes:
            offset += os.pwrite(file, content[:size], offset)
        return process_time() - start
    finally:
        os.close(file)
        path.unlink()


def copied(sizes: list[int]) -> float:
    """Seconds that it takes to copy so many values to memory that was written before."""
    content, memory = np.ones(max(sizes), np.uint8), np.ones(sum(sizes), np.uint8)
    start, offset = process_time(), 0
    for size in sizes:
        memory[offset : offset + size] = content[:size]
        offset += size
    return process_time() - start
