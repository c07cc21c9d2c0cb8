"""Durations of what an accelerator runs, by its own events."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch import compiled, devices, sites
from graphscope.adapters.torch.tensor_base import ORDINARY, Own

pytestmark = pytest.mark.torch


class Stream:
    """The work of an accelerator whose clock goes on by 7 ms from event to event."""

    clock = 0.0


class Event:
    """What such an accelerator offers, as far as `torch.cuda` does."""

    def __init__(self, enable_timing: bool = False) -> None:
        assert enable_timing
        self.at = np.nan
        self.done = False

    def record(self, stream: Stream) -> None:
        stream.clock += 7
        self.at = stream.clock

    def synchronize(self) -> None:
        self.done = True

    def elapsed_time(self, end: Event) -> float:
        assert end.done
        return end.at - self.at


class Accelerator:
    """As `torch.cuda`."""

    def __init__(self) -> None:
        self.stream = Stream()
        self.capturing = False

    Event = Event

    def current_stream(self, device: Any) -> Stream:
        return self.stream

    def is_current_stream_capturing(self) -> bool:
        return self.capturing


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch) -> Any:
    """No accelerator is needed: tensors are said to lie on one."""
    found = Accelerator()
    for module in (devices, sites):
        monkeypatch.setattr(module, "is_remote", lambda tensor: True)
    monkeypatch.setattr(devices, "_module", lambda device: found)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    if compiled.Handler is None:
        yield found
        return
    compiled.look_through(None, compiled.measure, ORDINARY, Own)  # compiled code sees no elements there
    yield found
    compiled.look_through(getattr(torch.Tensor, "__dlpack_c_exchange_api__", None), compiled.measure, ORDINARY, Own)


@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
@pytest.mark.parametrize("values", ["full", "none"])
def test_calls_and_rules_take_as_long_as_the_accelerator_says(accelerator: Any, capture: str, values: str) -> None:
    with gs.record(values=values, capture=capture) as log:
        x = torch.ones(3, requires_grad=True)
        for _ in range(2):
            (x.tanh() * x).sum().backward()
    log.refresh()
    took = {
        (node.op, node.kind): log.event(node.row).duration
        for node in log.graph.nodes
        if node.op in ("tanh", "mul", "sum")
    }
    assert {kind for _, kind in took} == {"op", "grad"}
    whole = 7_000_000
    assert all(duration % whole == 0 and duration > 0 for duration in took.values())


def test_while_a_graph_is_captured_nothing_waits(accelerator: Any) -> None:
    accelerator.capturing = True
    with gs.record() as log:
        x = torch.ones(3, requires_grad=True)
        x.tanh().sum().backward()
    log.refresh()
    assert accelerator.stream.clock == 0
    assert [node.op for node in log.graph.nodes if node.kind == "op"] == ["tanh", "sum"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_durations_on_cuda_are_those_of_its_kernels() -> None:
    a = torch.randn(4096, 4096, device="cuda", requires_grad=True)
    for _ in range(3):
        (a @ a).sum().backward()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    a @ a
    end.record()
    end.synchronize()
    alone = begin.elapsed_time(end) * 1e6
    with gs.record(values="none") as log:
        for _ in range(3):
            (a @ a).sum().backward()
    log.refresh()
    forward = [log.event(node.row).duration for node in log.graph.select("matmul forward")]
    backward = [log.event(node.row).duration for node in log.graph.select("matmul backward")]
    assert 0.5 < np.median(forward) / alone < 2
    assert 1 < np.median(backward) / alone < 4  # two products
