"""Runs with little or nothing in common, and logs that hold little: the answer is clear, and nothing is made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.compare import Difference, diff
from graphscope.eventlog.reader import Log

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def summed() -> None:
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(4, 3), torch.randn(5, 4)
    layer(x).relu().sum().backward()


def averaged() -> None:
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(4, 3), torch.randn(5, 4)
    layer(x).relu().mean().backward()


def convolved() -> None:
    torch.manual_seed(7)
    torch.nn.Conv1d(2, 3, 3)(torch.randn(1, 2, 9)).sigmoid().std().backward()


def filled() -> None:
    """Tensors that are written in parts, or whose shape alone is read, in memory that others have used before."""

    def used(shape: tuple[int, ...], dtype: str = "float32") -> None:
        numbers = (1000 * np.random.default_rng().random(shape)).astype(dtype)
        del numbers

    torch.manual_seed(0)
    layer = torch.nn.Linear(8, 8)
    used((512,))
    scale = torch.nn.Parameter(torch.empty(512))
    with torch.no_grad():
        scale.copy_(torch.ones_like(scale) * 0.5)
    optimizer = torch.optim.SGD([*layer.parameters(), scale], lr=0.1)
    for _ in range(2):
        hidden = layer(torch.randn(512, 8))
        used((512, 16))
        both = hidden.new_empty(512, 16)
        both[:, :8] = hidden
        both[:, 8:].copy_(hidden * 2)
        order = torch.randperm(512)
        used((512,), "int64")
        back = torch.empty_like(order)
        back[order] = torch.arange(512)
        used((512, 4))
        table = torch.empty(512, 4)
        table[:, :2] = torch.arange(512)[:, None].sin()
        table[:, 2:] = torch.arange(512)[:, None].cos()
        loss = ((both[order][back] * scale[:, None]).square().mean(1) + table.sum(1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def idle() -> None:
    pass


def recorded(program: Callable[[], None], place: Path, values: str = "full") -> Log:
    with gs.record(place, values=values):
        program()
    return gs.load(place)


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., Difference]:
    def compared(a: Callable[[], None], b: Callable[[], None], values: str = "full") -> Difference:
        return diff(recorded(a, tmp_path / "a.gscope", values), recorded(b, tmp_path / "b.gscope", values))

    return compared


@pytest.mark.parametrize(("a", "b"), [(summed, convolved), (summed, idle), (idle, summed)])
def test_runs_with_nothing_in_common_are_unlike(
    compare: Callable[..., Difference], a: Callable[[], None], b: Callable[[], None]
) -> None:
    found = compare(a, b)
    assert (found.verdict, found.partings) == ("unlike", ())


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary", "none"])
def test_another_reduction_is_found_whatever_was_kept(compare: Callable[..., Difference], values: str) -> None:
    first = compare(summed, averaged, values).first
    assert first is not None
    assert first.a is not None
    assert first.b is not None
    assert (first.when, first.a.op, first.b.op) == ("forward", "sum", "mean")


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary", "none"])
@pytest.mark.parametrize("program", [summed, convolved, filled, idle])
def test_the_same_program_is_the_same(
    compare: Callable[..., Difference], program: Callable[[], None], values: str
) -> None:
    assert compare(program, program, values).verdict == "same"


def test_a_run_that_was_cut_off_is_compared_as_far_as_it_goes(tmp_path: Path) -> None:
    def failing() -> None:
        torch.manual_seed(0)
        layer, x = torch.nn.Linear(4, 3), torch.randn(5, 4)
        layer(x).relu() @ x

    whole = recorded(summed, tmp_path / "whole.gscope")
    with pytest.raises(RuntimeError), gs.record(tmp_path / "cut.gscope"):
        failing()
    found = diff(whole, tmp_path / "cut.gscope")
    assert found.first is not None
    assert "failed with" in " ".join(found.remarks)
