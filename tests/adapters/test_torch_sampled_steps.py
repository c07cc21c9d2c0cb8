"""One training step of several is recorded: the others run as bare, and what is told of all is what the program saw."""

from __future__ import annotations

import copy
import ctypes
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.diagnose import examined
from graphscope.eventlog import record as recording
from graphscope.eventlog.sampling import Sampling
from graphscope.eventlog.schema import Kind
from graphscope.graph import Graph
from graphscope.graph.series.every_step import every_step, norms_of_steps
from graphscope.graph.step_numbers import step_numbers

torch = pytest.importorskip("torch")
from graphscope.adapters.torch import compiled  # noqa: E402

pytestmark = pytest.mark.torch

EVERY = 7


def training(steps: int, *, bad: int | None = None, at_end: Callable[[int], None] = lambda step: None) -> Iterator[Any]:
    """A training with dropout, momentum and a decaying rate; gives each loss with the rate it was followed with."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    for step in range(steps):
        x = torch.randn(8, 4)
        if step == bad:
            x[0, 0] = -50.0
        loss = (model(x) * torch.sqrt(x[:, :1] + 40)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        rate = optimizer.param_groups[0]["lr"]
        optimizer.step()
        scheduler.step()
        at_end(step)
        yield loss.item(), rate
    yield [parameter.detach().clone() for parameter in model.parameters()]


@pytest.mark.parametrize(
    "lazy", [torch.ones(2, dtype=torch.complex64).conj(), torch.ones(2, dtype=torch.complex64).conj().imag]
)
def test_all_steps_are_told_of_where_tensors_have_other_elements_than_lie_there(tmp_path: Path, lazy: Any) -> None:
    """Conjugates and negatives: from then on each is asked whether it has the elements that lie in its memory."""
    with gs.record(tmp_path / "run.gscope", every=EVERY) as log:
        lazy.abs().sum()
        *recorded, _ = training(30)
    log.refresh()
    told = every_step(log)
    assert {*told["step"].tolist()} >= ({*range(1, 31)} if compiled.passing else {*range(1, 31, EVERY)})
    assert told["loss"].tolist() == [np.float32(recorded[step - 1][0]) for step in told["step"]]


@pytest.mark.slow
def test_one_step_of_several_is_recorded_whole_and_all_compute_as_bare(tmp_path: Path) -> None:
    *bare, weights = training(50)
    with gs.record(tmp_path / "run.gscope", every=EVERY) as log:
        *recorded, found = training(50)
    log.refresh()
    assert recorded == bare
    assert all(torch.equal(one, other) for one, other in zip(found, weights, strict=True))

    numbers = step_numbers(log)
    assert [numbers.number(place).counters["step"] for place in range(len(numbers))] == [0, 1, *range(7, 50, 7)]
    losses = [log.value(int(row)) for row in np.flatnonzero(log.column("kind") == Kind.OP) if _is_loss(log, int(row))]
    assert [float(each) for each in losses] == [np.float32(bare[step][0]) for step in (0, 1, *range(7, 50, 7))]

    told = every_step(log)
    if compiled.passing is None:  # then steps as short as these are not all looked at
        assert {*told["step"].tolist()} >= {*range(1, 51, EVERY)}
    else:
        assert told["step"].tolist() == [*range(1, 51)]
    assert (np.diff(told["time"]) > 0).all()
    assert told["loss"].tolist() == [np.float32(bare[step - 1][0]) for step in told["step"]]
    assert told["rate"].tolist() == [bare[step - 1][1] for step in told["step"]]
    assert examined(Graph(log)).findings == ()


@pytest.mark.parametrize("rate", [1, 0.5, np.float64(0.25), torch.tensor(0.125)])
def test_the_rates_of_steps_that_are_left_out_are_those_of_the_optimizer(tmp_path: Path, rate: Any) -> None:
    w = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], rate)
    with gs.record(tmp_path / "run.gscope", every=1000) as log:
        for _ in range(40):
            optimizer.zero_grad()
            (w - 1).square().sum().backward()
            optimizer.step()
    log.refresh()
    told = every_step(log)
    assert set(told["rate"].tolist()) == {float(rate)}
    if not isinstance(rate, torch.Tensor) and compiled.passing is not None:
        assert told["step"].tolist() == [*range(1, 41)]


def _is_loss(log: Any, row: int) -> bool:
    return log.op(log.event(row).op).name == "mean"


def test_in_a_step_that_is_left_out_functions_of_torch_are_as_they_were(tmp_path: Path) -> None:
    def looks() -> list[Any]:
        return [torch.from_numpy, torch.set_num_threads, torch.nn.utils.clip_grad_norm_,
                torch._C._len_torch_function_stack()]  # fmt: skip

    before, seen = looks(), {}
    with gs.record(tmp_path / "run.gscope", every=EVERY):
        for _ in training(2 * EVERY, at_end=lambda step: seen.__setitem__(step + 1, looks())):
            pass
    left_out = [step for step in seen if step > 1 and step % EVERY]

    assert all(seen[step] == before for step in left_out)
    assert all(seen[step][-1] == 1 and seen[step] != before for step in seen if step not in left_out)


_VERSION_AT = 384
"""Where CPython keeps the version of a class: `tp_version_tag` of `PyTypeObject`, on systems of 64 bits."""


@pytest.mark.skipif(sys.implementation.name != "cpython" or sys.maxsize < 1 << 32, reason="of CPython with 64 bits")
def test_what_python_has_looked_up_in_classes_of_torch_holds_all_along(tmp_path: Path) -> None:
    """A class that is changed 1,000 times has no more versions from Python 3.13 on, and is slow for good."""
    classes = (torch.Tensor, torch.nn.Parameter, torch.nn.Module, torch.nn.Linear, torch.optim.SGD)

    def versions() -> list[int]:
        return [ctypes.c_uint.from_address(id(each) + _VERSION_AT).value for each in classes]

    seen: list[list[int]] = []
    with gs.record(tmp_path / "run.gscope", every=2):
        [*_] = training(40, at_end=lambda step: seen.append(versions()))
    assert 0 not in seen[-1]
    assert seen[10:] == seen[-1:] * 30


CALLED = """\
import json, sys
import numpy as np
import torch
import graphscope as gs
from graphscope.eventlog.schema import Kind

def looks():
    return torch.nn.Module.__call__, torch.Tensor.backward, torch.autograd.Function.__dict__["apply"]

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
x, before, found = torch.ones(2, 4), looks(), {}
optimizer = torch.optim.SGD(model.parameters(), 0.1)
with gs.record(sys.argv[1], every=10) as log:
    for step in range(25):
        if step == 5:
            exported = torch.export.export(model, (x,)).module()
            found["exported"] = torch.equal(exported(x), model(x))
            found["ours"] = looks() != before
        if step == 15:
            fast = torch.compile(model, backend="eager", fullgraph=True)
            found["compiled"] = torch.equal(fast(x), model(x))
            found["theirs"] = looks() == before
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    found["at the end"] = looks() == before
log.refresh()
ops = [int(row) for row in np.flatnonzero(log.column("kind") == Kind.OP)]
found["losses"] = [log.op(log.event(row).op).name for row in ops].count("sum")
print(json.dumps(found))
"""


@pytest.mark.slow
def test_what_is_compiled_or_exported_in_a_step_that_is_left_out_meets_nothing_of_ours(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(CALLED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program, tmp_path / "run.gscope"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == dict.fromkeys(("exported", "ours", "compiled", "theirs", "at the end"), True) | {"losses": 4}


def test_modes_of_the_program_end_where_they_should(tmp_path: Path) -> None:
    class Counting(torch.overrides.TorchFunctionMode):
        count = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            Counting.count += 1
            return function(*args, **kwargs or {})

    with Counting():
        [*_] = training(20)
    bare, Counting.count = Counting.count, 0
    with gs.record(tmp_path / "run.gscope", every=3), Counting():
        [*_] = training(20)
    assert Counting.count == bare
    before = Counting.count
    torch.ones(2) + 1
    assert Counting.count == before
    assert torch._C._len_torch_function_stack() == 0


@pytest.mark.slow
@pytest.mark.parametrize("bad", [3, 4, 150, 700])
def test_a_nan_is_met_in_the_very_step_that_makes_it(tmp_path: Path, bad: int) -> None:
    with gs.record(tmp_path / "run.gscope", every=10_000, keep_last=3) as log:
        *computed, _ = training(bad + 20, bad=bad)
    log.refresh()
    numbers = step_numbers(log)
    steps = [numbers.number(place).counters["step"] for place in range(len(numbers))]
    assert steps == [0, 1, bad + 1, bad + 2, bad + 3]
    told = every_step(log)
    assert np.array_equal(told["loss"], [np.float32(computed[step - 1][0]) for step in told["step"]], equal_nan=True)
    assert np.isnan(told["loss"][told["step"] == bad + 1]).all()


@pytest.mark.skipif(compiled.passing is None, reason="Python looks at some steps alone")
def test_a_nan_is_met_again_when_losses_were_finite_in_between(tmp_path: Path) -> None:
    bad = {*range(40, 60), *range(300, 310)}
    w = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.1)
    with gs.record(tmp_path / "run.gscope", every=10_000, keep_last=3) as log:
        for step in range(400):
            optimizer.zero_grad()
            ((w - 1).square().sum() * (torch.nan if step in bad else 1)).backward()
            optimizer.step()
            w.data.zero_()
    log.refresh()
    numbers = step_numbers(log)
    steps = [numbers.number(place).counters["step"] for place in range(len(numbers))]
    assert steps == [0, 1, 41, 42, 43, 301, 302, 303]
    told = every_step(log)
    assert told["step"].tolist() == [*range(1, 401)]
    assert {*told["step"][np.isnan(told["loss"])].tolist()} == {step + 1 for step in bad}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"keep_last": 5}, {"keep_last": 5, "every": 1}])
def test_the_first_nan_and_what_was_before_it_are_held(tmp_path: Path, options: dict[str, int]) -> None:
    with gs.record(tmp_path / "run.gscope", **options) as log:
        [*_] = training(1500, bad=400)
    log.refresh()
    assert log.first > 0
    (finding, *_) = examined(Graph(log)).findings
    assert finding.kind == "nan"
    assert "sqrt" in finding.verdict
    kept = {number.counters["step"] for number in map(step_numbers(log).number, range(len(step_numbers(log))))}
    assert kept >= {*range(396, 406), *range(1496, 1500)}
    assert len(kept) < 800


@pytest.mark.slow
def test_a_nan_is_met_however_many_rows_it_makes_on_the_way_back(tmp_path: Path) -> None:
    """Between the loss and the end of the step lie the rows of a hundred layers, all of them not finite."""
    layers = [torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh()) for _ in range(100)]
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    with gs.record(tmp_path / "run.gscope", keep_last=2) as log:
        for step in range(100):
            x = torch.ones(3, 2) * (float("nan") if step == 20 else 1.0)
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    log.refresh()
    kept = {number.counters["step"] for number in map(step_numbers(log).number, range(len(step_numbers(log))))}
    assert kept >= {19, 20, 21, 99}
    told = every_step(log)
    assert np.isnan(told["loss"][told["step"] == 50]).all()
    assert told["has_loss"].all()


@pytest.mark.slow
def test_a_nan_from_a_step_that_was_left_out_is_no_fault_of_what_meets_it(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", every=100) as log:
        [*_] = training(300, bad=150)
    log.refresh()
    (finding, *_) = examined(Graph(log)).findings
    assert finding.kind == "nan"
    assert finding.cause == "left-out step"
    assert "one of 100 is recorded" in finding.verdict


class Plain(torch.overrides.TorchFunctionMode):
    """A mode of the program's that changes nothing."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **kwargs or {})


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["none", "summary"])
@pytest.mark.parametrize("every", [1, 50])
def test_the_steps_behind_something_remarkable_are_recorded_in_full(tmp_path: Path, policy: str, every: int) -> None:
    seen: dict[int, list[Any]] = {}

    def ask(step: int) -> None:
        if step == 120 and recording.going() is not None:
            os.kill(os.getpid(), signal.SIGUSR1)

    def wide() -> Iterator[Any]:
        torch.manual_seed(0)
        layer = torch.nn.Linear(64, 64)
        optimizer = torch.optim.SGD(layer.parameters(), 1e-3)
        for step in range(300):
            x = torch.randn(32, 64)
            hidden = layer(x).tanh()
            loss = hidden.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ask(step)
            seen[step] = [hidden.detach().clone(), layer.weight.grad.clone()]
            yield loss.item()

    bare = [*wide()]
    options: dict[str, Any] = {"values": policy, "every": every, "keep_last": 4}
    with gs.record(tmp_path / "run.gscope", **options) as log, Plain():
        assert [*wide()] == bare
    log.refresh()
    assert torch._C._len_torch_function_stack() == 0
    held = {}
    for row in np.flatnonzero(log.column("kind") == Kind.OP) + log.first:
        if log.op(log.event(row).op).name == "tanh" and (value := log.value(row)) is not None:
            (step,) = [step for step, (hidden, _) in seen.items() if np.array_equal(hidden.numpy(), value)]
            held[step] = row
    assert [*held] == [122, 123, 124, 125]
    gradients = [log.value(row) for row in np.flatnonzero(log.column("kind") == Kind.ACCUMULATE) + log.first]
    for step in held:
        assert any(each is not None and np.array_equal(each, seen[step][1].numpy()) for each in gradients)


def test_a_request_while_it_is_decided_how_long_to_rest_is_heard(tmp_path: Path, monkeypatch) -> None:
    rest, asked = Sampling.rest, []

    def asks(sampling: Sampling, time: int) -> None:
        if not asked:
            asked.append(sampling.ended)
            sampling.remark()  # as a signal does, and then the rest is set that was decided before
        rest(sampling, time)

    monkeypatch.setattr(Sampling, "rest", asks)
    with gs.record(tmp_path / "run.gscope", every=100, keep_last=3) as log:
        [*_] = training(60)
    log.refresh()
    numbers = step_numbers(log)
    assert [numbers.number(place).counters["step"] for place in range(len(numbers))] == [
        0,
        1,
        *range(asked[0] + 1, asked[0] + 4),
    ]


def test_a_signal_asks_for_the_next_steps(tmp_path: Path) -> None:
    def ask(step: int) -> None:
        if step == 20:
            os.kill(os.getpid(), signal.SIGUSR1)

    with gs.record(tmp_path / "run.gscope", every=100, keep_last=3) as log:
        [*_] = training(60, at_end=ask)
    log.refresh()
    numbers = step_numbers(log)
    assert [numbers.number(place).counters["step"] for place in range(len(numbers))] == [0, 1, 22, 23, 24]
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL


def test_what_ends_the_program_in_a_step_that_is_left_out_is_told(tmp_path: Path) -> None:
    def fail(step: int) -> None:
        if step == 10:
            raise ValueError("no more data")

    with pytest.raises(ValueError, match="no more data"), gs.record(tmp_path / "run.gscope", every=EVERY) as log:
        [*_] = training(60, at_end=fail)
    log.refresh()
    (row,) = np.flatnonzero(log.column("kind") == Kind.EXCEPTION)
    assert log.attrs(log.event(int(row)).attrs)["text"] == "no more data"
    (found,) = [each for each in examined(Graph(log)).findings if each.kind == "raised"]
    assert found.cure.startswith("its step was left out")
    [*_] = training(3)  # nothing of ours is left


@pytest.mark.parametrize(("bad", "told"), [(2 * EVERY, "all that ran"), (2 * EVERY + 2, "its step was left out")])
def test_what_ends_a_loop_where_the_recording_begins_is_told_with_its_step(tmp_path: Path, bad: int, told: str) -> None:
    """The frame of the loop is at the end of the `with` when the recording is told."""
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], 1e-2)

    def train() -> None:
        with gs.record(tmp_path / "run.gscope", every=EVERY):
            for step in range(30):
                loss = w.square().sum()
                if step == bad:
                    raise ValueError("here")
                loss.backward()
                optimizer.step()

    with pytest.raises(ValueError, match="here"):
        train()
    log = gs.load(tmp_path / "run.gscope")
    (found,) = [each for each in examined(Graph(log)).findings if each.kind == "raised"]
    assert found.step == f"step {bad}"
    assert found.cure.startswith(told)
    gs.export(log, tmp_path / "step.svg")  # of a step that has nodes
    assert "square" in (tmp_path / "step.svg").read_text()


def adversaries(steps: int, *, bad: int | None = None, alone_from: int | None = None) -> list[tuple[float, float]]:
    """The losses of two models that train against each other, each with an optimizer and a rate of its own.

    Args:
        bad: In this step the loss of the first is NaN.
        alone_from: From this step on the first trains alone.
    """
    torch.manual_seed(0)
    makes, judges = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
    first, second = torch.optim.Adam(judges.parameters(), 2e-3), torch.optim.Adam(makes.parameters(), 1e-3)
    found = []
    for step in range(steps):
        z = torch.randn(8, 2)
        wrong = (judges(makes(z).detach()) - judges(torch.randn(8, 4))).mean()
        if step == bad:
            wrong = wrong * float("nan")
        first.zero_grad()
        wrong.backward()
        first.step()
        if alone_from is not None and step >= alone_from:
            found.append((wrong.item(), 0.0))
            continue
        right = -judges(makes(z)).mean()
        second.zero_grad()
        right.backward()
        second.step()
        found.append((wrong.item(), right.item()))
    return found


@pytest.mark.slow
def test_of_two_optimizers_a_step_of_each_is_recorded(tmp_path: Path) -> None:
    bare = adversaries(40)
    with gs.record(tmp_path / "run.gscope", every=5) as log:
        assert adversaries(40) == bare
    log.refresh()
    ops = [log.op(log.event(int(row)).op).name for row in np.flatnonzero(log.column("kind") == Kind.OP)]
    assert ops.count("detach") == ops.count("neg") == 9  # of each iteration the whole
    assert examined(Graph(log)).findings == ()


@pytest.mark.parametrize("every", [1, 7, 1000])
def test_a_training_step_of_two_optimizers_has_the_loss_and_the_rate_of_the_second(tmp_path: Path, every: int) -> None:
    with gs.record(tmp_path / "run.gscope", every=every, keep_last=2) as log:
        computed = np.float32(adversaries(60))
    log.refresh()
    told = every_step(log)
    steps = told["step"].tolist()
    assert steps == sorted({*steps})
    assert {1, 2} <= {*steps} <= {*range(1, 61)}
    if compiled.passing is not None:
        assert steps == [*range(1, 61)]
    assert [(row["loss"], row["rate"]) for row in told] == [(computed[step - 1, 1], 1e-3) for step in steps]


@pytest.mark.parametrize("bad", [3, 40])
def test_a_nan_of_the_first_of_two_optimizers_is_met_in_its_step(tmp_path: Path, bad: int) -> None:
    with gs.record(tmp_path / "run.gscope", every=10_000, keep_last=3) as log:
        adversaries(bad + 20, bad=bad)
    log.refresh()
    counters = [step_numbers(log).number(place).counters["step"] for place in range(len(step_numbers(log)))]
    if compiled.passing is not None:
        assert counters == [0, 1, bad + 1, bad + 2, bad + 3]


def test_where_the_second_optimizer_stops_the_steps_of_the_first_are_counted(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", every=1000, keep_last=2) as log:
        computed = np.float32(adversaries(200, alone_from=20))
    log.refresh()
    told = every_step(log)
    alone = told[told["rate"] == 2e-3]
    assert np.isin(alone["loss"][np.isfinite(alone["loss"])], computed[20:, 0]).all()  # NaN where none was looked at
    if compiled.passing is not None:  # else steps as short as these are not all looked at
        assert told["step"][-1] > 20 + 200 - 20 - 32 - 2
        assert alone["step"][-1] == told["step"][-1]
        assert alone["loss"][-1] in computed[-20:, 0]


def test_where_other_threads_compute_all_steps_are_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def train(number: int, found: dict[int, float]) -> None:
        model = models[number]
        optimizer, generator = torch.optim.SGD(model.parameters(), 0.01), torch.Generator().manual_seed(number)
        for _ in range(20):
            optimizer.zero_grad()
            loss = model(torch.randn(8, 4, generator=generator)).square().mean()
            loss.backward()
            optimizer.step()
            meeting.wait(60)
        found[number] = loss.item()

    def run() -> dict[int, float]:
        found: dict[int, float] = {}
        threads = [threading.Thread(target=train, args=(number, found)) for number in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return found

    meeting = threading.Barrier(2)
    models = [torch.nn.Linear(4, 1) for _ in range(2)]
    first = copy.deepcopy(models)
    bare, models = run(), first
    with gs.record(tmp_path / "run.gscope", every=4) as log:
        assert run() == bare
    assert capsys.readouterr().err.count("all steps are recorded while another thread is alive") == 1
    log.refresh()
    squares = [
        row for row in np.flatnonzero(log.column("kind") == Kind.OP) if log.op(log.event(int(row)).op).name == "square"
    ]
    assert len(squares) == 40


@pytest.mark.slow
def test_a_fault_of_ours_in_a_step_that_is_left_out_ends_the_recording_once(tmp_path: Path) -> None:
    def break_it(step: int) -> None:
        if step == 9:
            recording.going().series._steps._map.memory.close()

    before, bare = torch.autograd.graph._engine_run_backward, [*training(60)][:-1]
    said = pytest.warns(RuntimeWarning, match="recording PyTorch ended .* the program goes on unrecorded")
    with gs.record(tmp_path / "run.gscope", every=EVERY), said as told:
        assert [*training(60, at_end=break_it)][:-1] == bare
    assert len(told) == 1
    assert torch.autograd.graph._engine_run_backward is before
    assert torch._C._len_torch_function_stack() == 0


def test_a_program_without_steps_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphscope.adapters._told", set())  # once a process, and another test may have met it
    with gs.record(tmp_path / "run.gscope", every=5) as log:
        torch.ones(2, requires_grad=True).sum().backward()
    log.refresh()
    assert len(log) > 2
    assert "all was recorded: no optimizer made a step" in capsys.readouterr().err


def test_our_own_engine_leaves_steps_out_as_well(tmp_path: Path) -> None:
    def losses() -> list[float]:
        weight = gs.tensor([1.0, -2.0], requires_grad=True)
        optimizer, found = gs.optim.SGD([weight], lr=0.01), []
        for _ in range(20):
            optimizer.zero_grad()
            loss = (weight * weight).sum()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    bare = losses()
    with gs.record(tmp_path / "run.gscope", every=EVERY) as log:
        assert losses() == bare
    log.refresh()
    assert len(step_numbers(log)) == 4
    told = every_step(log)
    assert {*told["step"].tolist()} >= {1, 8, 15}
    assert told["loss"].tolist() == [bare[step - 1] for step in told["step"]]


@pytest.mark.parametrize("bad", [1500, 1501])
def test_a_nan_of_our_own_engine_is_met_in_its_step_and_is_no_loss_of_the_next_ones(tmp_path: Path, bad: int) -> None:
    weight = gs.tensor([1.0, -2.0], requires_grad=True)
    optimizer = gs.optim.SGD([weight], lr=1e-5)
    with gs.record(tmp_path / "run.gscope", every=100_000, keep_last=3) as log:
        for step in range(2000):
            loss = (weight * weight).sum()
            (loss * math.nan if step == bad else loss).backward()
            optimizer.zero_grad()
            optimizer.step()
    log.refresh()
    told = every_step(log)
    assert told["step"][np.isnan(told["loss"])].tolist() == [bad + 1]
    assert step_numbers(log).counts.tolist() == [1, 2, bad + 2, bad + 3, bad + 4]


@pytest.mark.slow
def test_norms_of_gradients_are_those_that_torch_tells_also_of_steps_that_are_left_out(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 1))
    frozen = model[0].bias.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    norms = []
    with gs.record(tmp_path / "run.gscope", every=50) as log:
        for _ in range(400):
            optimizer.zero_grad()
            model(torch.randn(512, 64)).square().mean().backward()
            optimizer.step()
            norms.append(
                float(torch.nn.utils.get_total_norm([each.grad for each in model.parameters() if each is not frozen]))
            )
    told = norms_of_steps(log)
    left_out = [step for step in told["step"].tolist() if (step - 1) % 50 and step > 2]
    assert left_out
    assert told["norm"] == pytest.approx([norms[step - 1] for step in told["step"]], rel=1e-5)


@pytest.mark.parametrize(
    "odd", [(math.inf, 1.0), (-math.inf, math.inf), (math.nan, 1.0), (math.nan, math.inf)], ids=str
)
def test_norms_that_are_not_finite_are_those_of_torch(odd: tuple[float, float], tmp_path: Path) -> None:
    weight = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.0)
    with gs.record(tmp_path / "run.gscope", every=5) as log:
        for _ in range(5):
            optimizer.zero_grad()
            (weight * torch.tensor(odd)).sum().backward()
            optimizer.step()
    wanted = float(torch.nn.utils.get_total_norm([torch.tensor(odd)]))
    told = norms_of_steps(log)["norm"]
    assert len(told)
    np.testing.assert_array_equal(told, wanted)


def test_norms_of_our_own_engine(tmp_path: Path) -> None:
    weight = gs.tensor([3.0, 4.0], requires_grad=True)
    optimizer = gs.optim.SGD([weight], lr=0.0)
    with gs.record(tmp_path / "run.gscope", every=5) as log:
        for _ in range(20):
            optimizer.zero_grad()
            (weight * weight).sum().backward()
            optimizer.step()
    assert {*norms_of_steps(log)["norm"].tolist()} == {10.0}


@pytest.mark.skipif(compiled.passing is None, reason="Python looks at some steps alone")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_losses_of_half_precision_are_those_of_the_program_in_each_step(tmp_path: Path, dtype: Any) -> None:
    torch.manual_seed(0)
    w = torch.ones(4, dtype=dtype, requires_grad=True)
    optimizer, seen = torch.optim.SGD([w], 1e-2), []
    with gs.record(tmp_path / "run.gscope", every=10) as log:
        for _step in range(50):
            optimizer.zero_grad()
            loss = (w * torch.randn(4).to(dtype)).square().sum()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
    log.refresh()
    series = every_step(log)
    assert series["step"].tolist() == [*range(1, 51)]
    assert series["loss"].tolist() == seen


@pytest.mark.skipif(compiled.passing is None, reason="Python looks at some steps alone")
@pytest.mark.parametrize("bad", [13, 31])
def test_a_nan_in_one_of_several_losses_whose_gradients_are_added_up_is_met_in_its_step(
    tmp_path: Path, bad: int
) -> None:
    w = torch.ones(4, requires_grad=True)
    optimizer = torch.optim.SGD([w], 1e-2)
    with gs.record(tmp_path / "run.gscope", every=10, keep_last=3) as log:
        for step in range(1, 60):
            optimizer.zero_grad()
            for part in range(4):
                loss = w.square().sum()
                (loss * torch.tensor(float("nan") if (step, part) == (bad, 1) else 1.0)).backward()
            optimizer.step()
            if step == bad:
                with torch.no_grad():
                    w.fill_(1.0)
    log.refresh()
    series = every_step(log)
    assert series["step"][~np.isfinite(series["loss"])].tolist() == [bad]
    assert {bad + 1, bad + 2, bad + 3} <= set(step_numbers(log).counts.tolist())


def test_a_nan_in_a_part_of_a_batch_is_met_in_its_step_however_many_rows_the_other_parts_make(tmp_path: Path) -> None:
    model = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(40)])
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    with gs.record(tmp_path / "run.gscope", every=10) as log:
        for step in range(1, 15):
            optimizer.zero_grad()
            for part in range(3):
                loss = model(torch.ones(3, 2)).sum()
                (loss * float("nan") if (step, part) == (11, 0) else loss).backward()
            if step == 11:
                optimizer.zero_grad()
            optimizer.step()
    log.refresh()
    series = every_step(log)
    assert series["step"][np.isnan(series["loss"])].tolist() == [11]
    assert {12, 13} <= set(step_numbers(log).counts.tolist())


@pytest.mark.skipif(compiled.passing is None, reason="Python looks at some steps alone")
def test_the_end_of_nans_is_met_also_where_rates_are_no_plain_numbers(tmp_path: Path) -> None:
    w = torch.ones(4, requires_grad=True)
    optimizer = torch.optim.SGD([w], torch.tensor(1e-5))
    with gs.record(tmp_path / "run.gscope", every=100_000) as log:
        for step in range(1, 901):
            optimizer.zero_grad()
            (w.square().sum() * (math.nan if 300 <= step < 600 else 1.0)).backward()
            if 300 <= step < 600:
                optimizer.zero_grad()
            optimizer.step()
    log.refresh()
    series = every_step(log)
    is_bad = (series["step"] >= 300) & (series["step"] < 600)
    assert np.isnan(series["loss"]).tolist() == is_bad.tolist()
    assert {300, 600} <= {*series["step"].tolist()}


def test_what_begins_from_several_numbers_has_no_loss(tmp_path: Path) -> None:
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], 1e-2)
    with gs.record(tmp_path / "run.gscope", every=2) as log:
        for _step in range(10):
            optimizer.zero_grad()
            (w * 2).backward(torch.ones(2))
            optimizer.step()
    log.refresh()
    assert not every_step(log)["has_loss"].any()


@pytest.mark.parametrize("every", [1, 10])
def test_a_loss_whose_gradients_the_program_did_not_take_is_that_of_no_step(tmp_path: Path, every: int) -> None:
    torch.manual_seed(0)
    w = torch.ones(4, requires_grad=True)
    optimizer, seen = torch.optim.SGD([w], 1e-2), []
    with gs.record(tmp_path / "run.gscope", every=every, keep_last=3) as log:
        for turn in range(60):
            optimizer.zero_grad()
            loss = (w * torch.randn(4)).square().sum() * (math.nan if turn in (5, 20, 33, 41) else 1.0)
            loss.backward()
            if torch.nn.utils.clip_grad_norm_([w], 1.0).isfinite():
                optimizer.step()
                seen.append(loss.item())
    log.refresh()
    assert every_step(log)["loss"].tolist() == seen
