"""What recording costs on a CUDA device: steps of whole models, and of small ones that wait for the processor."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks import results
from benchmarks.engines import Step, load
from benchmarks.log import nothing
from benchmarks.measure import interleave
from benchmarks.recorders import POLICIES, recorded
from benchmarks.results import Measurement

GROUP: Final = "models on CUDA"
ROUNDS: Final = 3
PATIENCE: Final = 4.0
STEPS: Final = 3
"""So many steps are queued before the device is waited for."""
TOKENS: Final = (8, 512)
IMAGES: Final = (64, 3, 224, 224)
LAYERS, WIDTH, EXAMPLES = 10, 256, 64
CELLS, BATCH, FEATURES, HIDDEN = 100, 32, 64, 64

Training = Callable[[], None]
"""A step of one."""


def _stepping(parameters: Any, loss: Callable[[], Any]) -> Training:
    optimizer = load("torch").optim.AdamW(parameters, lr=1e-5)

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def perceptron(place: str) -> Training:
    """Ten layers of 256."""
    torch = load("torch")
    layers = [each for _ in range(LAYERS) for each in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())]
    net, x = torch.nn.Sequential(*layers).to(place), torch.randn(EXAMPLES, WIDTH, device=place)
    return _stepping(net.parameters(), lambda: net(x).square().mean())


def step_by_step(place: str) -> Training:
    """An LSTM of 100 cells in plain ops."""
    torch = load("torch")
    cell = torch.nn.Linear(FEATURES + HIDDEN, 4 * HIDDEN).to(place)
    inputs = torch.randn(CELLS, BATCH, FEATURES, device=place)

    def loss() -> Any:
        h = c = torch.zeros(BATCH, HIDDEN, device=place)
        for x in inputs:
            i, f, g, o = cell(torch.cat((x, h), 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h.square().mean()

    return _stepping(cell.parameters(), loss)


def whole(configuration: str, name: str, kind: str, place: str) -> Training:
    """A model of transformers with random weights, in bfloat16."""
    torch, transformers = load("torch"), load("transformers")
    model = getattr(transformers, name)(getattr(transformers, configuration)()).to(place).train()
    given: dict[str, Any] = {"pixel_values": torch.randn(IMAGES, device=place)}
    given["labels"] = torch.randint(0, 2, IMAGES[:1], device=place)
    if kind == "text":
        tokens = torch.randint(0, 1000, TOKENS, device=place)
        given = {"input_ids": tokens, "labels": tokens}

    def loss() -> Any:
        with torch.autocast(place, torch.bfloat16):
            return model(**given).loss

    return _stepping(model.parameters(), loss)


PROGRAMS: Final[dict[str, Callable[[str], Training]]] = {
    "perceptron": perceptron,
    "LSTM, step by step": step_by_step,
    "GPT-2 small": partial(whole, "GPT2Config", "GPT2LMHeadModel", "text"),
    "ResNet-50": partial(whole, "ResNetConfig", "ResNetForImageClassification", "image"),
}


def compare(name: str, place: str = "cuda") -> Measurement:
    """One program, alone and under each policy, by the clock."""
    torch = load("torch")
    step = PROGRAMS[name](place)

    def run() -> None:
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()

    steps = {"bare": Step(run, nothing), "left out": Step(run, nothing, partial(leaving_out, run))}
    steps |= {policy: Step(run, nothing, partial(recorded, run, policy, None)) for policy in POLICIES}
    timings = interleave(steps, rounds=ROUNDS, patience=PATIENCE)
    ratios = {each: timings.ratio(each, "bare") for each in (*POLICIES, "left out")}
    return Measurement(name, {"seconds, bare": timings.median("bare") / STEPS, **ratios})


@contextmanager
def leaving_out(run: Callable[[], None]) -> Iterator[None]:
    """A flight recorder that has recorded a step, and leaves out those that follow."""
    record = load("graphscope.eventlog.record")
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    writer = record.start(folder / "run.gscope", policy="summary", every=1_000_000)
    try:
        run()
        yield
    finally:
        record.stop(writer)
        shutil.rmtree(folder)


def measure() -> list[Measurement]:
    """Each program; where there is no device, what was measured on one."""
    if not load("torch").cuda.is_available():
        return results.read().get(GROUP, [])
    return [compare(name) for name in PROGRAMS]
