"""The five workloads: each candidate's time, and its ratio to `hand` and to torch eager."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.engines import CANDIDATES, Step, UnavailableError
from benchmarks.measure import Timings, interleave
from benchmarks.results import Measurement
from benchmarks.workloads import Workload

REFERENCES = {"to hand": "hand", "to torch": "torch eager"}


def measure(workload: Workload, candidates: Mapping[str, Callable[[Workload], Step]] = CANDIDATES) -> list[Measurement]:
    """Time every candidate that can run the workload, interleaved."""
    steps: dict[str, Step] = {}
    missing: dict[str, str] = {}
    for name, build in candidates.items():
        try:
            steps[name] = build(workload)
        except UnavailableError as reason:
            missing[name] = str(reason)
    try:
        timings = interleave(steps)
    finally:
        for step in steps.values():
            step.close()
    return [
        Measurement(name, note=missing[name]) if name in missing else Measurement(name, numbers(timings, name))
        for name in candidates
    ]


def numbers(timings: Timings, name: str) -> dict[str, float]:
    """A candidate's seconds, and its ratios to the references that were measured."""
    ratios = {
        column: timings.ratio(name, reference)
        for column, reference in REFERENCES.items()
        if reference in timings.rounds
    }
    return {"seconds": timings.median(name), **ratios}
