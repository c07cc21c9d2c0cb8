"""The last step of a flight recording whose program was killed in it: told by its true number, or as one of all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.eventlog import record as recording
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.graph.step_marks import optimizer_steps, step_ends
from graphscope.graph.step_numbers import step_numbers

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

Update = Callable[[str], None]


def counted(update: Update) -> None:
    for step in range(45):
        update(f"step {step}")


def by_three(update: Update) -> None:
    for step in range(100, 235, 3):
        update(f"step {step}")


def epochs(update: Update) -> None:
    for epoch in range(7):
        for batch in range(7):
            update(f"epoch {epoch}, batch {batch}")


def epochs_of_a_counter_of_all(update: Update) -> None:
    step = 0
    for epoch in range(7):
        for _batch in "abcdefg":
            update(f"epoch {epoch}, step {step}")
            step += 1


def skipping(update: Update) -> None:
    for step in range(70):
        if step % 3 < 2:
            update(f"step {step}")


def uncounted(update: Update) -> None:
    for number in map(str, range(1, 46)):
        update(f"step {number}")


def twice(update: Update) -> None:
    for _phase in "ab":
        for step in range(22):
            update(f"step {step}")


def killed(train: Callable[[Update], None], path: Path, **options: int) -> Iterator[tuple[int, str, str]]:
    """Which step each recorded one is, as the program prints it, and as a log tells that ends in the middle of it."""
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    found: list[tuple[int, str, str]] = []
    count = 0

    def update(printed: str) -> None:
        nonlocal count
        count += 1
        loss = model(torch.ones(8, 4)).square().mean()
        if count > 1 and recording.active() is not None:
            at_kill = path.with_name(f"killed-{count}.gscope")
            shutil.copytree(path, at_kill)
            log = load(at_kill)
            found.append((count, printed, step_numbers(log).title(log.end - 1)))
            assert step_numbers(log).counts[-1] == count
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    with gs.record(path, **options):
        train(update)
    yield from found


@pytest.mark.parametrize(
    ("train", "sure"),
    [
        (counted, [11, 21, 31, 41]),
        (by_three, [11, 21, 31, 41]),
        (epochs, [31, 41]),  # to epoch 4, batch 2 and epoch 5, batch 5: another epoch has gone so far
        (epochs_of_a_counter_of_all, []),
        (skipping, []),
        (uncounted, [2, 11, 21, 31, 41]),
        (twice, [11, 21, 31, 41]),
    ],
)
@pytest.mark.parametrize("keep_last", [1, 3])
def test_a_step_that_was_killed_has_its_true_number_or_none(
    tmp_path: Path, train: Callable[[Update], None], sure: list[int], keep_last: int
) -> None:
    told = {count: each for count, *each in killed(train, tmp_path / "run.gscope", every=10, keep_last=keep_last)}
    assert set(told) == {2, 11, 21, 31, 41}
    wrong = {count: each for count, each in told.items() if each[1] not in (each[0], f"training step {count} of all")}
    assert not wrong
    assert {count for count, (printed, title) in told.items() if title == printed} == {*sure}


@pytest.mark.parametrize("every", [1, 10])
def test_a_step_that_was_killed_between_its_two_optimizers_has_not_ended(tmp_path: Path, every: int) -> None:
    one, other = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
    first, second = torch.optim.SGD(other.parameters(), 1e-3), torch.optim.SGD(one.parameters(), 1e-3)
    with gs.record(tmp_path / "run.gscope", every=every, keep_last=3):
        for step in range(11):
            first.zero_grad()
            other(one(torch.ones(8, 2))).mean().backward()
            first.step()
            second.zero_grad()
            other(one(torch.ones(8, 2))).mean().backward()
            if step == 10:
                shutil.copytree(tmp_path / "run.gscope", tmp_path / "killed.gscope")
            second.step()
    log = load(tmp_path / "killed.gscope")
    numbers = step_numbers(log)
    assert numbers.numbers.tolist()[-2:] == ([1, 10] if every == 10 else [9, 10])
    assert numbers.counts.tolist()[-2:] == ([2, 11] if every == 10 else [10, 11])
    marks = log.marks(Kind.STEP).tolist()
    assert [numbers.title(row) for row in (marks[-1], log.end - 1)] == ["step 10", "step 10"]
    assert (len(step_ends(log)), len(optimizer_steps(log))) == (len(numbers) - 1, 2 * len(numbers) - 1)


@pytest.mark.parametrize("options", [{}, {"keep_last": 3}, {"every": 10}], ids=str)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_step_that_was_killed_behind_an_inner_loop_of_an_optimizer_is_one(
    tmp_path: Path, at: int, options: dict[str, int]
) -> None:
    weights = [torch.ones(3, requires_grad=True) for _ in "ab"]
    first, second = [torch.optim.SGD([weight], 1e-3) for weight in weights]
    with gs.record(tmp_path / "run.gscope", **options):
        for step in range(11):
            for part in range(3):
                weights[0].square().sum().backward()
                first.step()
                if (step, part) == (10, at):
                    shutil.copytree(tmp_path / "run.gscope", tmp_path / "killed.gscope")
            weights[1].square().sum().backward()
            second.step()
    log = load(tmp_path / "killed.gscope")
    numbers = step_numbers(log)
    recorded = [1, 2, 11] if "every" in options else [*range(1, 12)]
    assert numbers.counts.tolist() == recorded
    assert [str(numbers.number(place)) for place in range(len(numbers))] == [f"step {count - 1}" for count in recorded]
    assert len(step_ends(log)) == len(recorded) - 1


@pytest.mark.parametrize("count", [21, 22, 24, 25])
def test_an_optimizer_that_steps_at_some_steps_alone_ends_others_no_later(tmp_path: Path, count: int) -> None:
    weights = [torch.ones(3, requires_grad=True) for _ in "ab"]
    first, second = [torch.optim.SGD([weight], 1e-3) for weight in weights]
    with gs.record(tmp_path / "run.gscope"):
        for step in range(count):
            weights[0].square().sum().backward()
            first.step()
            if step % 5 == 4:
                weights[1].square().sum().backward()
                second.step()
    log = load(tmp_path / "run.gscope")
    assert step_numbers(log).numbers.tolist() == [*range(count)]
    assert len(step_ends(log)) == count


def test_a_step_is_counted_where_nothing_is_left_of_those_ahead_of_it(tmp_path: Path) -> None:
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 1e-3)
    with gs.record(tmp_path / "run.gscope", keep_last=1, budget=1 << 22, values="none") as log:
        for _ in "abcdefg":
            weight.sum().backward()
            optimizer.step()
        while log.first == 0 or len(log.marks(Kind.STEP)):
            weight.sum().backward()
            log.refresh()
        shutil.copytree(tmp_path / "run.gscope", tmp_path / "killed.gscope")
    numbers = step_numbers(load(tmp_path / "killed.gscope"))
    assert numbers.counts[-1] == 8
