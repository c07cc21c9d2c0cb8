"""An exception is told of the step in which it came, also where that was left out and has no rows of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.debugger.step_table import steps_between
from graphscope.eventlog.schema import Kind
from graphscope.graph import Graph
from graphscope.graph.step_numbers import step_numbers
from graphscope.tables.steps import batches

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


def saves(failing: int, is_ahead: bool) -> None:
    def save(step: int) -> None:
        if step == failing:
            raise ValueError("can't be saved")

    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 1e-3)
    for step in range(COUNT):
        if is_ahead:
            save(step)
        optimizer.zero_grad()
        weight.square().sum().backward()
        optimizer.step()
        if not is_ahead:
            save(step)


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


@pytest.mark.parametrize("options", [{}, {"keep_last": 3}, {"every": EVERY}], ids=str)
@pytest.mark.parametrize("is_ahead", [True, False])
@pytest.mark.parametrize("failing", [EVERY - 1, EVERY, EVERY + 1, 27])
def test_the_step_of_an_exception_has_the_loss_that_it_came_behind(
    tmp_path: Path, failing: int, is_ahead: bool, options: dict[str, int]
) -> None:
    """It came in a function that the rest of the loop's turn called, or the next turn did before it made a loss."""
    title_of_exception(tmp_path / "run.gscope", saves, failing, is_ahead, **options)
    log = gs.load(tmp_path / "run.gscope")
    loss = None if is_ahead else pytest.approx(3 * 0.998 ** (2 * failing), rel=1e-5)
    newest = steps_between(Graph(log), 0, len(step_numbers(log)))[-1]
    assert (newest.title, newest.count, newest.loss) == (f"step {failing}", failing + 1, loss)
    assert newest.rate == (None if is_ahead else 1e-3)
    table = next(iter(batches(log)))
    told = np.ma.MaskedArray(table["loss"])[-1]
    assert (table["name"][-1], table["step"][-1]) == (newest.title, newest.count)
    assert (None if told is np.ma.masked else told) == loss


@pytest.mark.parametrize("options", [{}, {"keep_last": 3}, {"every": EVERY}], ids=str)
def test_an_exception_between_two_optimizers_is_of_the_step_that_they_end(
    tmp_path: Path, options: dict[str, int]
) -> None:
    def train(failing: int, is_ahead: bool) -> None:
        first, second = (torch.ones(3, requires_grad=True) for _ in "ab")
        one, other = torch.optim.SGD([first], 1e-3), torch.optim.SGD([second], 1e-3)
        for step in range(COUNT):
            first.square().sum().backward()
            one.step()
            if step == failing:
                raise ValueError("no data")
            second.square().sum().backward()
            other.step()

    assert title_of_exception(tmp_path / "run.gscope", train, EVERY, False, **options) == "step 10"
    assert len(step_numbers(gs.load(tmp_path / "run.gscope"))) == (3 if options.get("every") else 11)


@pytest.mark.parametrize("options", [{}, {"keep_last": 3}, {"every": EVERY}], ids=str)
@pytest.mark.parametrize("newest", [0, 1])
def test_an_exception_in_a_loop_over_optimizers_is_of_the_step_that_they_end(
    tmp_path: Path, options: dict[str, int], newest: int
) -> None:
    """One line makes the steps of both, so that the line below it is behind the end of a step and ahead of one."""

    def train(failing: int, is_ahead: bool) -> None:
        weights = [torch.ones(3, requires_grad=True) for _ in "ab"]
        optimizers = [torch.optim.SGD([weight], 1e-3) for weight in weights]
        for step in range(COUNT):
            for weight, optimizer in zip(weights, optimizers, strict=True):
                weight.square().sum().backward()
                optimizer.step()
                if step == failing and weight is weights[newest]:
                    raise ValueError("no data")

    assert title_of_exception(tmp_path / "run.gscope", train, EVERY, False, **options) == "step 10"
    numbers = step_numbers(gs.load(tmp_path / "run.gscope"))
    assert numbers.counts.tolist() == ([1, 2, 11] if options.get("every") else [*range(1, 12)])


@pytest.mark.parametrize("options", [{}, {"keep_last": 3}], ids=str)
def test_an_exception_between_two_optimizers_is_of_their_step_where_no_loop_counts(
    tmp_path: Path, options: dict[str, int]
) -> None:
    def train(failing: int, is_ahead: bool) -> None:
        first, second = (torch.ones(3, requires_grad=True) for _ in "ab")
        one, other = torch.optim.SGD([first], 1e-3), torch.optim.SGD([second], 1e-3)
        left = [*"." * failing]
        while True:
            first.square().sum().backward()
            one.step()
            if not left:
                raise ValueError("no data")
            left.pop()
            second.square().sum().backward()
            other.step()

    assert title_of_exception(tmp_path / "run.gscope", train, 9, False, **options) == "step 10"
    assert step_numbers(gs.load(tmp_path / "run.gscope")).counts.tolist() == [*range(1, 11)]


@pytest.mark.parametrize("failing", [0, 1, EVERY - 1, EVERY])
def test_an_exception_behind_the_inner_loop_of_an_optimizer_is_of_the_step_that_ended(
    tmp_path: Path, failing: int
) -> None:
    """The end of the first step is left out: that of its second optimizer, of which nothing was known."""

    def save(step: int) -> None:
        if step == failing:
            raise ValueError("can't be saved")

    def train(failing: int, is_ahead: bool) -> None:
        first, second = (torch.ones(3, requires_grad=True) for _ in "ab")
        one, other = torch.optim.SGD([first], 1e-3), torch.optim.SGD([second], 1e-3)
        for step in range(COUNT):
            for _part in range(3):
                first.square().sum().backward()
                one.step()
            second.square().sum().backward()
            other.step()
            save(step)

    assert title_of_exception(tmp_path / "run.gscope", train, failing, False, every=EVERY) == f"step {failing}"
    counts = step_numbers(gs.load(tmp_path / "run.gscope")).counts.tolist()
    assert counts == sorted(set(counts))
    assert counts[-1] == failing + 1
