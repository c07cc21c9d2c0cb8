"""Updates that come to be too large long after the first ones: judged where the loss begins to grow."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Finding

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

RISES = 20


def trained(path: Path, rate: float, *, spoilt: int | None = None) -> tuple[list[Finding], list[float]]:
    """What is found in a training whose rate rises by a factor from step to step, and how much each changed a weight.

    Args:
        path: The log.
        rate: The factor.
        spoilt: In this step and those behind it data are far too large.
    """
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    data = torch.randn(64, 6)
    changes = []
    with gs.record(path) as log:
        for step in range(70):
            optimizer.param_groups[0]["lr"] = 0.02 * rate ** max(step - RISES, 0)
            x = data * (1e3 if spoilt is not None and step >= spoilt else 1)
            optimizer.zero_grad()
            (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
            before = model[0].weight.detach().clone()
            optimizer.step()
            changes.append(float((model[0].weight.detach() - before).norm() / before.norm()))
    log.refresh()
    return list(gs.doctor(log).findings), changes


def test_a_rate_that_grows_until_updates_are_larger_than_weights_is_told_from_there_on(tmp_path: Path) -> None:
    found, changes = trained(tmp_path / "run.gscope", 1.2)
    (one,) = found
    assert one.kind == "update_ratio"
    first = next(step for step, change in enumerate(changes) if change > 0.1)
    assert first > RISES
    assert f"from step {first} on, steps change 0.weight by up to" in " ".join(one.verdict.split())
    assert one.evidence["update to weight"] == pytest.approx(changes[first], rel=1e-4)
    assert {each.kind for each in one.consequences} == {"nan"}


def test_a_rate_that_stays_is_not_told(tmp_path: Path) -> None:
    found, changes = trained(tmp_path / "run.gscope", 1.0)
    assert max(changes) < 0.1
    assert found == []


def test_data_that_make_the_loss_large_at_once_are_no_matter_of_the_rate(tmp_path: Path) -> None:
    found, changes = trained(tmp_path / "run.gscope", 1.0, spoilt=50)
    assert max(changes[50:]) > 1
    assert "update_ratio" not in {each.kind for each in found}
