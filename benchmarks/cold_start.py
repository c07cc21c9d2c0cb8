"""What the first steps of a recording cost, and what `graphscope record` adds to a short program."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Final

from benchmarks.engines import Step, graphscope, load, torch_eager
from benchmarks.log import scratch
from benchmarks.results import ROOT, Measurement
from benchmarks.workloads import WORKLOADS, Workload

FIRST: Final = 5
"""So many steps are timed."""
ROUNDS: Final = 9
WORKLOAD: Final = "W3"
TRIVIAL: Final = """\
import torch

x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
print(x.grad)
"""
CANDIDATES: Final[dict[str, Callable[[Workload], Step]]] = {"torch": torch_eager, "graphscope": graphscope}


def measure(rounds: int = ROUNDS) -> list[Measurement]:
    """The first steps, and the short program; one run that is not timed leaves Python's own caches of the modules."""
    return [*_first_steps(rounds), *_short_programs(rounds)]


def _first_steps(rounds: int) -> list[Measurement]:
    words = {
        "torch": ["torch"],
        "graphscope": ["graphscope"],
        "graphscope, recording": ["graphscope", "full"],
        "graphscope, recording statistics": ["graphscope", "summary"],
    }
    found: dict[str, list[float]] = {name: [] for name in words}
    for _ in range(rounds + 1):
        for name, given in words.items():
            said = _run(["-m", "benchmarks.cold_start", *given]).stdout
            found[name].append(json.loads(said)["seconds"])
    return [
        Measurement(
            f"{WORKLOAD}, {FIRST} steps, {name}",
            {"seconds": median(taken[1:]), "to torch": _ratio(taken[1:], found["torch"][1:])},
        )
        for name, taken in found.items()
    ]


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return median(one / other for one, other in zip(ours, theirs, strict=True))


def _short_programs(rounds: int) -> list[Measurement]:
    ways = {"python": [], "graphscope record": ["-m", "graphscope", "record", "--log"]}
    found: dict[str, list[float]] = {name: [] for name in ways}
    with scratch() as folder:
        script = folder / "short.py"
        script.write_text(TRIVIAL, encoding="utf-8")
        for turn in range(rounds + 1):
            for name, words in ways.items():
                before = _of_children()
                _run([*words, *([str(folder / f"{turn}.gscope")] if words else []), str(script)])
                found[name].append(_of_children() - before)
    least = {name: min(taken[1:]) for name, taken in found.items()}
    added = least["graphscope record"] - least["python"]
    return [
        *(Measurement(f"a short PyTorch program, {name}", {"seconds": taken}) for name, taken in least.items()),
        Measurement("a short PyTorch program, what recording adds", {"seconds": added}),
    ]


def _of_children() -> float:
    """The processor's time of the processes that have ended which this one started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT.parent), "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *words], capture_output=True, check=True, text=True, env=environment)


def main(name: str, values: str = "") -> None:
    """Make the first steps of this process, and print the processor's time of them; with `values` they are recorded."""
    load(f"{name}.nn.functional")
    step = CANDIDATES[name](WORKLOADS[WORKLOAD])
    if not values:
        print(json.dumps({"seconds": _taken(step)}))
        return
    with scratch() as folder, load("graphscope").record(folder / "run.gscope", values=values):
        seconds = _taken(step)
    print(json.dumps({"seconds": seconds}))


def _taken(step: Step) -> float:
    began = process_time()
    for _ in range(FIRST):
        step.run()
    return process_time() - began


if __name__ == "__main__":
    main(*sys.argv[1:])
