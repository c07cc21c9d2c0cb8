"""A rate of 1e-12 is nothing, unless gradients are so large that the weights move all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize(("scale", "is_nothing"), [(1.0, True), (1e12, False)])
def test_a_small_rate_is_nothing_where_the_weights_stay_as_they_are(
    scale: float, is_nothing: bool, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 1)
    before = layer.weight.detach().clone()
    optimizer = torch.optim.SGD(layer.parameters(), 1e-12)
    with gs.record(tmp_path / "run.gscope"):
        for _ in range(12):
            x = torch.randn(16, 4)
            optimizer.zero_grad()
            (torch.nn.functional.mse_loss(layer(x), x.sum(1, keepdim=True)) * scale).backward()
            optimizer.step()
    assert torch.allclose(layer.weight, before, rtol=1e-6) == is_nothing
    causes = [each.cause for each in gs.doctor(tmp_path / "run.gscope").findings if each.kind == "lr_vanished"]
    assert causes == (["lr is nothing"] if is_nothing else [])
