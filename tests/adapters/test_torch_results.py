"""A recorded PyTorch program computes to the last bit what it computes without us."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from tests.adapters.programs import PROGRAMS

pytestmark = pytest.mark.torch
STEPS = 12


def outcome(name: str) -> list[torch.Tensor]:
    """Losses, gradients, weights and the state of the random numbers."""
    torch.manual_seed(0)
    step, weights = PROGRAMS[name]()
    losses = [step().detach().clone() for _ in range(STEPS)]
    gradients = [each.grad.to_dense().clone() for each in weights if each.grad is not None]
    return [*losses, *gradients, *(each.detach().clone() for each in weights), torch.get_rng_state()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", ["full", "summary", "none"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_the_same_to_the_last_bit(name: str, values: str, tmp_path: Path) -> None:
    bare = outcome(name)
    with gs.record(tmp_path / "run.gscope", values=values) as log:
        recorded = outcome(name)
    log.refresh()
    assert len(log) > STEPS
    assert len(bare) == len(recorded)
    for mine, theirs in zip(bare, recorded, strict=True):
        assert mine.dtype == theirs.dtype
        assert torch.equal(mine.nan_to_num(), theirs.nan_to_num())
