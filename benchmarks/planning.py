"""How long it takes until a compiled graph runs: planning, machine code made and machine code found on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from typing import Final

from benchmarks.compiled import planned
from benchmarks.engines import UnavailableError
from benchmarks.results import Measurement
from benchmarks.workloads import WORKLOADS

TIMES: Final = 3
"""How often each is done; the fastest counts."""
_PLACE: Final = "XDG_CACHE_HOME"


@contextmanager
def empty_cache() -> Iterator[None]:
    """Machine code is looked for, and kept, in a folder that is empty and goes away."""
    before = os.environ.get(_PLACE)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[_PLACE] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ[_PLACE]
            else:
                os.environ[_PLACE] = before


def seconds(name: str, backend: str) -> float:
    """From the program to the end of its first run, tracing included: time of the processor, not of the clock."""
    start = process_time()
    planned(WORKLOADS[name], backend).run()
    return process_time() - start


def measure() -> list[Measurement]:
    """Time the unrolled cell and the scalars, from the program to the first result."""
    found = []
    for name in ("W2", "W4"):
        plan = min(seconds(name, "numpy") for _ in range(TIMES))
        found.append(Measurement(f"{name}, plan of NumPy calls", {"seconds": plan}))
        try:
            made, again = [], []
            for _ in range(TIMES):
                with empty_cache():
                    made.append(seconds(name, "machine"))
                    again.append(seconds(name, "machine"))
        except UnavailableError as reason:
            found.append(Measurement(f"{name}, machine code", note=str(reason)))
            continue
        found.append(Measurement(f"{name}, machine code", {"seconds": min(made)}))
        found.append(Measurement(f"{name}, machine code found on disk", {"seconds": min(again)}))
    return found
