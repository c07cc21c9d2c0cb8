"""What is told of a CUDA device where other threads, processes or devices are at work, or something fails."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch import compiled, devices
from graphscope.adapters.torch.cuda_driver import Driver
from graphscope.eventlog import awaited
from graphscope.eventlog.schema import Flag
from tests.adapters.stand_in_device import TICK, Device

pytestmark = pytest.mark.torch


@pytest.fixture(params=["compiled", "Python"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, device: Device) -> None:
    """The promises are made by compiled code, or by Python's, to the stand-in."""
    if device.is_real:
        pytest.skip("a real one can't be asked to do this")
    if request.param == "Python":
        monkeypatch.setattr(compiled, "Promises", None)
    elif compiled.Promises is None:
        pytest.skip("nothing is compiled here")


@pytest.mark.parametrize("policy", ["summary", "full"])
def test_a_row_of_many_inputs_has_no_value_ahead_of_its_time(policy: str, device: Device) -> None:
    x = torch.ones(6, 70)
    with gs.record(values=policy) as log:
        torch.cat([x, x, x, x])
        log.refresh()
        device.refuses.add("cuLaunchKernel")
        device.refuses.add("cuMemcpyDtoDAsync_v2")
        torch.cat([x, x, x, x, x])
    log.refresh()
    rows = [node.row for node in log.graph.nodes if node.op == "cat"]
    assert not log.event(rows[1]).flags & (Flag.SUMMARY | Flag.KEPT)


def test_what_an_interruption_leaves_behind_is_part_of_no_other_row(monkeypatch: pytest.MonkeyPatch) -> None:
    call, is_due = Driver.call, [True]

    def interrupted(driver: Driver, name: str, *given: Any) -> None:
        call(driver, name, *given)
        if name == "cuStreamSynchronize" and is_due:
            is_due.clear()
            raise KeyboardInterrupt

    x = torch.full((60, 70), 2.0)
    with gs.record(values="summary") as log:
        torch.full((60, 70), 1.0) / 0
        monkeypatch.setattr(Driver, "call", interrupted)
        with pytest.raises(KeyboardInterrupt):
            awaited.fetch()
        y = x + 1
    log.refresh()
    summary = log.summary(log.end - 1)
    assert y.mean() == 3
    assert (summary.mean, summary.inf) == (3, 0)
    assert not log.nonfinite(log.end - 1)


def test_a_device_that_tells_nothing_any_more_lets_the_log_end(
    device: Device, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(*given: Any) -> Any:
        raise RuntimeError("CUDA error: device-side assert triggered")

    x, weight = torch.ones(60, 70), torch.ones(60, 70, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    with gs.record(values="summary") as log:
        x + 1
        monkeypatch.setattr(torch._C, "_cuda_isCurrentStreamCapturing", failed)
        log.refresh()
        x.amax(1)
        torch.cat([x, x])
        weight.grad = x.clone()
        optimizer.step()
    assert "left changed" not in capfd.readouterr().err
    log.refresh()
    told = [node for node in log.graph.nodes if node.kind == "op"]
    assert [node.op for node in told] == ["add", "amax", "cat", "clone", "SGD"]
    assert log.summary(told[0].row) is None


def test_no_memory_is_taken_while_a_graph_is_captured(device: Device) -> None:
    x = torch.ones(60, 70)
    device.refuses.add("cuMemAlloc_v2")
    device.is_capturing = True
    with gs.record(values="summary"):
        x + 1
    assert device.refused == []


def test_what_lies_on_one_device_is_fetched_while_another_is_current(device: Device) -> None:
    x = torch.ones(60, 70)
    with gs.record(values="summary") as log:
        x + 1
        device.current = 1
        log.refresh()
        assert log.summary(log.end - 1).mean == 2
        assert device.current == 1


def test_a_device_may_be_met_while_another_is_current(device: Device) -> None:
    x = torch.ones(60, 70)
    device.current = 1
    with gs.record(values="summary"):
        x + 1
        assert device.current == 1
        device.current = 0
        x + 2
        assert device.launched


def test_events_of_more_streams_than_are_kept_in_mind_are_used_again(device: Device) -> None:
    x = torch.ones(60, 70)
    with gs.record(values="summary") as log:
        for _ in range(10):
            for device.stream in range(40):
                x * 2
            awaited.fetch()
    log.refresh()
    rows = [node.row for node in log.graph.nodes if node.op == "mul"]
    assert len(rows) == 400
    assert all(log.summary(row) is not None for row in rows)
    assert device.events <= 100


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_child_that_is_forked_while_a_thread_waits_goes_on(device: Device) -> None:
    x = torch.ones(60, 70)
    with gs.record(values="summary"):
        x + 1
        waits, goes_on = threading.Event(), threading.Event()

        def held() -> None:
            waits.set()
            goes_on.wait()

        device.held = held
        thread = threading.Thread(target=awaited.fetch)
        thread.start()
        waits.wait()
        child = os.fork()
        if not child:
            os._exit(7)
        timer = threading.Timer(10, os.kill, (child, 9))
        timer.start()
        _, status = os.waitpid(child, 0)
        timer.cancel()
        goes_on.set()
        thread.join()
    assert os.waitstatus_to_exitcode(status) == 7


def test_what_a_thread_computes_while_another_waits_is_told_too(device: Device) -> None:
    x = torch.ones(60, 70)
    with gs.record(values="summary") as log:
        x + 1
        waits, goes_on = threading.Event(), threading.Event()

        def held() -> None:
            if threading.current_thread() is thread:
                waits.set()
                goes_on.wait(0.2)

        device.held = held
        thread = threading.Thread(target=awaited.fetch)
        thread.start()
        waits.wait()
        x / 0
        goes_on.set()
        thread.join()
    log.refresh()
    assert log.nonfinite(log.end - 1)


def test_what_two_threads_have_measured_at_once_is_told_apart(device: Device, request: pytest.FixtureRequest) -> None:
    if "compiled" in request.node.name:
        pytest.skip("no thread runs while compiled code asks the driver")
    x, y = torch.full((60, 70), 1.0), torch.full((60, 70), 10.0)
    with gs.record(values="summary") as log:
        x + 1
        launches, goes_on = threading.Event(), threading.Event()

        def queued() -> None:
            if threading.current_thread() is thread:
                launches.set()
                goes_on.wait(0.2)

        device.queued = queued
        thread = threading.Thread(target=lambda: x * 2)
        thread.start()
        launches.wait()
        y - 3
        goes_on.set()
        thread.join()
    log.refresh()
    found = {node.op: log.summary(node.row).mean for node in log.graph.nodes if node.kind == "op"}
    assert found == {"add": 2, "mul": 2, "sub": 7}


def test_an_op_whose_events_are_told_in_the_other_order_took_no_time(device: Device) -> None:
    x = torch.ones(60, 70)
    with gs.record(values="summary") as log:
        x + 1
        x + 1
        assert device.events
        device.direction = -1
        log.refresh()
        assert log.event(log.end - 1).duration < TICK * 1_000_000


def test_how_long_ops_on_another_device_run_is_waited_for(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    class Timer:
        def stop(self) -> int:
            return 1234

    monkeypatch.setattr(devices, "_timer_on", lambda device: Timer())
    x, y = torch.ones(60, 70), torch.ones(60, 70)
    device.elsewhere.append(y)
    with gs.record(values="summary") as log:
        for _ in range(3):
            x.tanh()
            y.tanh()
            torch.cat([y, y])
    log.refresh()
    took = [log.event(node.row).duration for node in log.graph.nodes if node.op in ("tanh", "cat")]
    assert took[1::3] == took[2::3] == [1234] * 3
    assert took[3] == TICK * 1_000_000
