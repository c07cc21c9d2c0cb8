"""A flight recorder over 100,000 steps: what a step takes, memory and disk along the run, and a NaN late in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

from benchmarks.engines import load
from benchmarks.log import scratch
from benchmarks.plot import Line, lines
from benchmarks.reading import private_bytes
from benchmarks.results import PAGE, ROOT, Measurement

STEPS: Final = 100_000
POINTS: Final = 20
"""So often along the run it is looked at what it takes."""
NAN: Final = 73_456
"""The step in which one is born."""
BEFORE: Final = 10
"""So many steps ahead of that are to be there."""
WAYS: Final[dict[str, dict[str, int]]] = {
    "every step, the newest 10 kept": {"keep_last": 10},
    "one step of 100, the newest 3 kept": {"every": 100, "keep_last": 3},
}
PICTURE: Final = PAGE.parent / "images" / "long-run.svg"
PLANTED: Final = "torch.sqrt(x[:, :1] + 40)"
"""What the NaN is born in."""


def train(path: Path, options: dict[str, int], steps: int, bad: int) -> list[dict[str, float]]:
    """Train a tiny model, recorded; what a step took, and what was held then, at some points along the run."""
    torch, gs = load("torch"), load("graphscope")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    found = []
    with gs.record(path, **options):
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        began = process_time()
        for step in range(1, steps + 1):
            x = torch.randn(8, 4)
            if step == bad:
                x[0, 0] = -50.0
            loss = (model(x) * torch.sqrt(x[:, :1] + 40)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % (steps // POINTS) == 0:
                seconds = (process_time() - began) / (steps // POINTS)
                held = private_bytes().get("bytes", 0)
                found.append({"step": step, "seconds": seconds, "bytes, memory": held, "bytes, disk": on_disk(path)})
                began = process_time()
    return found


def on_disk(folder: Path) -> int:
    """What the files of a folder take; some may go while they are looked at."""
    found = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                found += Path(parent, name).stat().st_blocks * 512
            except FileNotFoundError:
                continue
    return found


def check(path: Path, bad: int) -> None:
    """See that the birth of the NaN is named with its line, and that the steps before it are there.

    Raises:
        AssertionError: It is not so.
    """
    log = load("graphscope").load(path)
    graph = load("graphscope.graph").Graph(log)
    report = load("graphscope.diagnose").examined(graph)
    if not report.findings:
        raise AssertionError(f"nothing was found; not judged: {report.unjudged}")
    finding = report.findings[0]
    node = graph.node(finding.row)
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[node.site.line - 1]
    if (finding.kind, node.op) != ("nan", "sqrt") or PLANTED not in line:
        raise AssertionError(f"the birth of the NaN was not found, but {finding.verdict!r}")
    numbers = load("graphscope.graph.step_numbers").step_numbers(log)
    kept = {numbers.number(place).counters["step"] for place in range(len(numbers))}
    if missing := {*range(bad - BEFORE, bad + 1)} - kept:
        raise AssertionError(f"of the steps before the NaN {sorted(missing)} are not there")


def measure(steps: int = STEPS, bad: int = NAN) -> list[Measurement]:
    """Each way in a process of its own; the picture is drawn anew."""
    runs = {}
    for name, options in WAYS.items():
        with scratch() as folder:
            words = [sys.executable, "-m", "benchmarks.long_run", str(folder / "run.gscope"), json.dumps(options)]
            done = subprocess.run(
                [*words, str(steps), str(bad)], capture_output=True, check=True, text=True, cwd=ROOT.parent
            )
            runs[name] = json.loads(done.stdout)
            if options.get("every", 1) == 1:
                check(folder / "run.gscope", bad)
    PICTURE.write_text(picture(runs, bad), encoding="utf-8")
    return [measurement for name, points in runs.items() for measurement in told(name, points)]


def told(name: str, points: list[dict[str, float]]) -> list[Measurement]:
    """The first quarter and the last quarter of a run, and the one as a multiple of the other."""
    quarter = len(points) // 4
    parts = {"first": points[:quarter], "last": points[-quarter:]}
    found = {
        part: {column: median(point[column] for point in some) for column in _GROWING} for part, some in parts.items()
    }
    growth = {f"{word} to first": found["last"][column] / found["first"][column] for column, word in _GROWING.items()}
    return [
        Measurement(f"{name}: the first quarter", found["first"]),
        Measurement(f"{name}: the last quarter", {**found["last"], **growth}),
    ]


_GROWING: Final = {"seconds": "step", "bytes, memory": "memory", "bytes, disk": "disk"}
"""What is not to grow, and a word for it."""


def picture(runs: dict[str, list[dict[str, float]]], bad: int) -> str:
    """Time a step, memory and disk over the run, one below the other."""
    panels: dict[str, tuple[str, float]] = {
        "microseconds a step": ("seconds", 1e6),
        "private memory, MB": ("bytes, memory", 1e-6),
        "disk, MB": ("bytes, disk", 1e-6),
    }
    return lines(
        {
            title: [
                Line(name, [(point["step"], point[column] * scale) for point in points])
                for name, points in runs.items()
            ]
            for title, (column, scale) in panels.items()
        },
        mark=(bad, f"NaN in step {bad:,}"),
    )


def main(path: str, options: str, steps: str, bad: str) -> None:
    """Train in this process, and print what it took along the run."""
    print(json.dumps(train(Path(path), json.loads(options), int(steps), int(bad))))


if __name__ == "__main__":
    main(*sys.argv[1:])
