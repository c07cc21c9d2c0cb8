"""A loss that is not finite in a step that was left out: it is told, with its step as the program counts it."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")

from graphscope.adapters.torch import compiled
from graphscope.diagnose import Finding, examined
from graphscope.diagnose.runs import Run, read_run
from graphscope.diagnose.values.nonfinite_causes import written_unseen
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.graph import Graph
from graphscope.graph.faults import fault_rows, nonfinite_rows
from graphscope.graph.unrecorded_steps import numbers_in_series, title_in_series

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(compiled.passing is None, reason="Python looks at some steps alone"),
]

BAD = 63


class Setting:
    """What a training does in one step: its loss, its data or its rate are spoilt."""

    def __init__(self, kind: str, rate: float = 0.01) -> None:
        self.kind = kind
        torch.manual_seed(7)
        self.model = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rate)

    def step(self, number: int) -> float:
        x = torch.randn(32, 10)
        y = x.sum(1, keepdim=True)
        if number == BAD and self.kind == "data":
            x[3, 4] = float("nan")
        if number == BAD and self.kind == "rate":
            self.optimizer.param_groups[0]["lr"] = 1e4
        self.optimizer.zero_grad()
        out = self.model(x)
        loss = ((out - y) ** 2).mean()
        if self.kind == "loss":
            loss = loss + 0.01 * torch.full_like(out, float(number != BAD)).log().mean()
        loss.backward()
        self.optimizer.step()
        return float(loss.item())


def losses(setting: Setting) -> Iterator[float]:
    for step in range(120):
        yield setting.step(step)


def recorded(path: Path, kind: str, **options: Any) -> tuple[gs.Log, int]:
    """A flight recording, and the first step whose loss the program has seen to be not finite."""
    with gs.record(path, **{"every": 50, "keep_last": 3, **options}) as log:
        seen = [*losses(Setting(kind))]
    log.refresh()
    return log, next((step for step, loss in enumerate(seen) if not math.isfinite(loss)), -1)


def first(log: gs.Log) -> Finding:
    return examined(Graph(log)).findings[0]


def flattened(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings, and what came of them."""
    for each in findings:
        yield each
        yield from flattened(each.consequences)


def test_a_loss_that_is_not_finite_in_a_left_out_step_alone_is_told(tmp_path: Path) -> None:
    log, step = recorded(tmp_path / "run.gscope", "loss")
    found = first(log)
    assert (found.kind, found.cause, found.step) == ("nan", "left-out step", f"step {step}")
    assert f"was -inf in step {step}" in found.verdict
    assert "one of 50 is recorded" in found.verdict
    assert found.evidence["loss"] == -math.inf
    assert "--keep-last" in found.cure
    assert ".log()" in found.source
    run = read_run((log.path, "run", 1))
    assert isinstance(run, Run)
    assert f"step {step}" in run.nan


@pytest.mark.parametrize("kind", ["data", "rate"])
def test_what_a_recorded_step_shows_is_a_consequence_of_the_left_out_step(tmp_path: Path, kind: str) -> None:
    log, step = recorded(tmp_path / "run.gscope", kind)
    found = first(log)
    assert (found.kind, found.cause, found.step) == ("nan", "left-out step", f"step {step}")
    assert f"in step {step + 1} is a consequence" in found.verdict
    run = read_run((log.path, "run", 1))
    assert isinstance(run, Run)
    assert f"step {step}" in run.nan


def test_a_rate_that_rose_just_ahead_of_a_left_out_birth_is_told(tmp_path: Path) -> None:
    log, _ = recorded(tmp_path / "run.gscope", "rate")
    (found,) = [each for each in examined(Graph(log)).findings if each.kind == "nan"]
    assert f"rate had risen from 0.01 to 10000 in step {BAD}" in found.verdict
    assert (found.evidence["lr before"], found.evidence["lr"]) == (0.01, 1e4)


def test_updates_behind_a_risen_rate_are_told_with_that_rate_and_where_it_was_set(tmp_path: Path) -> None:
    # In a process of its own: of two modules of a program that set a rate, neither is blamed.
    program = f"from {__name__} import *; recorded(Path(sys.argv[1]), 'rate', every=BAD // 3)"
    path = tmp_path / "run.gscope"
    subprocess.run([sys.executable, "-c", program, path], check=True, cwd=Path(__file__).parents[2])
    log = load(path)
    (found,) = [each for each in flattened(examined(Graph(log)).findings) if each.kind == "update_ratio"]
    assert (found.step, found.evidence["lr"]) == (f"step {BAD}", 1e4)
    assert '["lr"] = 1e4' in found.source


@pytest.mark.parametrize("every", [BAD, 50])
@pytest.mark.parametrize("kind", ["data", "loss"])
def test_a_healthy_rate_is_not_blamed_for_what_is_not_finite(tmp_path: Path, kind: str, every: int) -> None:
    log, _ = recorded(tmp_path / "run.gscope", kind, every=every)
    assert {each.kind for each in flattened(examined(Graph(log)).findings)} == {"nan"}


def test_the_summary_tells_of_a_loss_in_a_left_out_step(tmp_path: Path) -> None:
    log, step = recorded(tmp_path / "run.gscope", "loss")
    done = subprocess.run(
        [sys.executable, "-m", "graphscope", "summary", log.path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"-inf in step {step}" in done.stdout.replace("\n", " ")


def test_a_birth_in_a_recorded_step_is_told_as_it_was_recorded(tmp_path: Path) -> None:
    log, step = recorded(tmp_path / "run.gscope", "data", every=BAD)
    found = first(log)
    assert (found.step, found.cause) == (f"step {step}", "data")


def test_a_birth_that_was_recorded_later_has_its_own_finding(tmp_path: Path) -> None:
    """The losses between the two are finite."""
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.01)
    with gs.record(tmp_path / "run.gscope", every=50, keep_last=3) as log:
        for step in range(70):
            optimizer.zero_grad()
            loss = w.square().sum()
            if step == 20:
                loss = loss - torch.zeros(1).log().sum()
            if step == 50:
                loss = loss * torch.tensor(-1.0).sqrt()
            loss.backward()
            optimizer.step()
            w.data.fill_(1.0)
    log.refresh()
    found = [(each.step, each.cause) for each in examined(Graph(log)).findings if each.kind == "nan"]
    assert found[0] == ("step 20", "left-out step")
    assert found[1][0] == "step 50"


def test_what_ends_the_turn_of_a_left_out_step_is_a_consequence_of_its_loss(tmp_path: Path) -> None:
    """As weights are averaged behind the step: there it is recorded first, and not born."""
    w, mean = torch.ones(4, requires_grad=True), torch.ones(4)
    optimizer = torch.optim.SGD([w], 0.01)
    with gs.record(tmp_path / "run.gscope", every=50, keep_last=3) as log:
        for step in range(100):
            optimizer.zero_grad()
            loss = (w * (float("nan") if step == BAD else 1.0)).sum()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                mean.lerp_(w, 0.1)
    log.refresh()
    found = first(log)
    assert (found.cause, found.step) == ("left-out step", f"step {BAD}")
    assert f"the loss of step {BAD} was nan" in found.verdict
    assert "right behind it is a consequence" in found.verdict


def test_a_birth_behind_the_loss_of_a_left_out_step_is_not_told_of_the_next_alone(tmp_path: Path) -> None:
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.01)
    with gs.record(tmp_path / "run.gscope", every=50, keep_last=3) as log:
        for step in range(60):
            optimizer.zero_grad()
            loss = w.square().sum()
            if step == 20:
                loss = loss + 0 * (w - w.detach()).sum().sqrt()  # finite, and its gradient is none
            loss.backward()
            optimizer.step()
    log.refresh()
    found = first(log)
    assert found.step == "step 21"
    told = ("behind the loss of the one before", "The gradients of step 20 were not finite already")
    assert any(each in found.verdict for each in told)
    (written, *_) = log.graph.select("op:changed")
    why = written_unseen(written).why
    assert "the loss of step 21 was the first" in why
    assert "written in step 21" not in why


def test_left_out_steps_that_no_loop_counts_are_called_as_recorded_ones_are(tmp_path: Path) -> None:
    setting = Setting("data")
    with gs.record(tmp_path / "run.gscope", every=50, keep_last=3) as log:
        for step in iter(map(float, range(80))):
            setting.step(int(step))
    log.refresh()
    found = first(log)
    assert found.step == f"step {BAD + 1}"
    assert f"in step {BAD + 2} is a consequence" in found.verdict


def test_what_comes_later_is_not_told_of_an_earlier_moment(tmp_path: Path) -> None:
    log, _ = recorded(tmp_path / "run.gscope", "loss")
    assert examined(Graph(log, first(log).row - 1)).findings == ()


def test_a_healthy_recording_has_no_findings(tmp_path: Path) -> None:
    log, step = recorded(tmp_path / "run.gscope", "none")
    assert step == -1
    assert examined(Graph(log)).findings == ()


def test_left_out_steps_are_called_as_the_loops_of_the_program_count(tmp_path: Path) -> None:
    setting = Setting("none")
    called = []
    with gs.record(tmp_path / "run.gscope", every=7) as log:
        for epoch in range(1, 5):
            for batch in range(15):
                setting.step(0)
                called.append(f"epoch {epoch}, batch {batch}")
    log.refresh()
    counted = numbers_in_series(log)
    assert counted.tolist() == [1, 2, *range(8, 61, 7)]
    told = [title_in_series(log, number) for number in range(1, 61)]
    unsure = [f"training step {number} of all" for number in range(1, 61)]
    assert all(title in (own, other) for title, own, other in zip(told, called, unsure, strict=True))
    assert sum(title == own for title, own in zip(told, called, strict=True)) > 40


@pytest.mark.parametrize("start", [0, 100])
def test_left_out_steps_of_a_loop_are_called_as_it_counts(tmp_path: Path, start: int) -> None:
    setting = Setting("none")
    with gs.record(tmp_path / "run.gscope", every=7) as log:
        for step in range(start, start + 30, 2):
            setting.step(step)
    log.refresh()
    assert [title_in_series(log, number) for number in range(1, 16)] == [
        f"step {step}" for step in range(start, start + 30, 2)
    ]


class Dense(torch.nn.Module):
    """A layer whose weights hold what their memory held until they are initialised."""

    def __init__(self, memory: Any, more: Any) -> None:
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(memory), torch.nn.Parameter(more)
        torch.nn.init.normal_(self.weight, std=0.1)
        torch.nn.init.zeros_(self.bias)

    def forward(self, x: Any) -> Any:
        return x @ self.weight + self.bias


@pytest.mark.parametrize("options", [{}, {"every": 50, "keep_last": 3}])
@pytest.mark.parametrize("bad", [None, 63])
def test_what_memory_held_ahead_of_its_first_use_is_no_fault(
    tmp_path: Path, options: dict[str, int], bad: int | None
) -> None:
    memory, more = torch.full((10, 16), float("nan")), torch.full((16,), float("inf"))
    with gs.record(tmp_path / "run.gscope", **options) as log:
        model = torch.nn.Sequential(Dense(memory, more), torch.nn.Linear(16, 1))
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        for step in range(80):
            x = torch.randn(32, 10)
            if step == bad:
                x[0, 0] = float("nan")
            optimizer.zero_grad()
            (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
            optimizer.step()
    log.refresh()
    graph = Graph(log)
    assert next(fault_rows(graph), log.end) > log.marks(Kind.STEP)[1]
    (found,) = examined(graph).findings if bad else (None,)
    assert found is None or (found.kind, found.step) == ("nan", f"step {bad}")
    assert found is None or "from the beginning" not in found.verdict


def test_a_leaf_that_nobody_has_initialised_is_a_fault(tmp_path: Path) -> None:
    memory = torch.full((4, 4), float("nan"))
    with gs.record(tmp_path / "run.gscope") as log:
        weight = torch.nn.Parameter(memory)
        (torch.ones(2, 4) @ weight).sum().backward()
    log.refresh()
    assert [each.cause for each in examined(Graph(log)).findings] == ["not initialised"]


def by_rows(weight: Any) -> None:
    for row in weight:
        row.zero_()


WRITES: dict[str, Callable[[Any], object]] = {
    "view": lambda weight: weight.view(-1).fill_(0.5),
    "slice": lambda weight: weight[:].zero_(),
    "set": lambda weight: weight.__setitem__(slice(None), 0.5),
    "rows": by_rows,
    "halves": lambda weight: [weight[half].normal_() for half in (slice(0, 2), slice(2, 4))],
    "chunks": lambda weight: [torch.nn.init.xavier_uniform_(each) for each in weight.chunk(2)],
    "data": lambda weight: weight.data.view(-1).normal_(),
    "detached": lambda weight: weight.detach().t().fill_(0.5),
}


@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("writes", WRITES)
def test_memory_that_is_initialised_through_views_is_no_fault(tmp_path: Path, writes: str, values: str) -> None:
    memory = torch.full((4, 4), float("nan"))
    with gs.record(tmp_path / "run.gscope", values=values) as log:
        weight = torch.nn.Parameter(memory)
        with torch.no_grad():
            WRITES[writes](weight)
        assert torch.isfinite(weight).all()
        (torch.ones(2, 4) @ weight).sum().backward()
    log.refresh()
    assert list(nonfinite_rows(log))
    assert list(fault_rows(Graph(log))) == []
    assert examined(Graph(log)).findings == ()


@pytest.mark.parametrize("is_read", [False, True])
def test_memory_that_is_initialised_in_part_or_too_late_is_a_fault(tmp_path: Path, is_read: bool) -> None:
    memory = torch.full((4, 4), float("nan"))
    with gs.record(tmp_path / "run.gscope") as log:
        weight = torch.nn.Parameter(memory)
        with torch.no_grad():
            whole = weight.view(-1)
            taken = whole * 2 if is_read else None
            whole[: 16 if is_read else 15].fill_(0.5)
        (torch.ones(2, 4) @ weight).sum().backward()
    log.refresh()
    assert int(next(fault_rows(Graph(log)))) == next(nonfinite_rows(log))
    assert taken is None or torch.isnan(taken).all()


def test_what_a_left_out_step_has_written_was_finite_at_first(tmp_path: Path) -> None:
    """Losses are not known of a program that steps by itself; the weight is."""
    weight = torch.nn.Parameter(torch.ones(3, 3))
    with gs.record(tmp_path / "run.gscope", every=10) as log:
        for step in range(30):
            if step == 15:
                weight.data.mul_(float("nan"))
            loss = (torch.ones(2, 3) @ weight).sum() if step != 15 else torch.ones(1, requires_grad=True).sum()
            loss.backward()
            gs.step()
    log.refresh()
    (found, *_) = examined(Graph(log)).findings
    assert found.cause == "left-out step"
    assert "initialise" not in found.cure
