"""Where the time of one candidate goes: by function, as cProfile sees it, and by line, as a sampler sees it."""

from __future__ import annotations

import cProfile
import linecache
import pstats
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from benchmarks.engines import CANDIDATES
from benchmarks.workloads import WORKLOADS

SECONDS: Final = 4.0
LINES: Final = 40
NAMES: Final = {"ours": "graphscope", "recorded": "graphscope, recording", "torch": "torch eager"}
"""Short names, to type."""

Line = tuple[str, int]


@contextmanager
def sampling(found: Counter[Line]) -> Iterator[None]:
    """Count the line that runs at each millisecond of processor time; what C does counts for the line that calls it."""

    def take(_: int, frame: FrameType | None) -> None:
        if frame is not None:
            found[frame.f_code.co_filename, frame.f_lineno] += 1

    before = signal.signal(signal.SIGPROF, take)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def repeat(run: Callable[[], object], seconds: float) -> int:
    """Run for so long; how often it ran."""
    end, count = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        run()
        count += 1
    return count


def profile(workload: str, candidate: str) -> None:
    """Print both tables."""
    step = CANDIDATES[NAMES.get(candidate, candidate)](WORKLOADS[workload])
    lines: Counter[Line] = Counter()
    profiler = cProfile.Profile()
    with step.session():
        repeat(step.run, SECONDS / 8)
        with sampling(lines):
            began = time.perf_counter()
            count = repeat(step.run, SECONDS)
            each = (time.perf_counter() - began) / count
        profiler.enable()
        repeat(step.run, SECONDS / 2)
        profiler.disable()
    step.close()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
    total = lines.total()
    print(f"{workload} {candidate}: {each * 1e6:.1f} us a step, {total} samples\n")
    for (file, number), samples in lines.most_common(LINES):
        text = linecache.getline(file, number).strip()[:90]
        print(f"{samples / total:6.1%} {samples / total * each * 1e6:9.2f} us  {Path(file).name}:{number}  {text}")
