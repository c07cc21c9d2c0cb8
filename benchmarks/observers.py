"""Recording a PyTorch program beside torchlens, which also keeps values and gradients, forward and backward."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

from benchmarks.engines import Step, UnavailableError, load
from benchmarks.log import nothing
from benchmarks.measure import interleave
from benchmarks.recorders import PROGRAMS, Program, Run, recorded
from benchmarks.results import Measurement


def traced(program: Program) -> Run:
    """The step with its forward pass traced by torchlens, and its backward pass logged."""
    torchlens, torch = load("torchlens"), load("torch")
    options = load("torchlens.options").CaptureOptions(save_grads=True, backward_ready=True)
    losses: list[Any] = []

    class Whole(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, _: Any) -> Any:
            losses.append(program.forward())
            return losses[-1]

    module, given = Whole(), torch.zeros(())

    def run() -> None:
        program.begin()
        log = torchlens.trace(module, given, capture=options)
        log.log_backward(losses.pop())
        program.end()

    return run


def measure(rounds: int = 5) -> list[Measurement]:
    """Each program alone, as we record it unasked, under our policy `full`, and under torchlens."""
    try:
        load("torch").set_num_threads(1)
        load("torchlens")
        warnings.filterwarnings("ignore", module="torchlens")  # of tensors that the function it traces did not take
    except UnavailableError as error:
        return [Measurement(name, note=str(error)) for name in PROGRAMS]
    return [compare(name, rounds) for name in PROGRAMS]


def compare(name: str, rounds: int) -> Measurement:
    """One program."""
    program = PROGRAMS[name]()
    steps = {
        "bare": Step(program.run, nothing),
        **{
            policy: Step(program.run, nothing, partial(recorded, program.run, policy)) for policy in ("summary", "full")
        },
        "torchlens": Step(traced(program), nothing),
    }
    timings = interleave(steps, rounds=rounds)
    return Measurement(
        name,
        {
            "seconds, bare": timings.median("bare"),
            **{name: timings.ratio(name, "bare") for name in steps if name != "bare"},
            **{f"{policy} to torchlens": timings.ratio(policy, "torchlens") for policy in ("summary", "full")},
        },
    )
