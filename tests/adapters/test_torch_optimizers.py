"""Steps of optimizers: whoever calls them, of whatever parameters, each is told as what it is."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.optim import SGD

import graphscope as gs
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.torch


def told(log: Any) -> list[tuple[str, str]]:
    """Kind and op of each row."""
    log.refresh()
    events = map(log.event, range(log.first, log.end))
    return [(event.kind.name, log.op(event.op).name if event.op else "") for event in events]


def failing(path: Path, early: bool) -> list[tuple[str, str]]:
    """What is recorded where steps raise, with a scheduler made before the recording or in it."""
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = SGD([weight], lr=0.1)
    schedules = [torch.optim.lr_scheduler.StepLR(optimizer, 1)] if early else []

    def train(rate: Any) -> None:
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        (weight * 2).sum().backward()
        optimizer.step()
        schedules[0].step()

    def run() -> None:
        with gs.record(path):
            if not early:
                schedules.append(torch.optim.lr_scheduler.StepLR(optimizer, 1))
            train(0.1)
            with contextlib.suppress(TypeError):
                train("much")
            train(0.1)
            train("much")

    with pytest.raises(TypeError):
        run()
    return told(gs.load(path))


def test_a_scheduler_that_was_there_before_hides_no_step_that_raises(tmp_path: Path) -> None:
    rows = failing(tmp_path / "early.gscope", early=True)
    late = failing(tmp_path / "late.gscope", early=False)
    assert [row for row in rows if row[0] != "CALL"] == [row for row in late if row[0] != "CALL"]
    assert rows.count(("OP", "mul")) == 4
    assert rows.count(("OP", "SGD")) == 2
    assert rows[-1][0] == "EXCEPTION"


def test_parameters_that_come_and_go_are_told_with_their_own_shapes_and_values() -> None:
    made = []

    def train(size: int) -> None:
        layer = torch.nn.Linear(size, 1, bias=False)
        optimizer = SGD(layer.parameters(), lr=0.1)
        layer(torch.ones(2, size)).sum().backward()
        optimizer.step()
        made.append(layer.weight.detach().numpy().copy())

    with gs.record() as log:
        for size in (3, 5, 4, 7, 2, 900, 3, 5000, 8):
            train(size)
    log.refresh()
    events = map(log.event, range(log.first, log.end))
    steps = [event.row for event in events if event.kind is Kind.OP and log.op(event.op).name == "SGD"]
    for row, weight in zip(steps, made, strict=True):
        np.testing.assert_array_equal(log.value(row), weight)


def test_hooks_of_the_program_on_a_step_are_seen() -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = SGD([weight], lr=0.1)

    def before(*_: Any) -> None:
        weight.grad.mul_(2)

    def after(*_: Any) -> None:
        weight.detach().sin()

    optimizer.register_step_pre_hook(before)
    optimizer.register_step_post_hook(after)
    with gs.record() as log:
        (weight * 2).sum().backward()
        optimizer.step()
    ops = [name for kind, name in told(log) if kind in ("OP", "STEP")]
    assert ops == ["mul", "sum", "mul_", "SGD", "detach", "sin", ""]


def test_a_step_of_the_programs_own_is_shown_and_ends_once() -> None:
    class Doubling(SGD):
        def step(self, closure: Any = None) -> Any:
            self.param_groups[0]["params"][0].grad.mul_(2)
            return super().step(closure)

    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = Doubling([weight], lr=0.1)
    with gs.record() as log:
        (weight * 2).sum().backward()
        optimizer.step()
    rows = told(log)
    assert ("OP", "mul_") in rows
    assert rows.count(("STEP", "")) == 1


def test_steps_are_afterwards_what_they_were() -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    torch.optim.Adam([weight])
    step: Any = torch.optim.Adam.step
    inside = [cell.cell_contents for cell in step.__closure__]
    with gs.record():
        assert [cell.cell_contents for cell in step.__closure__] != inside
    assert torch.optim.Adam.step is step
    assert [cell.cell_contents for cell in step.__closure__] == inside


def test_a_step_is_made_of_the_gradient_that_it_finds() -> None:
    clipped, given = (torch.nn.Parameter(torch.ones(3)) for _ in range(2))
    optimizer = SGD([clipped, given], lr=0.1)
    with gs.record() as log:
        (clipped * 2).sum().backward()
        torch.nn.utils.clip_grad_norm_([clipped], 0.5)
        given.grad = torch.ones(3).sin()
        optimizer.step()
        optimizer.zero_grad()
        (clipped * 3).sum().backward()
        optimizer.step()
    log.refresh()
    steps = [node for node in log.graph.nodes if node.op == "SGD"]
    gradients = [node.inputs[1].source for node in steps]
    assert [node.op for node in gradients] == ["_foreach_mul_", "sin", "accumulate"]
    assert np.linalg.norm(gradients[0].value) == pytest.approx(0.5)


class Watched(list[Any]):
    """Parameters; whenever they are gone through, it is noted how many modes see the functions of torch."""

    def __init__(self, parameters: list[Any]) -> None:
        super().__init__(parameters)
        self.modes: list[int] = []

    def __iter__(self) -> Any:
        self.modes.append(torch._C._len_torch_function_stack())
        return super().__iter__()


@pytest.mark.parametrize("raising", [False, True])
def test_torchs_own_steps_run_as_they_do_unrecorded(raising: bool) -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = SGD([weight], lr=0.1)
    parameters = optimizer.param_groups[0]["params"] = Watched([weight])
    with gs.record() as log:
        (weight * 2).sum().backward()
        before = torch._C._len_torch_function_stack()
        optimizer.param_groups[0]["lr"] = "much" if raising else 0.1
        with contextlib.suppress(TypeError):
            optimizer.step()
        assert 0 in parameters.modes
        assert torch._C._len_torch_function_stack() == before == 1
        weight.sin()
    names = [name for _, name in told(log)]
    assert names.count("SGD") == (not raising)
    assert "sin" in names


def test_each_group_is_told_with_its_own_settings_whichever_of_them_change() -> None:
    late, others = torch.nn.Parameter(torch.ones(2)), [torch.nn.Parameter(torch.ones(3)) for _ in range(2)]
    optimizer = SGD([{"params": [others[0], late]}, {"params": [others[1]], "lr": 0.5}], lr=0.25, momentum=0.5)
    rates = [(0.25, 0.5), (0.125, 0.5), (0.125, 0.5), (0.0625, 1.0), (0.25, 0.5)]
    with gs.record() as log:
        for step, (first, second) in enumerate(rates):
            optimizer.zero_grad()
            optimizer.param_groups[0]["lr"], optimizer.param_groups[1]["lr"] = first, second
            optimizer.param_groups[1]["nesterov"] = step > 2
            sum(each.sum() for each in ([late, *others] if step else others)).backward()
            optimizer.step()
    log.refresh()
    events = map(log.event, range(log.first, log.end))
    rows = [event.row for event in events if event.kind is Kind.OP and log.op(event.op).name == "SGD"]
    found = [log.arguments(row).attributes for row in rows]
    counts = [2, *[3] * 4]
    expected = [
        (rate, step > 2 and number == count - 1)
        for step, (count, (first, second)) in enumerate(zip(counts, rates, strict=True))
        for number, rate in enumerate([first] * (count - 1) + [second])
    ]
    assert [(each["lr"], each["nesterov"]) for each in found] == expected
    assert {each["momentum"] for each in found} == {0.5}


def test_a_parameter_of_other_elements_than_before_is_told_as_it_is_now() -> None:
    weight = torch.nn.Parameter(torch.ones(2, 3))
    optimizer = SGD([weight], lr=0.5)
    with gs.record() as log:
        for data in (weight.data, torch.ones(3, 2), torch.ones(6).double(), torch.ones(4, 2).t()):
            weight.data, weight.grad = data, None
            weight.sum().backward()
            optimizer.step()
    log.refresh()
    events = map(log.event, range(log.first, log.end))
    rows = [event for event in events if event.kind is Kind.OP and log.op(event.op).name == "SGD"]
    values = [log.value(event.row) for event in rows]
    assert [(each.shape, str(each.dtype)) for each in values] == [
        ((2, 3), "float32"), ((3, 2), "float32"), ((6,), "float64"), ((2, 4), "float32"),
    ]  # fmt: skip
    assert all((each == 0.5).all() for each in values)
    assert [event.version for event in rows] == sorted({event.version for event in rows})
