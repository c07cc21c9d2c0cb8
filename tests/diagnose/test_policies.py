"""What is wrong with updates is found whatever values are kept, of layers that are too large to be kept whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def train(rate: float, dtype: str) -> None:
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).to(kind)
    optimizer = torch.optim.SGD(net.parameters(), rate)
    x = torch.randn(256, 64).to(kind)
    labels = x[:, :10].argmax(1)
    for step in range(24):
        rows = torch.arange(step % 8 * 32, step % 8 * 32 + 32)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x[rows]).float(), labels[rows])
        loss.backward()
        optimizer.step()


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary", "none"])
@pytest.mark.parametrize(
    ("rate", "dtype", "found"),
    [(1e-5, "bfloat16", "lost_update"), (1e-9, "float32", "lost_update"), (100.0, "float32", "update_ratio"),
     (0.05, "float32", None)],
)  # fmt: skip
def test_the_same_is_found(rate: float, dtype: str, found: str | None, values: str, tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", values=values):
        train(rate, dtype)
    kinds = [each.kind for each in gs.doctor(gs.load(tmp_path / "run.gscope")).findings]
    assert kinds == ([] if found is None else [found])
