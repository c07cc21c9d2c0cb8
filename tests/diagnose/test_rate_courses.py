"""A rate that vanishes, in recordings that leave out most steps: judged by all of them, as the program saw them."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.diagnose import Finding

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

HEALTHY = Path(__file__).with_name("programs") / "healthy" / "rate_divided_twice.py"
EPOCHS, BATCHES = 10, 20


def exponential(optimizer: Any) -> Any:
    return torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


def milestones(optimizer: Any) -> Any:
    return torch.optim.lr_scheduler.MultiStepLR(optimizer, [10, 20, 30])


def vanished(log: Any) -> list[Finding]:
    log.refresh()
    return [each for each in gs.doctor(log).findings if each.kind == "lr_vanished"]


def trained(make: Callable[[Any], Any], *, in_each_batch: bool) -> list[float]:
    """Train; gives the rate of each step."""
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scheduler = make(optimizer)
    rates = []
    for _epoch in range(EPOCHS):
        for batch in range(BATCHES):
            optimizer.zero_grad()
            (weight * 2 - 1).square().sum().backward()
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            if in_each_batch or batch == BATCHES - 1:
                scheduler.step()
    return rates


@pytest.mark.parametrize("every", [1, 5, 7, 10])
def test_a_rate_that_is_divided_between_epochs_has_not_vanished(tmp_path: Path, every: int) -> None:
    """Recording goes on where epochs end, so that the scheduler is seen to be stepped at each recorded step."""
    with gs.record(tmp_path / "run.gscope", every=every) as log:
        runpy.run_path(str(HEALTHY))
    assert vanished(log) == []


@pytest.mark.parametrize("every", [1, 7, 10])
@pytest.mark.parametrize("make", [exponential, milestones])
def test_a_rate_that_a_scheduler_of_epochs_divides_in_each_batch_has(
    tmp_path: Path, every: int, make: Callable[[Any], Any]
) -> None:
    with gs.record(tmp_path / "run.gscope", every=every) as log:
        rates = np.array(trained(make, in_each_batch=True))
    (found,) = vanished(log)
    assert found.cause == "scheduler stepped too often"
    last = len(rates) if every == 1 else (len(rates) - 1) // every * every + 1  # the newest that is in the log
    limit = (1e-5 if make is exponential else 1.001e-3) * rates[0]
    assert found.evidence["steps"] == last
    assert found.evidence["steps so small"] == np.count_nonzero(rates[:last] <= limit)
    assert (found.evidence["largest lr"], found.evidence["last lr"]) == (rates[0], rates[last - 1])
    epoch, batch = divmod(int(np.argmax(rates <= limit)), BATCHES)
    assert f"from epoch {epoch}, batch {batch} on" in " ".join(found.verdict.split())


@pytest.mark.parametrize("every", [1, 10])
def test_the_same_scheduler_stepped_between_epochs_has_not(tmp_path: Path, every: int) -> None:
    with gs.record(tmp_path / "run.gscope", every=every) as log:
        trained(exponential, in_each_batch=False)
    assert vanished(log) == []


def test_several_rates_that_are_divided_between_recorded_steps_have_not(tmp_path: Path) -> None:
    """The series tell one rate of each step, so that only the recorded steps tell all of them."""
    weights = [torch.nn.Parameter(torch.ones(3)) for _ in range(2)]
    with gs.record(tmp_path / "run.gscope", every=BATCHES) as log:
        groups = [{"params": [weight], "lr": rate} for weight, rate in zip(weights, (0.1, 0.2), strict=True)]
        optimizer = torch.optim.SGD(groups)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
        for _epoch in range(20):
            for _batch in range(BATCHES):
                optimizer.zero_grad()
                sum((weight * 2 - 1).square().sum() for weight in weights).backward()
                optimizer.step()
            scheduler.step()
    assert vanished(log) == []
