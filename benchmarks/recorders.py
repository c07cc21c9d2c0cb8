"""What recording a PyTorch program costs beside the same program alone: forward, backward and, in W3, the update."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from benchmarks.engines import Step, convert, load, single
from benchmarks.log import nothing
from benchmarks.measure import Timings, interleave
from benchmarks.results import Measurement
from benchmarks.workloads import WORKLOADS, Workload

Run = Callable[[], object]


@dataclass(frozen=True)
class Program:
    """A step in three parts, so that somebody else can look on at the one in the middle."""

    forward: Callable[[], Any]
    """Computes the loss."""
    begin: Run = nothing
    end: Run = nothing

    def run(self) -> None:
        """One step."""
        self.begin()
        self.forward().backward()
        self.end()


SETTLING: Final = 0.5
"""Seconds that a recording runs before it is timed."""

BATCHES: Final = 7
"""So often a recording that has settled is timed."""

CAP: Final = 1 << 26
"""Bytes up to which the policy `full` keeps a value: all of them."""

POLICIES: Final = ("summary", "none", "full")


def unrolled(workload: Workload) -> Program:
    """One of the workloads that all engines run."""
    torch = load("torch")
    values = convert(workload.data(), lambda x: torch.tensor(single(x)))
    parameters = [values[name].requires_grad_() for name in workload.parameters]
    forward = partial(workload.tensors, torch, values)
    if workload.rate is not None:
        optimizer = torch.optim.SGD(parameters, lr=workload.rate)
        return Program(forward, optimizer.zero_grad, optimizer.step)

    def begin() -> None:
        for parameter in parameters:
            parameter.grad = None

    return Program(forward, begin)


def encoder_layer() -> tuple[Any, Any]:
    """One transformer encoder layer, d = 64, 4 heads, and its input: sequence 32, batch 8."""
    torch = load("torch")
    torch.manual_seed(0)
    return torch.nn.TransformerEncoderLayer(64, 4, dim_feedforward=256, batch_first=True), torch.randn(8, 32, 64)


def encoder() -> Program:
    """That layer, without an optimizer."""
    model, x = encoder_layer()
    return Program(lambda: model(x).sum(), model.zero_grad)


def residual() -> Program:
    """19 convolutions with batch normalisation and residual connections on images of 32x32, batch 2.

    With a larger batch the same number of calls does more work each, and every recorder seems to cost less.
    """
    torch = load("torch")
    torch.manual_seed(0)
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(16, 16, 3, padding=1, bias=False)
            self.norm = nn.BatchNorm2d(16)
            self.second = nn.Conv2d(16, 16, 3, padding=1, bias=False)
            self.last = nn.BatchNorm2d(16)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.norm(self.first(x)))
            return torch.relu(self.last(self.second(y)) + x)

    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *(Block() for _ in range(9)),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
    )  # fmt: skip
    x, labels = torch.randn(2, 3, 32, 32), torch.randint(0, 10, (2,))
    return Program(lambda: nn.functional.cross_entropy(model(x), labels), model.zero_grad)


PROGRAMS: Final[dict[str, Callable[[], Program]]] = {
    **{name: partial(unrolled, WORKLOADS[name]) for name in ("W1", "W2", "W3")},
    "ENC": encoder,
    "RES": residual,
}


@contextmanager
def recorded(run: Run, policy: str, cap: int | None = CAP, settling: float = SETTLING) -> Iterator[None]:
    """A recording that has settled: call sites known, segments of their full size, the budget in use.

    Args:
        run: One step.
        policy: What is kept of values.
        cap: Bytes up to which `full` keeps a value; None: as many as where nobody says so.
        settling: Seconds that it runs before.
    """
    record = load("graphscope.eventlog.record")
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    options = {"cap": cap} if policy == "full" and cap is not None else {}
    writer = record.start(folder / "run.gscope", policy=policy, **options)
    try:
        end = perf_counter() + settling
        while perf_counter() < end:
            run()
        yield
    finally:
        record.stop(writer)
        shutil.rmtree(folder)


@contextmanager
def afterwards(run: Run) -> Iterator[None]:
    """A recording has begun and ended in this process: nothing is recorded any more.

    Args:
        run: One step.
    """
    with recorded(run, "none"):
        run()
    run()
    yield


def measure(rounds: int = 9) -> list[Measurement]:
    """Each program alone and under each policy."""
    load("torch").set_num_threads(1)
    return [compare(name, rounds) for name in PROGRAMS]


def compare(name: str, rounds: int) -> Measurement:
    """One program."""
    return compared(name, PROGRAMS[name]().run, rounds=rounds, batches=BATCHES)


def compared(name: str, run: Run, cap: int | None = CAP, settling: float = SETTLING, **timing: Any) -> Measurement:
    """A step alone and under each policy; `timing` is as of `interleave`."""
    steps = {"bare": Step(run, nothing)}
    steps |= {policy: Step(run, nothing, partial(recorded, run, policy, cap, settling)) for policy in POLICIES}
    timings: Timings = interleave(steps, **timing)
    ratios = {policy: timings.ratio(policy, "bare") for policy in POLICIES}
    return Measurement(name, {"seconds, bare": timings.median("bare"), **ratios})
