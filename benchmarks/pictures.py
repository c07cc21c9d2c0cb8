"""Pictures: how long the unrolled cell takes to become DOT and SVG, whole and folded."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from benchmarks.engines import convert, load
from benchmarks.log import scratch
from benchmarks.results import Measurement
from benchmarks.workloads import normal, unrolled_data, unrolled_tensors

LENGTHS: Final = (100, 400)
SHAPES: Final[dict[str, dict[str, Any]]] = {"whole": {}, "folded": {"fold": "repeats"}}
REPEATS: Final = 3


def record(steps: int, path: Path) -> Any:
    """A log of one forward and backward pass of the cell, unrolled over so many steps."""
    gs = load("graphscope")
    values = convert({**unrolled_data(), "x": list(normal(steps, 1, 10, seed=3))}, gs.tensor)
    for name in ("W_h", "W_x"):
        values[name].requires_grad_()
    with gs.record(path):
        unrolled_tensors(gs, values).backward()
    return gs.load(path)


def measure() -> list[Measurement]:
    """Median seconds of each picture, from an opened log to a written file."""
    measurements = []
    with scratch() as folder:
        for steps in LENGTHS:
            log = record(steps, folder / f"{steps}.gscope")
            for shape, options in SHAPES.items():
                for suffix in ("dot", "svg"):
                    path = folder / f"picture.{suffix}"
                    seconds = [timed(partial(load("graphscope").export, log, path, **options)) for _ in range(REPEATS)]
                    measurements.append(
                        Measurement(
                            f"T = {steps}, {shape}, {suffix.upper()}",
                            {"seconds": median(seconds), "bytes": path.stat().st_size},
                        )
                    )
    return measurements


def timed(run: Any) -> float:
    """Seconds of one call."""
    start = perf_counter()
    run()
    return perf_counter() - start
