"""What a person says of a comparison: how far values may be apart, and what belongs together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.compare import Difference, diff
from graphscope.errors import UsageError
from graphscope.eventlog.reader import Log

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

TRAINING = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(32, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
RATE = TRAINING.replace("lr=0.1", "lr=0.1001")
WRITTEN_OUT = TRAINING.replace("(net(x) -", "(net[2](2 * torch.sigmoid(2 * net[0](x)) - 1) -")


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., Difference]:
    def recorded(text: str, name: str) -> Log:
        script = tmp_path / f"{name}.py"
        script.write_text(text)
        with gs.record(tmp_path / f"{name}.gscope"):
            exec(compile(text, str(script), "exec"), {"__name__": "__main__"})
        return gs.load(tmp_path / f"{name}.gscope")

    def run(one: str, other: str, **wishes: Any) -> Difference:
        return diff(recorded(one, "a"), recorded(other, "b"), **wishes)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("wish", [{"rtol": 0.1, "atol": 1e-2}, {"atol": 0.5}])
def test_updates_may_be_as_far_apart_as_a_person_says(
    compare: Callable[..., Difference], wish: dict[str, float]
) -> None:
    assert compare(TRAINING, RATE)
    assert compare(TRAINING, RATE, **wish).verdict == "same"


@pytest.mark.slow
def test_a_small_tolerance_parts_where_rounding_would_not(compare: Callable[..., Difference]) -> None:
    assert compare(TRAINING, WRITTEN_OUT).verdict == "same"
    assert compare(TRAINING, WRITTEN_OUT, rtol=1e-12, atol=0.0)


@pytest.mark.slow
def test_how_far_those_are_apart_that_agree(compare: Callable[..., Difference]) -> None:
    found = compare(TRAINING, WRITTEN_OUT)
    assert found.largest is not None
    assert 0 < found.largest < 1e-4
    assert compare(TRAINING, TRAINING).largest == 0


@pytest.mark.slow
@pytest.mark.parametrize("other", [TRAINING, RATE])
def test_a_name_that_is_nobodys_is_told(compare: Callable[..., Difference], other: str) -> None:
    assert not compare(TRAINING, other, names={"0": "0", "2.weight": "2.weight"}).remarks
    (one, two) = compare(TRAINING, other, names={"0": "encoder", "3": "2"}).remarks
    assert "a.gscope" in one
    assert "'3'" in one
    assert "b.gscope" in two
    assert "'encoder'" in two


@pytest.mark.slow
@pytest.mark.parametrize("wish", [{"rtol": 0.0}, {"atol": 0.1}, {"names": {"0": "1"}}])
def test_bit_by_bit_leaves_no_room(compare: Callable[..., Difference], wish: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(wish))} has no say"):
        compare(TRAINING, TRAINING, exact=True, **wish)
