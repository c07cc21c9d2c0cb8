"""Deep and wide graphs: chains of ops by length, a time per op, and one training step of ten thousand leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.doctor import taken
from benchmarks.engines import UnavailableError, load
from benchmarks.log import scratch
from benchmarks.long import opened
from benchmarks.results import Measurement

LENGTHS: Final = (10_000, 100_000)
LEAVES: Final = 10_000
ENGINES: Final = ("graphscope", "torch")
ROUNDS: Final = 3
FACTOR: Final = 1.00001
COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "summary": ("summary",),
    "doctor": ("doctor",),
    "export of a part": ("export", "--select", "#40", "--radius", "20", "-o", "FOLDER/part.svg"),
}
"""What is asked of each log; a new file is written over an old one."""

Program = Callable[[Any, int], None]


def chain(engine: Any, length: int) -> None:
    """So many ops, one after the other, and back."""
    x = engine.ones(2, requires_grad=True)
    y = x
    for _ in range(length):
        y = y * FACTOR
    y.sum().backward()
    if abs(float(x.grad[0]) / FACTOR**length - 1) > 1e-2:
        raise AssertionError(f"the derivative of a chain of {length} products is {x.grad[0]}")


def leaves(engine: Any, count: int) -> None:
    """A training step of so many parameters."""
    parameters = [engine.nn.Parameter(engine.ones(2)) for _ in range(count)]
    optimizer = engine.optim.SGD(parameters, lr=0.1)
    engine.stack(parameters).square().sum().backward()
    optimizer.step()


def measure() -> list[Measurement]:
    """Chains of each length and the step of many leaves, each on both engines; what each command takes of them."""
    programs: dict[str, tuple[Program, int]] = {f"chain of {length:,}": (chain, length) for length in LENGTHS}
    programs[f"{LEAVES:,} leaves"] = leaves, LEAVES
    found = []
    for engine in ENGINES:
        for title, (program, size) in programs.items():
            name = f"{title}, {engine}"
            try:
                with scratch() as folder:
                    found += asked(name, program, size, engine, folder)
            except UnavailableError as error:
                found.append(Measurement(name, note=str(error)))
    return found


def asked(name: str, program: Program, size: int, engine: str, folder: Path) -> list[Measurement]:
    """Recording a program, what each command takes of its log, and the first picture."""
    path = folder / "run.gscope"
    rows = {"record": recorded(program, size, engine, path)}
    for what, words in COMMANDS.items():
        command, *others = (word.replace("FOLDER", str(folder)) for word in words)
        rows[what] = min((taken(command, str(path), *others) for _ in range(ROUNDS)), key=lambda run: run["seconds"])
    measurements = [
        Measurement(f"{name}: {what}", {**numbers, "us a node": numbers["seconds"] / size * 1e6})
        for what, numbers in rows.items()
    ]
    picture = opened(path)
    return [*measurements, Measurement(f"{name}: {picture.name}", picture.numbers, picture.note)]


def recorded(program: Program, size: int, engine: str, path: Path) -> dict[str, float]:
    """What a program takes under a recording: the processor's time."""
    module, gs = load(engine), load("graphscope")
    with gs.record():
        program(module, 10)  # what is made once
    with gs.record(path):
        began = time.process_time()
        program(module, size)
        return {"seconds": time.process_time() - began}
