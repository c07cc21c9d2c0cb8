"""What the log has of tensors on a CUDA device, which comes later than its rows."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch import compiled, remote_values
from graphscope.eventlog.schema import Flag
from tests.adapters.stand_in_device import TICK, Device

pytestmark = pytest.mark.torch

POLICIES = ("none", "summary", "full")


@pytest.fixture(params=["compiled", "Python"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promises are made by compiled code, or by Python's."""
    if request.param == "Python":
        monkeypatch.setattr(compiled, "Promises", None)
    elif compiled.Promises is None:
        pytest.skip("nothing is compiled here")


def _random(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def _spoilt() -> Any:
    found = _random(60, 70)
    found[3, 4], found[5], found[7] = torch.nan, torch.inf, 0
    return found


TENSORS: dict[str, Callable[[], Any]] = {
    "float32": lambda: _random(60, 70),
    "float16": lambda: _random(60, 70).half(),
    "bfloat16": lambda: _random(60, 70).bfloat16(),
    "float64, too large to be squared": lambda: _random(60, 70).double() * 1e200,
    "complex64": lambda: torch.complex(_random(60, 70), _random(60, 70)),
    "conjugate": lambda: torch.complex(_random(60, 70), _random(60, 70)).conj(),
    "int64": lambda: (_random(60, 70) * 10).long(),
    "int8": lambda: (_random(80, 70) * 10).to(torch.int8),
    "uint8": lambda: (_random(80, 70) * 10).abs().to(torch.uint8),
    "bool": lambda: _random(80, 70) > 0,
    "close together": lambda: _random(60, 70) * 1e-3 + 1000,
    "transposed": lambda: _random(60, 70).t(),
    "columns": lambda: _random(60, 170)[:, 3:80],
    "every second": lambda: _random(120, 170)[::2, ::2],
    "expanded": lambda: _random(60, 1).expand(60, 70),
    "one number expanded": lambda: _random(1, 1).expand(60, 70),
    "permuted": lambda: _random(6, 30, 40).permute(2, 0, 1),
    "channels last": lambda: _random(2, 8, 20, 20).to(memory_format=torch.channels_last),
    "small": lambda: _random(5, 7),
    "one": lambda: _random(),
    "empty": lambda: _random(0, 4),
    "NaN and Inf": _spoilt,
    "all NaN": lambda: torch.full((60, 70), torch.nan),
    "a few NaN": lambda: torch.full((3,), torch.nan),
    "one NaN": lambda: torch.tensor(torch.nan),
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", TENSORS)
def test_what_is_told_of_a_tensor_is_what_numpy_finds(name: str, policy: str, device: Device) -> None:
    tensor = TENSORS[name]().to(device.name)
    with gs.record(values=policy) as log:
        for _ in range(3):  # at a site that is known by then
            tensor.alias() if hasattr(tensor, "alias") else tensor.view_as(tensor)
    log.refresh()
    row = [node.row for node in log.graph.nodes if node.kind == "op"][-1]
    plain = tensor.resolve_conj().cpu()
    expected = (plain.float() if plain.dtype is torch.bfloat16 else plain).numpy()
    numbers = np.abs(expected) if expected.dtype.kind == "c" else expected.astype(np.float64)
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    assert log.nonfinite(row) == (finite.size < numbers.size)
    value, summary = log.value(row), log.summary(row)
    if policy == "none" and numbers.size:
        assert value is None
        assert summary is None
    elif value is not None and plain.dtype is not torch.bfloat16:
        np.testing.assert_array_equal(value, expected)
    elif summary is not None:
        found = [summary.minimum, summary.maximum, summary.mean, summary.std]
        largest = float(np.abs(finite).max()) if finite.size else 1.0
        scaled = finite / largest
        wanted = [scaled.min(), scaled.max(), scaled.mean(), scaled.std()] if finite.size else [0.0] * 4
        np.testing.assert_allclose(np.array(found) / largest, wanted, rtol=1e-5, atol=1e-7)
        counts = np.isnan(numbers).sum(), np.isinf(numbers).sum(), (numbers == 0).sum()
        assert (summary.nan, summary.inf, summary.zero) == counts


def _training(place: str) -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 64)
    ).to(place)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=False)
    x = torch.randn(100, 64).to(place)
    for step in range(4):
        optimizer.zero_grad()
        y = net(x)
        one, other = y.chunk(2, 1)
        z = torch.cat([one, other, one, other, one.t().contiguous().t()], 1)
        if step == 3:
            z = z / torch.zeros_like(z)
        (z.square().mean() + y.bfloat16().sum().float() * 0).backward()
        optimizer.step()


def _told(place: str, policy: str) -> list[Any]:
    with gs.record(values=policy) as log:
        _training(place)
    log.refresh()
    found = []
    for node in log.graph.nodes:
        value, summary = log.value(node.row), log.summary(node.row)
        if node.kind == "leaf" or node.op == "to":
            continue
        numbers: list[float] = []
        if summary is not None:
            numbers = [summary.minimum, summary.maximum, summary.mean, summary.std, summary.nan, summary.inf]
        elif value is not None and value.size:
            numbers = np.asarray(value, np.float64).ravel().tolist()
        found.append((node.op, node.kind, log.nonfinite(node.row), numbers))
    return found


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("policy", POLICIES)
def test_a_training_is_told_as_on_the_processor(policy: str, device: Device, request: pytest.FixtureRequest) -> None:
    there = _told(device.name, policy)
    _the_processor_is_one_again(request)
    here = _told("cpu", policy)
    assert [row[:3] for row in there] == [row[:3] for row in here]
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(one[3], other[3], rtol=2e-2, atol=2e-4, err_msg=str(one[:2]))


def _the_processor_is_one_again(request: pytest.FixtureRequest) -> None:
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    patch.undo()
    if compiled.look_through is not None:
        table = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
        compiled.look_through(table, compiled.measure, remote_values.ORDINARY, remote_values.Own)


@pytest.mark.usefixtures("way")
def test_ops_take_as_long_as_the_device_says(device: Device) -> None:
    if device.is_real:
        pytest.skip("of a real device `test_torch_devices` tells")
    with gs.record(values="summary") as log:
        x = torch.ones(60, 70, requires_grad=True)
        for _ in range(3):
            y = x.tanh() * x.t().t()  # for a view no device works
            y.sum().item()
            y.sum().backward()
    log.refresh()
    nodes = [node for node in log.graph.nodes if node.kind in ("op", "grad") and node.op not in ("ones", "t")]
    took = [log.event(node.row).duration for node in nodes]
    assert took
    assert all(each > 0 and each % (TICK * 1_000_000) == 0 for each in took)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("size", [2, 40, 100_000])
def test_more_is_promised_than_there_is_room_for(size: int, device: Device) -> None:
    x = torch.arange(size, dtype=torch.float32, device=device.name)
    with gs.record(values="full", budget=1 << 32) as log:
        for number in range(5000 if size < 1000 else 200):
            x + number
    log.refresh()
    rows = [node.row for node in log.graph.nodes if node.op == "add"]
    for number, row in enumerate(rows):
        assert log.value(row)[-1] == size - 1 + number


@pytest.mark.usefixtures("way")
def test_another_process_sees_no_value_ahead_of_its_time(device: Device, tmp_path: Path) -> None:
    path = tmp_path / "run.gscope"
    read = """
import sys, graphscope as gs
log = gs.load(sys.argv[1])
print(log.event(log.end - 1).kind.name, log.summary(log.end - 1))
"""
    x = torch.ones(60, 70, device=device.name)
    with gs.record(path, values="summary") as log:
        x + 1
        seen = subprocess.run([sys.executable, "-c", read, path], capture_output=True, text=True, check=True).stdout
    log.refresh()
    assert seen == "OP None\n"
    assert log.summary(log.end - 1).mean == 2


@pytest.mark.usefixtures("way")
def test_whoever_reads_in_the_same_process_has_the_values(device: Device) -> None:
    x = torch.ones(60, 70, device=device.name)
    with gs.record(values="summary") as log:
        y = x + 1
        log.refresh()
        assert log.summary(log.end - 1).mean == 2
        y / 0
        log.refresh()
        assert log.nonfinite(log.end - 1)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("refused", ["cuLaunchKernel", "cuStreamSynchronize", "cuMemcpyDtoH_v2"])
def test_where_the_device_fails_the_program_goes_on(refused: str, device: Device) -> None:
    if device.is_real:
        pytest.skip("a real one can't be asked to fail")
    x = torch.ones(60, 70)
    with gs.record(values="summary") as log:
        x + 1
        log.refresh()
        device.refuses.add(refused)
        y = x + 2
        log.refresh()
        device.refuses.clear()
        z = y + 3
    log.refresh()
    assert z.sum().item() == 60 * 70 * 6
    ops = [node.row for node in log.graph.nodes if node.op == "add"]
    assert log.summary(ops[0]).mean == 2
    assert log.summary(ops[1]) is None
    assert not log.event(ops[1]).flags & Flag.SUMMARY


@pytest.mark.usefixtures("way")
def test_a_device_that_shuts_down_ahead_of_the_recording_hurts_nobody(device: Device) -> None:
    if device.is_real:
        pytest.skip("a real one can't be asked to fail")
    with gs.record(values="summary") as log:
        torch.ones(60, 70).tanh() + 1
        log.refresh()
        device.refuses |= {"cuEventDestroy_v2", "cuMemFree_v2"}
    log.refresh()
    assert log.summary(log.end - 1) is not None


@pytest.mark.usefixtures("way")
def test_a_device_without_room_or_kernels_is_waited_for(device: Device) -> None:
    if device.is_real:
        pytest.skip("a real one can't be asked to fail")
    device.refuses |= {"cuModuleLoadData", "cuEventCreate"}
    with gs.record(values="summary") as log:
        torch.ones(60, 70) + 1
    log.refresh()
    assert log.summary(log.end - 1).mean == 2


@pytest.mark.usefixtures("way")
def test_while_a_graph_is_captured_nothing_is_queued(device: Device) -> None:
    if device.is_real:
        pytest.skip("the stand-in counts what is launched")
    with gs.record(values="summary") as log:
        x = torch.ones(60, 70) + 1
        log.refresh()
        before = device.launched
        device.is_capturing = True
        x * 2
        assert device.launched == before
        device.is_capturing = False
        x * 3
        assert device.launched > before
    log.refresh()
    assert log.summary(log.end - 1).mean == 6


def test_the_kernels_are_those_of_their_source() -> None:
    assets = Path(remote_values.__file__).parent / "assets"
    for source in assets.glob("*.cu"):
        mark = f"// of {source.name} {hashlib.sha256(source.read_bytes()).hexdigest()}"
        assert source.with_suffix(".ptx").read_text().splitlines()[0] == mark, "make kernels"


def test_a_debugger_sees_each_value_at_once(device: Device) -> None:
    seen = []

    class Gate:
        wants_before = False

        def __getattr__(self, name: str) -> Any:
            def told(*given: Any, **named: Any) -> None:
                seen.append(name)

            return told

    with gs.record(values="summary") as log:
        torch.ones(60, 70, device=device.name) + 1
        assert remote_values.promise_check(torch.ones(3, device=device.name)) is not None
        writer = gs.eventlog.record.writer
        writer.gate = Gate()
        try:
            assert remote_values.promise_check(torch.ones(3, device=device.name)) is None
        finally:
            writer.gate = None
    log.refresh()
