"""A recorded PyTorch program computes to the last bit what it computes without us."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from tests.adapters.programs import PROGRAMS

pytestmark = pytest.mark.torch
STEPS = 5


def outcome(name: str, steps: int = STEPS) -> list[torch.Tensor]:
    """Losses, gradients, weights and the state of the random numbers."""
    torch.manual_seed(0)
    step, weights = PROGRAMS[name]()
    losses = [step().detach().clone() for _ in range(steps)]
    gradients = [each.grad.to_dense().clone() for each in weights if each.grad is not None]
    return [*losses, *gradients, *(each.detach().clone() for each in weights), torch.get_rng_state()]


def same(bare: list[torch.Tensor], recorded: list[torch.Tensor]) -> bool:
    """Whether the tensors are the same, element by element, NaN where NaN is."""
    pairs = zip(bare, recorded, strict=True)
    return all(
        mine.dtype == theirs.dtype and torch.equal(mine.nan_to_num(), theirs.nan_to_num()) for mine, theirs in pairs
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("values", "capture"), [("full", "calls+backward"), ("none", "ops")])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_the_same_to_the_last_bit(name: str, values: str, capture: str, tmp_path: Path) -> None:
    bare = outcome(name)
    with gs.record(tmp_path / "run.gscope", values=values, capture=capture) as log:
        recorded = outcome(name)
    log.refresh()
    assert len(log) > STEPS
    assert same(bare, recorded)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hundred_steps_are_the_same(name: str, tmp_path: Path) -> None:
    bare = outcome(name, 100)
    with gs.record(tmp_path / "run.gscope", values="summary"):
        recorded = outcome(name, 100)
    assert same(bare, recorded)
