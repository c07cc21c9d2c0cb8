"""What is told of a CUDA device where other threads, processes or devices are at work, or something fails."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch import compiled
from graphscope.eventlog.schema import Flag
from tests.adapters.stand_in_device import Device

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
