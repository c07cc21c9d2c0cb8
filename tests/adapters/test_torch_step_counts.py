"""Which step of the program a step of a flight recording is, and what is its own: as the program itself counts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.cli.overview import overview
from graphscope.diagnose import examined
from graphscope.diagnose.ranks.track import track
from graphscope.diagnose.runs import Run, read_run
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.graph import Graph, series
from graphscope.graph.series.every_step import every_step
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.training import training
from graphscope.tables.steps import batches

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch


def train(data: Iterator[Any], width: int = 4) -> None:
    """Train in a loop that counts nothing."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.Tanh(), torch.nn.Linear(width, 1))
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for x in data:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()


def rows_of(log: Log, op: str) -> list[int]:
    """The rows in which an op ran."""
    found = ((row, log.event(row)) for row in range(log.first, log.end))
    return [row for row, event in found if event.kind == Kind.OP and log.op(event.op).name == op]


@pytest.mark.parametrize("is_killed", [False, True])
def test_steps_that_the_log_has_let_go_of_are_counted_where_no_loop_counts(tmp_path: Path, is_killed: bool) -> None:
    def data() -> Iterator[Any]:
        for _ in range(300):
            yield torch.ones(8, 4)
        shutil.copytree(tmp_path / "run.gscope", tmp_path / "killed.gscope")

    with gs.record(tmp_path / "run.gscope", keep_last=2):
        train(data())
    log = load(tmp_path / ("killed.gscope" if is_killed else "run.gscope"))
    numbers = step_numbers(log)
    ended = len(numbers)
    assert log.first > 0
    assert numbers.numbers[:ended].tolist() == [*range(301 - ended, 301)]
    assert next(iter(batches(log)))["step"][ended - 1] == every_step(log)["step"][-1] == 300
    assert str(numbers.number(ended - 1)) == "step 300"
    assert numbers.find({"step": 299}) == ended - 2
    assert overview(log).steps == ended
    assert overview(log).steps_made == 300


def test_a_fault_is_found_in_the_step_that_the_program_was_in(tmp_path: Path) -> None:
    data = [torch.ones(8, 4) for _ in range(300)]
    data[249][0, 0] = float("inf")
    with gs.record(tmp_path / "run.gscope", keep_last=2) as log:
        train(iter(data))
    log.refresh()
    (born, *_) = [found for found in examined(Graph(log)) if found.kind == "nan"]
    assert (born.step, born.first_step) == ("step 250", 250)


def test_what_ends_the_turn_of_a_step_that_was_left_out_is_none_of_the_next(tmp_path: Path) -> None:
    begun, ended = [], []
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    with gs.record(tmp_path / "run.gscope", every=10) as log:
        for _ in range(35):
            out = model(torch.ones(8, 4))
            optimizer.zero_grad()
            out.square().mean().backward()
            begun.append(perf_counter_ns())
            optimizer.step()
            out.detach().neg()
            {each: out.detach().ceil() for each in "ab"}
            ended.append(perf_counter_ns())
    log.refresh()
    numbers = step_numbers(log)
    assert numbers.counts.tolist() == [1, 2, 11, 21, 31]
    # The tail of the first is recorded in its own turn; of 10, 20 and 30 that alone.
    assert [numbers.steps.place(row) for row in rows_of(log, "neg")] == [0, None, None, None]
    assert [numbers.steps.place(row) for row in rows_of(log, "ceil")] == [0, 0, *[None] * 6]
    assert [numbers.steps.place(row) for row in rows_of(log, "linear")] == [0, 1, 2, 3, 4]
    assert len(training(log).step_ends) == 5
    for place, count in list(enumerate(numbers.counts.tolist()))[1:]:
        assert numbers.steps.durations(log)[place] < ended[count - 1] - begun[count - 2]


def adversaries(steps: int, every: int, path: Path) -> Log:
    """The log of two models that train against each other."""
    torch.manual_seed(0)
    makes, judges = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
    first, second = torch.optim.Adam(judges.parameters(), 2e-3), torch.optim.Adam(makes.parameters(), 1e-3)
    with gs.record(path, every=every):
        for _step in range(steps):
            z = torch.randn(8, 2)
            first.zero_grad()
            (judges(makes(z).detach()) - judges(torch.randn(8, 4))).mean().backward()
            first.step()
            second.zero_grad()
            (-judges(makes(z)).mean()).backward()
            second.step()
    return load(path)


@pytest.mark.parametrize("every", [1, 10])
def test_whoever_counts_the_steps_of_two_optimizers_comes_to_the_same(tmp_path: Path, every: int) -> None:
    log = adversaries(40, every, tmp_path / "run.gscope")
    recorded = [1, 2, 11, 21, 31] if every == 10 else [*range(1, 41)]
    numbers, run = step_numbers(log), read_run((log.path, "run", 1))
    assert numbers.counts.tolist() == recorded
    assert [numbers.number(place).counters["_step"] + 1 for place in range(len(numbers))] == recorded
    assert isinstance(run, Run)
    assert (run.steps, run.first_rate, run.last_rate) == (40, 1e-3, 1e-3)
    assert (overview(log).steps, overview(log).steps_made) == (len(recorded), 40)
    assert len(track(log).seconds) == len(recorded)


def test_what_fails_behind_a_step_that_was_left_out_is_none_of_a_recorded_one(tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)

    def fail() -> None:
        for step in range(30):
            model(torch.ones(8, 4)).square().mean().backward()
            optimizer.step()
            if step == 16:
                raise ValueError("here")

    with pytest.raises(ValueError, match="here"), gs.record(tmp_path / "run.gscope", every=10) as log:
        fail()
    log.refresh()
    (failed,) = log.marks(Kind.EXCEPTION).tolist()
    numbers = step_numbers(log)
    assert numbers.title(failed) == "step 16"
    assert str(numbers.number(len(numbers) - 2)) == "step 10"
    assert numbers.steps.last[-2] == failed - 1


def test_an_optimizer_that_is_made_anew_takes_no_step_back(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", every=5) as log:
        for _fold in range(3):
            model = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), 1e-2)
            for x in torch.ones(4, 8, 4):
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
    log.refresh()
    assert every_step(log)["step"].tolist() == [*range(1, 13)]
    assert np.isin([1, 2, 6, 11], step_numbers(log).counts).all()


def test_a_phase_behind_another_takes_no_step_back(tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 1)
    first, second = (torch.optim.SGD([each], 1e-2) for each in model.parameters())
    with gs.record(tmp_path / "run.gscope", every=100) as log:
        for _step in range(1):
            model(torch.ones(8, 4)).square().mean().backward()
            first.step()
        for _turn in range(3):
            model(torch.ones(8, 4)).square().mean().backward()
            second.step()
    log.refresh()
    assert every_step(log)["step"].tolist() == [1, 2, 3, 4]


def one_by_one(optimizers: list[Any], critics: int, path: Path, **options: Any) -> tuple[Log, list[float]]:
    """The log of several optimizers, the last of which ends a turn of the loop, and the newest loss of each turn."""
    torch.manual_seed(0)
    seen = []
    w = optimizers[-1].param_groups[0]["params"][0]
    with gs.record(path, **options):
        for _step in range(40):
            for _critic in range(critics):
                optimizers[0].zero_grad()
                (optimizers[0].param_groups[0]["params"][0] - torch.randn(2)).square().sum().backward()
                optimizers[0].step()
            optimizers[-1].zero_grad()
            loss = (w - torch.randn(2)).square().sum()
            loss.backward()
            seen.append(loss.item())
            optimizers[-1].step()
    return load(path), seen


@pytest.mark.parametrize("critics", [1, 3, 5])
@pytest.mark.parametrize("options", [{"every": 10}, {"keep_last": 100}], ids=["some", "newest"])
def test_an_inner_loop_of_one_optimizer_is_part_of_the_step_of_another(
    tmp_path: Path, critics: int, options: dict[str, int]
) -> None:
    optimizers = [torch.optim.SGD([torch.zeros(2, requires_grad=True)], 0.1) for _ in range(2)]
    log, seen = one_by_one(optimizers, critics, tmp_path / "run.gscope", **options)
    series = every_step(log)
    assert series["step"].tolist() == [*range(1, 41)]
    np.testing.assert_allclose(series["loss"], seen, rtol=1e-6)
    numbers, recorded = step_numbers(log), [1, 2, 11, 21, 31] if "every" in options else [*range(1, 41)]
    assert numbers.counts.tolist() == recorded
    assert [numbers.number(place).counters["_step"] + 1 for place in range(len(numbers))] == recorded
    assert (overview(log).steps, overview(log).steps_made) == (len(recorded), 40)


def in_a_loop(optimizers: list[Any]) -> None:
    for each in optimizers:
        each.step()


def line_by_line(optimizers: list[Any]) -> None:
    first, second = optimizers
    first.step()
    second.step()


@pytest.mark.parametrize("step", [in_a_loop, line_by_line])
@pytest.mark.parametrize("is_counted", [True, False])
@pytest.mark.parametrize("options", [{"every": 10}, {"keep_last": 100}], ids=["some", "newest"])
def test_optimizers_that_share_a_loss_make_one_step_with_that_loss(
    tmp_path: Path, step: Any, is_counted: bool, options: dict[str, int]
) -> None:
    torch.manual_seed(0)
    w, b = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    optimizers, seen = [torch.optim.SGD([w], 0.1), torch.optim.Adam([b], 0.01)], []
    with gs.record(tmp_path / "run.gscope", **options) as log:
        for _step in range(40) if is_counted else iter("x" * 40):
            for each in optimizers:
                each.zero_grad()
            loss = (w + b - torch.randn(2)).square().sum()
            loss.backward()
            seen.append(loss.item())
            step(optimizers)
    log.refresh()
    series = every_step(log)
    assert series["step"].tolist() == [*range(1, 41)]
    np.testing.assert_allclose(series["loss"], seen, rtol=1e-6)
    assert series["rate"].tolist() == [0.01] * 40
    assert step_numbers(log).counts.tolist() == ([1, 2, 11, 21, 31] if "every" in options else [*range(1, 41)])


def test_optimizers_that_a_function_of_the_program_steps_make_one_step_in_a_turn(tmp_path: Path) -> None:
    first, second = (torch.optim.SGD([torch.zeros(2, requires_grad=True)], 0.1) for _ in range(2))

    def update(optimizer: Any) -> None:
        optimizer.zero_grad()
        optimizer.param_groups[0]["params"][0].square().sum().backward()
        optimizer.step()

    with gs.record(tmp_path / "run.gscope", every=10) as log:
        for _step in range(40):
            update(first)
            update(second)
    log.refresh()
    assert every_step(log)["step"].tolist() == [*range(1, 41)]


def test_an_optimizer_that_takes_over_in_the_middle_of_an_epoch_takes_no_step_back(tmp_path: Path) -> None:
    w = torch.zeros(2, requires_grad=True)
    optimizer, later = (torch.optim.SGD([w], 0.1) for _ in range(2))
    with gs.record(tmp_path / "run.gscope", keep_last=100) as log:
        for _epoch in range(2):
            for x in torch.ones(20, 2):
                if w[0] > 0.9:
                    optimizer = later
                optimizer.zero_grad()
                (w - x).square().sum().backward()
                optimizer.step()
    log.refresh()
    assert every_step(log)["step"].tolist() == [*range(1, 41)]


@pytest.mark.parametrize("options", [{}, {"keep_last": 3}], ids=str)
@pytest.mark.parametrize("alone", [0, 5])
@pytest.mark.parametrize("is_shared", [False, True])
def test_two_optimizers_make_one_step_where_no_loop_counts(
    tmp_path: Path, alone: int, is_shared: bool, options: dict[str, int]
) -> None:
    """Where the second comes later, on a loss of its own, nothing tells that it does so in a turn of the first."""
    weights = [torch.ones(2, requires_grad=True) for _ in "ab"]
    first, second = [torch.optim.SGD([weight], 1e-4) for weight in weights]
    left = [*"." * 20]
    with gs.record(tmp_path / "run.gscope", **options):
        while left:
            left.pop()
            loss = weights[0].sum()
            other = weights[1].sum()
            (loss + other if is_shared else loss).backward()
            first.step()
            if len(left) < 20 - alone:
                if not is_shared:
                    other.backward()
                second.step()
    assert step_numbers(load(tmp_path / "run.gscope")).counts.tolist() == [
        *range(1, 21 + (alone > 0 and not is_shared))
    ]


class Outer(torch.optim.Optimizer):
    """An optimizer whose step is that of another one, and something more."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        super().__init__([each for group in inner.param_groups for each in group["params"]], {"lr": 0.1})

    def step(self, closure: Any = None) -> Any:  # type: ignore[override]
        return self.inner.step(closure)


def sharding(parameters: list[Any]) -> Any:
    """Torch's own optimizer that calls another one, in a group of one process."""
    pytest.importorskip("torch.distributed.optim")
    distributed = torch.distributed
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    return distributed.optim.ZeroRedundancyOptimizer(parameters, torch.optim.Adam, lr=0.1)


@pytest.mark.parametrize("count", [1, 9])
@pytest.mark.parametrize("has_closure", [False, True])
@pytest.mark.parametrize("make", [lambda parameters: Outer(torch.optim.SGD(parameters, 0.1)), sharding])
def test_a_step_that_an_optimizer_lets_another_make_is_one(make: Any, has_closure: bool, count: int) -> None:
    weight = torch.nn.Parameter(torch.ones(4))
    made = []

    def passed() -> Any:
        optimizer.zero_grad()
        loss = (weight * 2).square().sum()
        loss.backward()
        return loss

    def train() -> None:
        loss = None if has_closure else passed()
        made.append(weight.detach().clone())
        optimizer.step(passed) if has_closure else optimizer.step()
        del loss

    try:
        optimizer = make([weight])
        with gs.record() as log:
            train()  # the first in no loop, whose counters would tell that both are of one step
            for _ in range(count - 1):
                train()
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    log.refresh()
    assert overview(log).steps == len(made) == count
    assert len(series.norms(log)) == count  # and updates are those of the inner one
    assert not len(training(log).rows("held"))


def test_an_optimizer_need_have_no_hash(tmp_path: Path) -> None:
    class Compared(torch.optim.SGD):
        def __eq__(self, other: object) -> bool:  # such a class has no hash
            return isinstance(other, Compared)

    weight = torch.nn.Parameter(torch.ones(4))
    optimizer = Outer(Compared([weight], 0.1))
    with gs.record() as log:
        for _ in range(5):
            optimizer.zero_grad()
            (weight * 2).square().sum().backward()
            optimizer.step()
    log.refresh()
    assert overview(log).steps == 5
    assert len(series.norms(log)) == 5
