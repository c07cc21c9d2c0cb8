"""Losses and rates of steps that are left out, of a program that trains on a CUDA device: as it has them itself.

Where there is no such device, the memory of this machine is said to be one.
"""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.debugger.step_table import steps_between
from graphscope.eventlog import record as recording
from graphscope.eventlog import step_series
from graphscope.graph import Graph
from graphscope.graph.series import losses
from graphscope.graph.series.every_step import every_step
from graphscope.graph.step_numbers import step_numbers

torch = pytest.importorskip("torch")

from graphscope.adapters.torch import compiled, remote_numbers, remote_values
from tests.adapters.stand_in_device import Device

pytestmark = pytest.mark.torch

EVERY = 10


def model_on(device: Device) -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device.name)


def training(
    device: Device,
    steps: int,
    *,
    bad: tuple[int, ...] = (),
    dtype: Any = torch.float32,
    passes: int = 1,
    bad_pass: int = 0,
    scaler: Any = None,
    at_end: Callable[[int], None] = lambda step: None,
) -> Iterator[tuple[float, float]]:
    """The loss of each step's last backward pass, or of one before it that is not finite, and its learning rate.

    Args:
        device: Where it runs.
        steps: How many.
        bad: The steps, counted from 1, in which a loss is NaN.
        dtype: That of the losses.
        passes: Backward passes of each step.
        bad_pass: Which of them has the NaN.
        scaler: What scales losses up.
        at_end: Called behind the optimizer's step.
    """
    model = model_on(device)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        seen = []
        for which in range(passes):
            x = torch.randn(8, 4, device=device.name)
            loss = model(x).square().mean().to(dtype)
            if step in bad and which == bad_pass:
                loss = loss * torch.nan
            (loss if scaler is None else scaler.scale(loss)).backward()
            seen.append(loss.detach().clone())
        rate = optimizer.param_groups[0]["lr"]
        if step in bad:
            for each in model.parameters():
                each.grad.zero_()
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()
        at_end(step)
        wrong = [each.item() for each in seen if not torch.isfinite(each)]
        yield (wrong or [seen[-1].item()])[0], rate


def counts(log: Any) -> list[int]:
    return [int(each) for each in step_numbers(log).counts]


def is_told(log: Any, computed: list[tuple[float, float]], **tolerance: float) -> bool:
    """Whether the series of a log has each step, as the program computed it."""
    told = every_step(log)
    assert told["step"].tolist() == [*range(1, len(computed) + 1)]
    assert told["has_loss"].all()
    assert told["rate"].tolist() == [rate for _, rate in computed]
    np.testing.assert_allclose(told["loss"], [loss for loss, _ in computed], **{"rtol": 0, **tolerance})
    return True


@pytest.mark.parametrize("options", [{}, {"values": "none"}, {"values": "summary"}, {"keep_last": 2}], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_each_step_has_its_loss_and_its_rate(
    tmp_path: Path, device: Device, dtype: Any, options: dict[str, Any]
) -> None:
    with gs.record(tmp_path / "run.gscope", every=EVERY, **options) as log:
        computed = [*training(device, 45, dtype=dtype)]
    log.refresh()
    assert is_told(log, computed)
    assert counts(log) == [1, 2, 11, 21, 31, 41]
    steps = steps_between(Graph(log), 0, len(step_numbers(log)))
    assert [step.loss for step in steps] == [computed[step - 1][0] for step in counts(log)]


def test_a_program_that_computes_the_same_is_not_held_up(tmp_path: Path, device: Device) -> None:
    bare = [*training(device, 30)]
    if not device.is_real:
        device.waited.clear()
    with gs.record(tmp_path / "run.gscope", every=1000):
        assert [*training(device, 30)] == bare
        # What each step that was left out waited for was queued a step before; the first one ended a recorded one.
        assert set(device.waited[-27:]) <= {1}


def test_the_newest_loss_is_there_for_who_reads_the_log_meanwhile(tmp_path: Path, device: Device) -> None:
    seen = []

    def read(step: int) -> None:
        if recording.going() is not None:
            log.refresh()
            told = every_step(log)[-1]
            seen.append((told["loss"], told["has_loss"], told["step"]))

    with gs.record(tmp_path / "run.gscope", every=EVERY) as log:
        computed = [*training(device, 25, at_end=read)]
    assert seen == [(loss, True, step) for step, (loss, _) in enumerate(computed, 1)]


@pytest.mark.parametrize("values", ["full", "none"])
@pytest.mark.parametrize("bad", [3, 4, 37])
def test_a_nan_in_a_step_that_is_left_out_is_met(tmp_path: Path, device: Device, bad: int, values: str) -> None:
    with gs.record(tmp_path / "run.gscope", every=1000, keep_last=3, on="nan", values=values) as log:
        computed = [*training(device, bad + 20, bad=(bad,))]
    log.refresh()
    assert counts(log) == [1, 2, bad + 2, bad + 3, bad + 4]
    assert is_told(log, computed)


def test_a_nan_in_a_recorded_step_is_met_in_that_step(tmp_path: Path, device: Device) -> None:
    with gs.record(tmp_path / "run.gscope", every=EVERY, keep_last=3, on="nan") as log:
        computed = [*training(device, 28, bad=(11,))]
    log.refresh()
    assert counts(log) == [1, 2, 11, 12, 13, 14, 21]
    assert is_told(log, computed)


def test_a_nan_is_met_again_when_losses_were_finite_in_between(tmp_path: Path, device: Device) -> None:
    bad = (*range(20, 25), *range(60, 63))
    with gs.record(tmp_path / "run.gscope", every=1000, keep_last=3) as log:
        computed = [*training(device, 80, bad=bad)]
    log.refresh()
    assert counts(log) == [1, 2, 22, 23, 24, 62, 63, 64]
    assert is_told(log, computed)


@pytest.mark.parametrize("bad_pass", [0, 1, 2])
def test_of_several_passes_the_newest_counts_or_one_that_is_not_finite(
    tmp_path: Path, device: Device, bad_pass: int
) -> None:
    with gs.record(tmp_path / "run.gscope", every=1000, keep_last=3) as log:
        computed = [*training(device, 30, passes=3, bad=(12,), bad_pass=bad_pass)]
    log.refresh()
    assert np.isnan(computed[11][0])
    assert is_told(log, computed)
    assert counts(log) == [1, 2, 14, 15, 16]


def test_so_many_passes_as_have_no_place_are_told_too(tmp_path: Path, device: Device) -> None:
    with gs.record(tmp_path / "run.gscope", every=1000) as log:
        computed = [*training(device, 6, passes=150, bad=(4,), bad_pass=20)]
    log.refresh()
    assert np.isnan(computed[3][0])
    assert is_told(log, computed)


@pytest.mark.parametrize("values", ["full", "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_what_a_scaler_multiplied_is_told_as_it_was(tmp_path: Path, device: Device, values: str, dtype: Any) -> None:
    scaler = torch.amp.GradScaler(device.name, init_scale=2.0**8, growth_interval=6)
    with gs.record(tmp_path / "run.gscope", every=EVERY, values=values) as log:
        computed = [*training(device, 35, scaler=scaler, dtype=dtype)]
    log.refresh()
    assert scaler.get_scale() > 2.0**8
    assert is_told(log, computed)


def test_a_rate_that_lies_on_the_device_is_told(tmp_path: Path, device: Device) -> None:
    w = torch.zeros(3, requires_grad=True, device=device.name)
    rate = torch.tensor(0.125, device=device.name)
    optimizer = torch.optim.Adam([w], rate, capturable=device.is_real)
    computed = []
    with gs.record(tmp_path / "run.gscope", every=EVERY) as log:
        for step in range(35):
            optimizer.zero_grad()
            loss = (w - 1).square().sum()
            loss.backward()
            optimizer.step()
            computed.append((loss.item(), rate.item()))
            rate.mul_(0.5 if step % 2 else 1.5)
    log.refresh()
    assert is_told(log, computed)


def test_of_two_optimizers_the_second_one_s_counts_and_a_nan_of_either(tmp_path: Path, device: Device) -> None:
    makes, judges = torch.nn.Linear(2, 4).to(device.name), torch.nn.Linear(4, 1).to(device.name)
    first, second = torch.optim.Adam(judges.parameters(), 2e-3), torch.optim.Adam(makes.parameters(), 1e-3)
    computed = []
    with gs.record(tmp_path / "run.gscope", every=1000, keep_last=2) as log:
        for step in range(1, 31):
            z = torch.randn(8, 2, device=device.name)
            first.zero_grad()
            (judges(makes(z).detach()) * (torch.nan if step == 12 else 1)).mean().backward()
            if step == 12:
                for each in judges.parameters():
                    each.grad.zero_()
            first.step()
            second.zero_grad()
            loss = -judges(makes(z)).mean()
            loss.backward()
            second.step()
            computed.append((torch.nan if step == 12 else loss.item(), 1e-3))
    log.refresh()
    assert is_told(log, computed)
    assert counts(log) == [1, 2, 14, 15]


def test_an_optimizer_that_comes_late_takes_its_step_back_with_the_loss(tmp_path: Path, device: Device) -> None:
    weights = [torch.ones(2, requires_grad=True, device=device.name) for _ in "abc"]
    first, second, third = [
        torch.optim.SGD([weight], rate) for weight, rate in zip(weights, (0.1, 0.2, 0.3), strict=True)
    ]
    computed = []
    with gs.record(tmp_path / "run.gscope", every=1000) as log:
        for step in range(20):
            loss = weights[0].square().sum()
            loss.backward()
            first.step()
            if step <= 10:
                computed.append((loss.item(), 0.1))
            if step >= 10:  # in a turn that has a step already, of which the first of these makes another
                loss = (weights[1] + weights[2]).square().sum()
                loss.backward()
                second.step()
                third.step()
                computed.append((loss.item(), 0.3))
    log.refresh()
    assert is_told(log, computed)


@pytest.mark.parametrize("critics", [1, 3])
def test_an_inner_loop_of_one_optimizer_has_no_loss_of_its_own(tmp_path: Path, device: Device, critics: int) -> None:
    weights = [torch.zeros(2, requires_grad=True, device=device.name) for _ in "ab"]
    inner, outer = (torch.optim.SGD([each], 0.1) for each in weights)
    computed = []
    with gs.record(tmp_path / "run.gscope", every=EVERY) as log:
        for _step in range(35):
            for _critic in range(critics):
                inner.zero_grad()
                (weights[0] - torch.randn(2, device=device.name)).square().sum().backward()
                inner.step()
            outer.zero_grad()
            loss = (weights[1] - torch.randn(2, device=device.name)).square().sum()
            loss.backward()
            outer.step()
            computed.append((loss.item(), 0.1))
    log.refresh()
    assert is_told(log, computed)


@pytest.mark.parametrize("is_scaled", [False, True])
def test_where_no_values_are_kept_the_losses_are(tmp_path: Path, device: Device, is_scaled: bool) -> None:
    scaler = torch.amp.GradScaler(device.name, init_scale=2.0**8) if is_scaled else None
    with gs.record(tmp_path / "run.gscope", values="none") as log:
        computed = [*training(device, 5, scaler=scaler)]
    log.refresh()
    assert losses(log)["value"].tolist() == [loss for loss, _ in computed]


def test_a_program_that_fails_right_behind_a_step_has_told_its_loss(tmp_path: Path, device: Device) -> None:
    def fail(step: int) -> None:
        if step == 17:
            raise ValueError("no more data")

    computed = [*training(device, 17)]
    with pytest.raises(ValueError, match="no more data"), gs.record(tmp_path / "run.gscope", every=EVERY):
        [*_] = training(device, 40, at_end=fail)
    assert is_told(gs.load(tmp_path / "run.gscope"), computed)


def test_a_signal_behind_a_step_asks_for_the_next_ones(tmp_path: Path, device: Device) -> None:
    def ask(step: int) -> None:
        if step == 17:
            os.kill(os.getpid(), signal.SIGUSR1)

    with gs.record(tmp_path / "run.gscope", every=1000, keep_last=3) as log:
        computed = [*training(device, 30, at_end=ask)]
    log.refresh()
    assert is_told(log, computed)
    assert counts(log) == [1, 2, 19, 20, 21]


def test_a_loss_finds_its_row_in_a_series_that_was_thinned_out(
    tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_series, "MOST", 16)
    with gs.record(tmp_path / "run.gscope", every=1000) as log:
        computed = [*training(device, 100)]
    log.refresh()
    told = every_step(log)
    assert len(told) >= 8
    assert told["has_loss"].all()
    assert told["loss"].tolist() == [computed[step - 1][0] for step in told["step"]]


def test_losses_of_this_machine_and_of_the_device_are_told_in_their_order(tmp_path: Path, device: Device) -> None:
    """Both in one step, where the newest pass counts or one that is not finite, and by turns."""
    mine = torch.ones(2, requires_grad=True)
    theirs = torch.ones(2, requires_grad=True, device=device.name)
    optimizer = torch.optim.SGD([mine, theirs], 0.01)
    computed = []
    with gs.record(tmp_path / "run.gscope", every=1000, on="signal") as log:
        for step in range(40):
            optimizer.zero_grad()
            for is_here in ((False,), (True, False), (False, True), (True,))[step // 10]:
                loss = (mine if is_here else theirs).square().sum()
                if is_here and step == 14:
                    loss = loss * torch.nan
                if is_here:
                    device.here.append(loss)
                loss.backward()
            if step == 14:
                mine.grad.zero_()
            optimizer.step()
            computed.append(torch.nan if step == 14 else loss.item())
    log.refresh()
    told = every_step(log)
    assert told["has_loss"].all()
    assert np.array_equal(told["loss"], [computed[step - 1] for step in told["step"]], equal_nan=True)
    assert {*range(1, 32 if compiled.passing is None else 41)} <= {*told["step"].tolist()}


def test_while_a_graph_is_captured_nothing_waits_and_losses_come_behind_it(tmp_path: Path, device: Device) -> None:
    if device.is_real:
        pytest.skip("what is captured there does not run")

    def capture(step: int) -> None:
        device.is_capturing = 12 <= step < 15  # the step behind

    with gs.record(tmp_path / "run.gscope", every=1000) as log:
        computed = [*training(device, 30, at_end=capture)]
    log.refresh()
    told = every_step(log)
    assert told["step"].tolist() == [*range(1, 31)]
    assert told["step"][~told["has_loss"]].tolist() == [13, 14, 15]
    known = told[told["has_loss"]]
    assert known["loss"].tolist() == [computed[step - 1][0] for step in known["step"]]


@pytest.mark.skipif(torch.cuda.is_available(), reason="that one has a driver")
def test_where_there_is_no_driver_steps_and_rates_are_told(
    tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (remote_numbers, remote_values):
        monkeypatch.setattr(module, "driver", lambda: None)
    with gs.record(tmp_path / "run.gscope", every=EVERY) as log:
        computed = [*training(device, 35)]
    log.refresh()
    told = every_step(log)
    assert told["step"].tolist() == [*range(1, 36)]
    assert told["rate"].tolist() == [rate for _, rate in computed]
    assert told["step"][told["has_loss"]].tolist() == [1, 2, 11, 21, 31]


def test_nothing_of_the_device_is_asked_in_a_forked_child(tmp_path: Path, device: Device) -> None:
    def fork(step: int) -> None:
        if step == 17:
            before = len(device.waited)
            if (child := os.fork()) == 0:
                log.refresh()
                os._exit(len(device.waited) - before)
            assert os.waitpid(child, 0)[1] == 0

    with gs.record(tmp_path / "run.gscope", every=1000) as log:
        computed = [*training(device, 25, at_end=fork)]
    log.refresh()
    assert is_told(log, computed)
