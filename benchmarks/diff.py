"""Where two runs part: what finding it takes in logs of a million events and of a large model, in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.doctor import BATCH, layers, taken
from benchmarks.engines import load
from benchmarks.log import ROWS, scratch
from benchmarks.results import ROOT, Measurement

LATE: Final = 0.9
"""After this part of the steps the second run clips to another limit."""


def as_is(torch: Any, model: Any) -> Callable[[Any], Any]:
    """The model itself."""
    del torch
    return model  # type: ignore[no-any-return]


def written_out(torch: Any, model: Any) -> Callable[[Any], Any]:
    """The same layers as products and sums."""

    def run(x: Any) -> Any:
        for layer in model:
            x = x @ layer.weight.T + layer.bias if isinstance(layer, torch.nn.Linear) else x.clamp(min=0.0)
        return x

    return run


FORMS: Final = {"one structure": as_is, "another structure": written_out}


def record(path: Path, form: Callable[[Any, Any], Callable[[Any], Any]], steps: int, *, parts: bool) -> int:
    """Record so many steps of training a perceptron; how many events they made."""
    torch, gs = load("torch"), load("graphscope")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with gs.record(path) as log:
        model = layers(torch)
        run = form(torch, model)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        x = torch.randn(16 * BATCH, 64)
        for step in range(steps):
            chosen = torch.randint(0, len(x), (BATCH,))
            optimizer.zero_grad()
            labels = torch.randint(0, 10, (BATCH,))  # noise, so that gradients stay large enough to be clipped
            loss = torch.nn.functional.cross_entropy(run(x[chosen]), labels)
            loss.backward()
            late = parts and step >= LATE * steps
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01 if late else 0.1)
            optimizer.step()
    log.refresh()
    return len(log)


GPT2: Final = ROOT.parent / "tests" / "compare" / "models" / "gpt2"
"""The model of a library, and a port of it with the same weights."""
EPS: Final = "[1e-5] * layers", "[1e-5] * 5 + [1e-12] + [1e-5] * 6"
"""What a layer of the port does otherwise."""


def models(folder: Path, rounds: int) -> list[Measurement]:
    """GPT-2 small of transformers against a port in which one norm has another eps."""
    try:
        load("transformers")
    except ImportError:
        return [Measurement("GPT-2 small", note="transformers is not installed")]
    logs = []
    for name, words in (("a", EPS[:1] * 2), ("b", EPS)):
        script, log = folder / f"{name}.py", folder / f"{name}-gpt2.gscope"
        script.write_text((GPT2 / f"{name}.py").read_text(encoding="utf-8").replace(*words), encoding="utf-8")
        command = [sys.executable, "-W", "ignore", "-m", "graphscope", "record", "--log", str(log), str(script)]
        subprocess.run(command, check=True, capture_output=True)
        logs.append(str(log))
    runs = [taken("diff", *logs, status=1) for _ in range(rounds)]
    return [Measurement("GPT-2 small", {column: min(run[column] for run in runs) for column in runs[0]})]


def measure(rows: int = ROWS, rounds: int = 3) -> list[Measurement]:
    """A run against one of the same structure and one of another; the least of some runs."""
    measurements = []
    with scratch() as folder:
        ours = folder / "a.gscope"
        steps = rows * 100 // record(folder / "short.gscope", as_is, 100, parts=False)
        record(ours, as_is, steps, parts=False)
        for name, form in FORMS.items():
            theirs = folder / f"{name.split()[0]}.gscope"
            record(theirs, form, steps, parts=True)
            runs = [taken("diff", str(ours), str(theirs), status=1) for _ in range(rounds)]
            measurements.append(Measurement(name, {column: min(run[column] for run in runs) for column in runs[0]}))
        measurements += models(folder, rounds)
    return measurements
