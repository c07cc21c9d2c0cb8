"""An exception is told of the step in which it came, also where that was left out and has no rows of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.schema import Kind
from graphscope.graph.step_numbers import step_numbers

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

EVERY, COUNT = 10, 40
Train = Callable[[int, bool], None]


def counted(failing: int, is_ahead: bool) -> None:
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 1e-3)
    for step in range(COUNT):
        if is_ahead and step == failing:
            raise ValueError("no data")
        optimizer.zero_grad()
        weight.square().sum().backward()
        optimizer.step()
        if not is_ahead and step == failing:
            raise ValueError("can't be saved")


def uncounted(failing: int, is_ahead: bool) -> None:
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 1e-3)
    for fails in [place == failing for place in range(1, COUNT + 1)]:
        if is_ahead and fails:
            raise ValueError("no data")
        optimizer.zero_grad()
        weight.square().sum().backward()
        optimizer.step()
        if not is_ahead and fails:
            raise ValueError("can't be saved")


def title_of_exception(path: Path, train: Train, failing: int, is_ahead: bool, **options: int) -> str:
    with pytest.raises(ValueError, match=r"no data|can't be saved"), gs.record(path, **options) as log:
        train(failing, is_ahead)
    log.refresh()
    (row,) = np.flatnonzero(log.column("kind") == Kind.EXCEPTION)
    return step_numbers(log).title(int(row))


@pytest.mark.parametrize("is_ahead", [True, False])
@pytest.mark.parametrize("failing", [2, EVERY - 1, EVERY, EVERY + 1, 27, 30])
@pytest.mark.parametrize("train", [counted, uncounted])
def test_an_exception_is_told_of_its_step(tmp_path: Path, train: Train, failing: int, is_ahead: bool) -> None:
    told = title_of_exception(tmp_path / "run.gscope", train, failing, is_ahead, every=EVERY, keep_last=2)
    assert told == f"step {failing}"


def test_an_exception_behind_the_loop_is_of_no_step_that_was_recorded(tmp_path: Path) -> None:
    def train(failing: int, is_ahead: bool) -> None:
        counted(failing, is_ahead)
        raise ValueError("can't be saved")

    assert title_of_exception(tmp_path / "run.gscope", train, -1, False, every=EVERY) == ""


@pytest.mark.parametrize("is_ahead", [True, False])
def test_an_exception_of_a_recording_of_all_steps_is_told_of_its_own(tmp_path: Path, is_ahead: bool) -> None:
    assert title_of_exception(tmp_path / "run.gscope", counted, 27, is_ahead) == "step 27"
