"""The doctor: what judging a log of a million events of an ordinary training takes, in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.engines import load
from benchmarks.log import ROWS, scratch
from benchmarks.results import ROOT, Measurement

BATCH: Final = 16
STEPS: Final = 100_000
"""More than it takes for any of the programs to make so many events."""


def layers(torch: Any) -> Any:
    """A perceptron of four layers."""
    nn = torch.nn
    hidden = [each for _ in range(2) for each in (nn.Linear(128, 128), nn.ReLU())]
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), *hidden, nn.Linear(128, 10))


def transformer(torch: Any) -> Any:
    """Two layers of a transformer encoder with a head."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return nn.Sequential(nn.Unflatten(1, (1, 64)), nn.TransformerEncoder(layer, 2), nn.Flatten(), nn.Linear(64, 10))


PROGRAMS: Final[dict[str, Callable[[Any], Any]]] = {"perceptron": layers, "transformer": transformer}


def record(path: Path, made: Callable[[Any], Any], rows: int) -> None:
    """Record so many events of training a model: a scheduler changes the learning rate in each step."""
    torch, gs = load("torch"), load("graphscope")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with gs.record(path, values="summary"):
        writer = load("graphscope.eventlog.record").writer
        model = made(torch)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
        x, labels = torch.randn(16 * BATCH, 64), torch.randint(0, 10, (16 * BATCH,))
        while writer.end - writer.base < rows:
            chosen = torch.randint(0, len(x), (BATCH,))
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x[chosen]), labels[chosen])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()


def taken(*arguments: str, status: int = 0) -> dict[str, float]:
    """What `graphscope ARGUMENTS` takes in a process of its own: the processor's time, and the most memory it held."""
    command = [sys.executable, "-m", "benchmarks.judging", *arguments]
    output = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT.parent).stdout
    said: dict[str, float] = json.loads(output)
    if (found := said.pop("status")) != status:
        raise AssertionError(f"`graphscope {arguments[0]}` ends with {found}, not with {status}")
    return said


def measure(rows: int = ROWS, rounds: int = 3) -> list[Measurement]:
    """Each program; the least of some runs."""
    measurements = []
    for name, made in PROGRAMS.items():
        with scratch() as folder:
            path = folder / "run.gscope"
            record(path, made, rows)
            runs = [taken("doctor", str(path)) for _ in range(rounds)]
        measurements.append(Measurement(name, {column: min(run[column] for run in runs) for column in runs[0]}))
    return measurements
