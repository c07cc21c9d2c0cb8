"""What steps do to parameters on a CUDA device, and the norms of gradients there, beside torch's own numbers.

Where there is no such device the memory of this machine plays its part: tensors are said to lie there.
"""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch import compiled, remote_measures, remote_values, tensor_base
from graphscope.adapters.torch.cuda_driver import DriverError
from graphscope.adapters.torch.gradient_norms import gradient_norm
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.adapters.torch.update_measures import measured, sampled
from graphscope.eventlog import samples
from graphscope.graph import series
from graphscope.graph.series.every_step import norms_of_steps

pytestmark = pytest.mark.torch


@dataclass
class Device:
    """Where tensors of a test are made."""

    name: str
    waits: int = 0
    """How often it was waited for to measure something."""
    refuses: bool = False
    """Whether nothing can be queued any more."""


class StandInKernels:
    """What `measures.cu` does, in this memory and at once."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def gather(self, table: np.ndarray) -> None:
        if self._device.refuses:
            raise DriverError("it refuses")
        for source, to, apart, size, count in table.tolist():
            for each in range(count):
                ctypes.memmove(to + each * size, source + each * apart, size)

    def add_squares(self, table: np.ndarray) -> None:
        for source, to, count, floating in table.tolist():
            dtype = np.dtype({1: "f2", 2: "u2", 3: "f4", 4: "f8"}[floating])
            elements = np.frombuffer(ctypes.string_at(source, count * dtype.itemsize), dtype)
            if floating == 2:
                elements = (elements.astype(np.uint32) << 16).view(np.float32)
            with np.errstate(over="ignore"):
                total = np.square(elements.astype(np.float64)).sum()
            ctypes.c_double.from_address(to).value += total


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    found = Device("cuda" if torch.cuda.is_available() else "cpu")
    brought = remote_measures.brought

    def counted_brought(memory: Any) -> bytes:
        found.waits += 1
        return brought(memory)

    monkeypatch.setattr(remote_measures, "brought", counted_brought)
    if torch.cuda.is_available():
        yield found
        return
    kernels = StandInKernels(found)
    monkeypatch.setattr(remote_measures, "_kernels", lambda index: kernels)
    monkeypatch.setattr(remote_values, "driver", lambda: None)
    for name, answer in (
        ("_cuda_getDevice", lambda: 0),
        ("_cuda_isCurrentStreamCapturing", lambda: False),
    ):
        monkeypatch.setattr(torch._C, name, answer, raising=False)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    for name, value in (("is_cpu", False), ("is_cuda", True)):
        monkeypatch.setattr(tensor_base, name, lambda tensor, value=value: value)

    class There:
        def __getattr__(self, name: str) -> Any:
            return getattr(Own, name)

        def get_device(self, tensor: Any) -> int:
            return 0

    monkeypatch.setattr(remote_measures, "Own", There())
    if compiled.look_through is not None:  # compiled code sees no elements there
        compiled.look_through(None, compiled.measure, ORDINARY, Own)
    yield found
    if compiled.look_through is not None:
        table = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
        compiled.look_through(table, compiled.measure, ORDINARY, Own)


SIZES = [(3,), (7, 5), (32, 32), (33, 40), (1000, 130)]


def parameters_of(device: str, dtype: Any) -> list[Any]:
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(size).to(dtype).to(device)) for size in SIZES]


def pull(parameters: list[Any]) -> None:
    """Give each parameter a gradient that is 0 here and there."""
    for place, each in enumerate(parameters):
        mask = torch.arange(each.numel(), device=each.device).reshape(each.shape) % 3 != 0
        ((each * mask).float() * (each.detach().float() + 0.1 * place)).sum().backward()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_steps_are_measured_as_on_this_machine(device: Device, dtype: Any, tmp_path: Path) -> None:
    parameters = parameters_of(device.name, dtype)
    optimizer = torch.optim.SGD(parameters, lr=0.05, weight_decay=0.01)
    wanted = []
    with gs.record(tmp_path / "run.gscope", values="none") as log:
        for _ in range(3):
            optimizer.zero_grad()
            pull(parameters)
            before = [each.detach().cpu().clone() for each in parameters]
            optimizer.step()
            for was, each in zip(before, parameters, strict=True):
                wanted.append(beside(was, each.detach().cpu(), each.grad.cpu()))
    log.refresh()
    found = series.updates(log)
    told = [[one[name] for name in samples.MEASURES] for one in found[np.argsort(found["row"])]]
    assert told == pytest.approx(np.array(wanted), rel=1e-6)


def beside(was: Any, now: Any, gradient: Any) -> list[float]:
    """The measures by torch: of a large parameter, of runs of 8 elements at even distances."""
    count = was.numel()
    if count > 1024:
        starts = torch.arange(128) * ((count - 8) // 127)
        places = (starts[:, None] + torch.arange(8)).reshape(-1)
        was, now, gradient = (each.reshape(-1)[places] for each in (was, now, gradient))
    was, now, gradient = (each.double() for each in (was, now, gradient))
    whole = math.sqrt(count / was.numel())
    moved = (was != now)[gradient != 0].double().mean()
    return [*(float(each.norm()) * whole for each in (gradient, was, now - was)), float(moved)]


def bits(numbers: list[int]) -> list[float]:
    found: list[float] = np.array(numbers, np.int64).view(np.float64).tolist()
    return found


def test_all_parameters_are_waited_for_once_and_all_gradients_once(device: Device, tmp_path: Path) -> None:
    parameters = [torch.nn.Parameter(torch.randn(50, 60).to(device.name)) for _ in range(100)]
    parameters += [torch.nn.Parameter(torch.randn(5).double().to(device.name)) for _ in range(3)]
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    with gs.record(tmp_path / "run.gscope", values="none"):
        pull(parameters)
        with counted(device, 1):
            before = sampled(optimizer)
            with torch.no_grad():
                for each in parameters:
                    each -= each.grad
            found = [measured(before[id(each)], each, each.grad) for each in parameters]
        with counted(device, 1):
            norm = gradient_norm(optimizer)
    for each, told in zip(parameters, found, strict=True):
        gradient, _, update, moved = bits(told)
        assert gradient == pytest.approx(update, rel=1e-3)
        assert gradient == pytest.approx(float(each.grad.norm()), rel=0.1)
        assert moved == 1
    assert norm == pytest.approx(float(total_norm(parameters)))


@contextmanager
def counted(device: Device, waits: int) -> Iterator[None]:
    """So often what runs inside waits for a device that counts."""
    before = device.waits
    yield
    assert device.waits == before + waits


def total_norm(parameters: list[Any]) -> Any:
    return torch.nn.utils.get_total_norm([each.grad.to_dense().double() for each in parameters])


def test_norms_in_the_series_are_those_that_torch_clips_by(device: Device, tmp_path: Path) -> None:
    parameters = parameters_of(device.name, torch.float32)
    optimizer = torch.optim.Adam(parameters, lr=0.05)
    norms = []
    with gs.record(tmp_path / "run.gscope", every=5) as log:
        for _ in range(20):
            optimizer.zero_grad()
            pull(parameters)
            norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, math.inf)))
            with counted(device, 1):  # in steps that are left out as well
                assert gradient_norm(optimizer) == pytest.approx(norms[-1], rel=1e-5)
            optimizer.step()
    log.refresh()
    told = norms_of_steps(log)
    assert len(told)
    assert told["norm"] == pytest.approx([norms[step - 1] for step in told["step"]], rel=1e-5)


@pytest.mark.parametrize("odd", [1e30, 1e200, math.inf, math.nan])
def test_a_norm_is_that_of_gradients_of_all_dtypes_and_layouts(device: Device, odd: float, tmp_path: Path) -> None:
    parameters = [
        torch.nn.Parameter(torch.randn(6, 4).to(dtype).to(device.name))
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64)
        for _ in range(2)
    ]
    for each in parameters[::2]:
        each.grad = torch.randn(4, 6).to(each.dtype).to(device.name).t()
    parameters[2].grad = torch.ones(1, 1).half().to(device.name).expand(6, 4)
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    with gs.record(tmp_path / "run.gscope", values="none"):
        parameters[0] * 1
        given = [each for each in parameters if each.grad is not None]
        assert gradient_norm(optimizer) == pytest.approx(float(total_norm(given)), rel=1e-6)
        given[-1].grad[0, 0] = odd
        assert gradient_norm(optimizer) == pytest.approx(float(total_norm(given)), rel=1e-6, nan_ok=True)
        given[0].grad[0, 0] = min(odd, 1e30)
        given[-1].grad[0, 0] = 1
        assert gradient_norm(optimizer) == pytest.approx(float(total_norm(given)), rel=1e-6, nan_ok=True)
        given[1].grad = torch.eye(6, 4).half().to(device.name).to_sparse()
        assert gradient_norm(optimizer) == pytest.approx(float(total_norm(given)), rel=1e-6, nan_ok=True)


def test_a_norm_of_some_gradients_alone_is_not_told() -> None:
    one, other = (torch.nn.Parameter(torch.ones(3, dtype=dtype)) for dtype in (torch.float32, torch.complex64))
    one.grad, other.grad = torch.ones_like(one), torch.ones_like(other)
    assert gradient_norm(torch.optim.SGD([one], lr=0.1)) == pytest.approx(3**0.5)
    assert gradient_norm(torch.optim.SGD([one, other], lr=0.1)) is None


def test_of_a_parameter_that_lies_elsewhere_behind_the_step_nothing_is_told(device: Device, tmp_path: Path) -> None:
    parameters = [torch.nn.Parameter(torch.randn(size).to(device.name)) for size in (2000, 30, 4, 5)]
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    with gs.record(tmp_path / "run.gscope", values="none"):
        pull(parameters)
        before = sampled(optimizer)
        held = parameters[0].data, parameters[1].grad
        parameters[0].data = torch.zeros(2000, device=device.name)
        parameters[1].grad = torch.zeros(30, device=device.name)
        parameters[2].grad = None
        found = [measured(before[id(each)], each, each.grad) for each in parameters]
    assert [len(each) for each in found] == [0, 0, 0, len(samples.MEASURES)]
    assert bits(found[3])[2:] == [0, 0]
    del held


def test_a_device_that_refuses_ends_no_recording(device: Device, tmp_path: Path) -> None:
    if device.name == "cuda":
        pytest.skip("a real device does not refuse when asked to")
    parameters = parameters_of(device.name, torch.float32)
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    with gs.record(tmp_path / "run.gscope", values="none") as log:
        for device.refuses in (False, True, False):
            optimizer.zero_grad()
            pull(parameters)
            optimizer.step()
    log.refresh()
    found = series.updates(log)
    assert np.isnan(found["update"]).reshape(3, -1).tolist() == [[refused] * len(SIZES) for refused in (0, 1, 0)]


def test_the_doctor_tells_of_updates_that_are_too_large(device: Device, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).to(device.name)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    x = torch.randn(64, 6).to(device.name)
    changes = []
    with gs.record(tmp_path / "run.gscope") as log:
        for step in range(70):
            optimizer.param_groups[0]["lr"] = 0.02 * 1.2 ** max(step - 20, 0)
            optimizer.zero_grad()
            (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
            before = model[0].weight.detach().clone()
            optimizer.step()
            changes.append(float((model[0].weight.detach() - before).norm() / before.norm()))
    log.refresh()
    (one,) = gs.doctor(log).findings
    assert one.kind == "update_ratio"
    first = next(step for step, change in enumerate(changes) if change > 0.1)
    assert one.evidence["update to weight"] == pytest.approx(changes[first], rel=1e-4)


def test_norms_without_kernels_are_those_of_ops_and_nothing_else_is_told(
    device: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(remote_measures, "_kernels", lambda index: None)  # as on a device of another maker
    parameters = [each for dtype in (torch.float32, torch.float16) for each in parameters_of(device.name, dtype)]
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    with gs.record(tmp_path / "run.gscope", values="none") as log:
        pull(parameters)
        assert gradient_norm(optimizer) == pytest.approx(float(total_norm(parameters)), rel=1e-5)
        parameters[-1].grad[0, 0] = math.inf
        assert gradient_norm(optimizer) == math.inf
        optimizer.step()
    log.refresh()
    assert np.isnan(series.updates(log)["update"]).all()
    assert device.waits == 0
