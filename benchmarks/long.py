"""Long logs: what each command takes on ten million rows of a training, in a fresh process."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from benchmarks import query
from benchmarks.doctor import taken
from benchmarks.engines import UnavailableError
from benchmarks.log import scratch
from benchmarks.reading import private_bytes
from benchmarks.results import Measurement
from benchmarks.screen import terminal

ROWS: Final = 10_000_000
ROUNDS: Final = 3
STEP: Final = "100000"
"""One in the middle of the log."""


def measure() -> list[Measurement]:
    """Each command, the least of some runs, and the first picture of the screen."""
    with scratch() as folder:
        log = folder / "run.gscope"
        query.record(log, ROWS, seed=0)
        return [*(judged(name, arguments) for name, arguments in commands(log, folder).items()), opened(log)]


def commands(log: Path, folder: Path) -> dict[str, tuple[str, ...]]:
    """What is asked, by the name that the table gives it."""
    found = {"summary": ("summary", str(log)), "doctor": ("doctor", str(log))}
    for ending in ("svg", "json", "html"):
        name = f"export of a step, {ending}"
        found[name] = ("export", str(log), "--step", STEP, "-o", str(folder / f"step.{ending}"))
    return found


STATUS: Final = {"summary": 1, "doctor": 1}
"""The commands that find the NaN."""


def judged(name: str, arguments: tuple[str, ...], rounds: int = ROUNDS) -> Measurement:
    """What a command takes: the processor's time, that on the clock, and the most memory."""
    runs = [clocked(*arguments, status=STATUS.get(name, 0)) for _ in range(rounds)]
    return Measurement(name, {column: min(run[column] for run in runs) for column in runs[0]})


def clocked(*arguments: str, status: int = 0) -> dict[str, float]:
    """What `graphscope ARGUMENTS` takes, with the time on the clock."""
    began = time.perf_counter()
    said = taken(*arguments, status=status)
    return {"seconds": said.pop("seconds"), "seconds, on the clock": time.perf_counter() - began, **said}


def opened(log: Path, rounds: int = ROUNDS) -> Measurement:
    """What the first picture takes; where no terminal can be had, why."""
    runs = []
    for _ in range(rounds):
        try:
            with terminal("open", str(log)) as screen:
                took = screen.until("#") - screen.started
                runs.append({"seconds, on the clock": took, **private_bytes(screen.process.pid)})
        except (OSError, UnavailableError) as error:
            return Measurement("first picture", note=str(error))
    return Measurement("first picture", {column: min(run[column] for run in runs) for column in runs[0]})
