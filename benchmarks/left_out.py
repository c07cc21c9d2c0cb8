"""What recording one training step of a hundred costs those that it leaves out, beside the same steps alone."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Final

from benchmarks.engines import load
from benchmarks.log import scratch
from benchmarks.measure import Timings, batch
from benchmarks.models import MODELS, training
from benchmarks.recorders import Run, encoder_layer, unrolled
from benchmarks.results import Measurement
from benchmarks.workloads import WORKLOADS
from graphscope.graph.step_numbers import step_numbers

EVERY: Final = 100
RECORDED: Final = 2
"""So many steps are recorded first."""
RECORDED_STEP: Final = 3.0
"""A recorded step of the smallest program takes so many times what the step alone takes."""
WARM: Final = 2
"""So many follow a recorded one that are not timed."""
STRETCH: Final = 0.05
"""Seconds that the steps take which are timed together, where there are as many."""
FEWEST: Final = 2
"""So many they are at least."""
SESSION: Final = 1.0
"""Seconds in which as many steps fit as three times `EVERY`, or the few that are recorded first are all there is."""
PATIENCE: Final = 60.0
"""Seconds after which a program has run often enough."""


def layer() -> Run:
    """One step of training ENC."""
    model, x = encoder_layer()
    optimizer = load("torch").optim.AdamW(model.parameters(), lr=1e-5)

    def step() -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    return step


PROGRAMS: Final[dict[str, Callable[[], Run]]] = {
    "W1": lambda: unrolled(replace(WORKLOADS["W1"], rate=1e-6)).run,
    "W3": lambda: unrolled(WORKLOADS["W3"]).run,
    "ENC": layer,
    "ResNet-50": partial(training, *MODELS["ResNet-50"]),
}
"""Each with an optimizer, whose steps are counted."""


def measure() -> list[Measurement]:
    """Each program."""
    load("torch").set_num_threads(1)
    found = []
    for name, made in PROGRAMS.items():
        try:
            found.append(compared(name, made()))
        except ImportError:
            found.append(Measurement(name, note="transformers is not installed"))
    return found


def compared(name: str, run: Run, patience: float = PATIENCE) -> Measurement:
    """One program, by the processor's time: bare and left out by turns, each round of a recording of its own."""
    batch(run, WARM)
    schedule = Schedule.of(batch(run, WARM) / WARM)
    candidates: dict[str, Callable[[Run], float]] = {
        "bare": schedule.seconds,
        "interrupted": partial(schedule.seconds, between=partial(other_work, schedule)),
        "left out": partial(left_out, schedule),
    }
    timings = Timings({which: [] for which in candidates})
    gc.collect()
    gc.freeze()
    end = perf_counter() + patience
    while perf_counter() < end or len(timings.rounds["bare"]) < FEWEST:
        for which, seconds in candidates.items():
            gc.collect()
            timings.rounds[which].append(seconds(run))
    gc.unfreeze()
    least = {which: min(rounds) for which, rounds in timings.rounds.items()}
    return Measurement(
        name,
        {
            "seconds, bare": timings.median("bare"),
            "to bare": timings.ratio("left out", "bare"),
            "to bare, least of each": least["left out"] / least["bare"],
            "interrupted, to bare": timings.ratio("interrupted", "bare"),
        },
    )


@dataclass(frozen=True)
class Schedule:
    """Which steps of a recording are timed: some of those between two that are recorded."""

    step_seconds: float
    """Seconds that one takes."""
    number: int
    """So many in a stretch."""
    stretches: int
    periods: int
    """Of `EVERY` steps; the first one is not timed if there are others."""

    @classmethod
    def of(cls, seconds: float) -> Schedule:
        """That of a program whose steps take so long."""
        number = min(max(int(STRETCH / seconds), FEWEST), EVERY - RECORDED - WARM)
        if EVERY * seconds > SESSION:
            return cls(seconds, number, 1, 1)
        return cls(seconds, number, (EVERY - RECORDED - WARM) // number, 4)

    def seconds(self, run: Run, between: Callable[[], None] | None = None) -> float:
        """Run all of them; what one takes, by the median of the stretches.

        Args:
            run: One step.
            between: What is done where a step is recorded that is not the first.
        """
        found = []
        for period in range(self.periods):
            batch(run, 1 if period else RECORDED)
            if between is not None:
                between()
            batch(run, WARM)
            times = [batch(run, self.number, process_time) for _ in range(self.stretches)]
            if period or self.periods == 1:
                found += times
            if self.periods > 1:
                batch(run, EVERY - (1 if period else RECORDED) - WARM - self.number * self.stretches)
        return median(found) / self.number


def other_work(schedule: Schedule) -> None:
    """Do something else for as long as a recorded step takes: some of what the program needs leaves the caches."""
    end = perf_counter() + RECORDED_STEP * schedule.step_seconds
    for part in cycle(Path(__file__).read_text(encoding="utf-8").split("\n\n\n")):
        ast.unparse(ast.parse(part))
        if perf_counter() > end:
            break


def left_out(schedule: Schedule, run: Run) -> float:
    """What one takes that a recording leaves out."""
    recording = load("graphscope.eventlog.record")
    with scratch() as folder:
        with recording.record(folder / "run.gscope", every=EVERY) as log:
            seconds = schedule.seconds(run)
        log.refresh()
        if (count := len(step_numbers(log))) != (expected := RECORDED + schedule.periods - 1):
            raise AssertionError(f"{count} steps were recorded, not {expected}")
    return seconds
