"""The series of a training, beside what PyTorch itself says of each step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.schema import Kind
from graphscope.graph import series

Told = list[list[tuple[float, float, float, float]]]
"""By step and parameter: norm of the gradient, of the weight before, of the update, and the share that moved."""

STEPS = 6


def train(torch: Any, log: Path, values: str, optimizer: Callable[[Any], Any], dtype: str = "float32") -> Told:
    """Record some steps of two layers, the first of which is too large to be kept whole under `summary`."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3))
    net = net.to(getattr(torch, dtype))
    parameters = list(net.parameters())
    stepper = optimizer(parameters)
    x, y = torch.randn(8, 64, dtype=parameters[0].dtype), torch.randint(0, 3, (8,))
    told: Told = []
    losses: list[float] = []
    with gs.record(log, values=values):
        for _ in range(STEPS):
            stepper.zero_grad()
            for half in range(2):  # gradients are sums of two
                loss = torch.nn.functional.cross_entropy(net(x[half::2]).float(), y[half::2])
                loss.backward()
                losses.append(loss.item())
            before = [each.detach().clone() for each in parameters]
            stepper.step()
            told.append([measured(each, was) for each, was in zip(parameters, before, strict=True)])
    found = gs.load(log)
    assert series.losses(found)["value"] == pytest.approx(losses)
    return told


def measured(parameter: Any, before: Any) -> tuple[float, float, float, float]:
    gradient, after = parameter.grad.double(), parameter.detach()
    pulled = gradient != 0
    moved = (after != before)[pulled].double().mean()
    return (
        gradient.norm().item(),
        before.double().norm().item(),
        (after.double() - before.double()).norm().item(),
        float(moved),
    )


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("values", ["full", "summary", "none"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_of_each_update_it_is_known_what_it_did(values: str, dtype: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    told = train(torch, tmp_path / "run.gscope", values, lambda given: torch.optim.SGD(given, lr=0.01), dtype)

    found = series.updates(gs.load(tmp_path / "run.gscope")).reshape(STEPS, 4)

    assert (found["step"] == np.arange(STEPS)[:, None]).all()
    assert (found["rate"] == 0.01).all()
    wanted = np.array(told)
    for place, name in enumerate(("gradient", "weight", "update", "moved")):
        np.testing.assert_allclose(found[name][:, 1:], wanted[:, 1:, place], rtol=1e-4)
        np.testing.assert_allclose(found[name][:, 0], wanted[:, 0, place], rtol=0.2)  # of that, a sample is measured


@pytest.mark.slow
@pytest.mark.torch
def test_what_was_measured_outlives_the_values(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    train(torch, tmp_path / "run.gscope", "full", lambda given: torch.optim.Adam(given, lr=0.01))
    before = series.updates(gs.load(tmp_path / "run.gscope"))
    for values in (tmp_path / "run.gscope").rglob("values.npy"):
        values.unlink()

    log = gs.load(tmp_path / "run.gscope")

    assert (series.updates(log) == before).all()
    assert np.isfinite(series.losses(log)["value"]).all()


@pytest.mark.torch
@pytest.mark.parametrize("values", ["full", "summary", "none"])
def test_of_a_few_rows_of_a_large_embedding_nothing_false_is_told(values: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    table = torch.nn.Embedding(4096, 8)
    stepper = torch.optim.SGD(table.parameters(), lr=0.1)
    with gs.record(tmp_path / "run.gscope", values=values):
        for _ in range(3):
            stepper.zero_grad()
            table(torch.tensor([4])).sum().backward()  # which lies between two runs of the sample
            stepper.step()

    found = series.updates(gs.load(tmp_path / "run.gscope"))

    for name, norm in (("gradient", 8**0.5), ("update", 0.1 * 8**0.5), ("moved", 1.0)):
        told = found[name][~np.isnan(found[name])]
        assert told == pytest.approx([norm] * len(told), rel=1e-4)
    assert (np.isnan(found["gradient"]).all()) == (values == "none")


@pytest.mark.torch
def test_settings_that_vary_are_told(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    weight = torch.ones(3, requires_grad=True)
    adam = torch.optim.Adam([weight], lr=0.5)
    schedule = torch.optim.lr_scheduler.ExponentialLR(adam, 0.5)
    with gs.record(tmp_path / "run.gscope"):
        for _ in range(3):
            weight.sum().backward()
            adam.step()
            schedule.step()
            with torch.no_grad():
                weight.clamp_(-1, 1)  # no update

    found = series.updates(gs.load(tmp_path / "run.gscope"))

    assert found["rate"].tolist() == [0.5, 0.25, 0.125]
    assert found["gradient"] == pytest.approx(np.sqrt(3) * np.array([1, 2, 3]))


@pytest.mark.torch
def test_more_settings_vary_than_a_row_has_room_for(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    weight = torch.ones(3, requires_grad=True)
    stepper = torch.optim.SGD([weight], lr=0.5, momentum=0.5, weight_decay=0.5)
    with gs.record(tmp_path / "run.gscope"):
        for step in range(4):
            stepper.param_groups[0].update(lr=0.5 + step, momentum=0.5 / (1 + step), weight_decay=0.25 * step)
            (weight * weight).sum().backward()
            stepper.step()

    found = series.updates(gs.load(tmp_path / "run.gscope"))

    assert found["rate"].tolist() == [0.5, 1.5, 2.5, 3.5]
    assert (found["before"][1:] == found["row"][:-1]).all()


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_of_the_engine_too(kind: str, tmp_path: Path) -> None:
    weight = gs.tensor([1.0, 2.0], requires_grad=True)
    stepper = getattr(gs.optim, kind)([weight], lr=0.1)
    before = []
    with gs.record(tmp_path / "run.gscope"):
        for _ in range(3):
            stepper.zero_grad()
            (weight * weight).sum().backward()
            before.append(weight.detach().numpy().copy())
            stepper.step()
    before.append(weight.detach().numpy())

    found = series.updates(gs.load(tmp_path / "run.gscope"))

    assert found["weight"] == pytest.approx([np.linalg.norm(each) for each in before[:-1]])
    assert found["gradient"] == pytest.approx([np.linalg.norm(2 * each) for each in before[:-1]])
    assert found["update"] == pytest.approx(np.linalg.norm(np.diff(before, axis=0), axis=1), rel=1e-5)
    assert found["moved"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("module", ["graphscope", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_loss_is_known_though_no_values_are(module: str, dtype: str, tmp_path: Path) -> None:
    library = pytest.importorskip(module)
    losses = []
    with gs.record(tmp_path / "run.gscope", values="none"):
        weight = library.tensor([1.0, 2.0], dtype=getattr(library, dtype), requires_grad=True)
        for factor in range(1, 5):
            loss = (weight * factor).square().sum()
            if factor == 3:  # of another shape
                loss = loss.reshape(1)
            loss.backward()
            losses.append(loss.item())

    found = gs.load(tmp_path / "run.gscope")

    assert series.losses(found)["value"].tolist() == losses
    assert not [
        row
        for row in range(found.first, found.end)
        if found.value(row) is not None and row not in series.losses(found)["begin"]
    ]


@pytest.mark.parametrize("values", ["full", "none"])
def test_a_log_without_values_or_training_has_what_it_has(values: str, tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", values=values) as log:
        weight = gs.tensor([1.0, 2.0], requires_grad=True)
    assert len(series.updates(log)) == len(series.losses(log)) == 0
    with gs.record(tmp_path / "other.gscope", values=values):
        stepper = gs.optim.SGD([weight], lr=0.1)
        (weight * weight).sum().backward()
        stepper.step()
    (found,) = series.updates(gs.load(tmp_path / "other.gscope"))
    assert np.isnan(found["weight"]) == (values == "none")
    assert found["count"] == 2


@pytest.mark.slow
@pytest.mark.torch
def test_of_an_update_at_the_begin_of_a_segment_it_is_known_what_it_did(tmp_path: Path) -> None:
    """The parameters are written again there, when they have been updated: with their new values."""
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(40)))
    sgd = torch.optim.SGD(net.parameters(), lr=0.5)
    with gs.record(tmp_path / "run.gscope"):
        for _ in range(40):
            sgd.zero_grad()
            net(torch.ones(2, 3)).square().sum().backward()
            for each in net.parameters():
                each.grad.fill_(0.1)
            sgd.step()
    log = gs.load(tmp_path / "run.gscope")
    found = series.updates(log)
    assert ((found["before"] == found["row"] - 1) & (log.pick("kind", found["before"]) == Kind.LEAF)).any()
    assert (found["moved"] == 1).all()
    assert found["update"] == pytest.approx(0.05 * np.sqrt(found["count"]), rel=1e-4)
