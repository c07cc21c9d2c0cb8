"""Losses that a GradScaler multiplies are told as they were, with the norms of their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.debugger.step_table import steps_between
from graphscope.graph import Graph
from graphscope.graph.series import losses
from graphscope.graph.series.every_step import every_step, norms_of_steps
from graphscope.graph.step_numbers import step_numbers

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch


def training(steps: int, *, weight: float | None = None, scalers: int = 1) -> Iterator[tuple[float, float]]:
    """The loss of each step, and the norm of its gradients when they are unscaled.

    Args:
        steps: How many; the scale changes every third.
        weight: What the program multiplies each loss by itself, ahead of the scaler.
        scalers: They take turns; with none the loss is not scaled.
    """
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    several = [torch.amp.GradScaler("cpu", init_scale=2.0**8, growth_interval=3) for _ in range(scalers)]
    for step in range(steps):
        x, wanted = torch.randn(5, 6), torch.randint(0, 3, (5,))
        with torch.autocast("cpu", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(x), wanted)
        if weight is not None:
            loss = loss * torch.tensor(weight)
        optimizer.zero_grad()
        scaler = several[step % scalers] if several else None
        (loss if scaler is None else scaler.scale(loss)).backward()
        if scaler is not None:
            scaler.unscale_(optimizer)
        norm = torch.nn.utils.get_total_norm([each.grad for each in model.parameters()]).item()
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        yield loss.item(), norm


CASES: list[dict[str, Any]] = [
    {}, {"weight": 0.25}, {"weight": 0.25, "scalers": 0}, {"scalers": 0}, {"scalers": 2}, {"scalers": 2, "weight": 3.0}
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("values", ["full", "summary", "none"])
def test_losses_and_norms_are_those_of_the_program(tmp_path: Path, values: str, case: dict[str, Any]) -> None:
    with gs.record(tmp_path / "run.gscope", values=values) as log:
        computed = np.array([*training(12, **case)])
    log.refresh()
    assert losses(log)["value"].tolist() == computed[:, 0].tolist()
    steps = steps_between(Graph(log), 0, len(step_numbers(log)))
    assert [step.loss for step in steps] == computed[:, 0].tolist()
    if values == "full":
        assert np.allclose([step.norm for step in steps], computed[:, 1], rtol=1e-5)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("options", [{"every": 6}, {"keep_last": 2}, {"every": 5, "keep_last": 2, "values": "none"}])
def test_so_they_are_in_the_series_of_every_step(tmp_path: Path, options: dict[str, Any], case: dict[str, Any]) -> None:
    with gs.record(tmp_path / "run.gscope", **options) as log:
        computed = np.array([*training(20, **case)])
    log.refresh()
    told, norms = every_step(log), norms_of_steps(log)
    assert {1, 2} <= {*told["step"].tolist()}
    assert told["has_loss"].all()
    assert np.allclose(told["loss"], computed[told["step"] - 1, 0], rtol=1e-6)
    assert len(norms)
    assert np.allclose(norms["norm"], computed[norms["step"] - 1, 1], rtol=1e-5)
    places = range(len(step_numbers(log)))
    numbers = [step_numbers(log).number(place).counters["step"] for place in places]
    assert [step.loss for step in steps_between(Graph(log), 0, len(places))] == [computed[each, 0] for each in numbers]
