"""Calls that are no ops and decide how a program trains are marks of its log, at every policy of values."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn
from torch.nn.utils import clip_grad_norm_

import graphscope as gs
from graphscope.graph.training import Training, training

pytestmark = pytest.mark.torch


def read(program: Callable[[], object], **options: Any) -> Training:
    """What the log of a program says."""
    with gs.record(**options) as log:
        program()
    log.refresh()
    return training(log)


def line_of(training: Training, site: int) -> str:
    """The text of the line of a site."""
    file, line = training.place(site)
    return Path(file).read_text().splitlines()[line - 1].strip()


def order(training: Training) -> list[str]:
    """The names of all marks, with the backward passes among them."""
    marks = [(call.row, call.name) for call in training.calls(*CALLED)]
    return [name for _, name in sorted(marks + [(row, "backward") for row in training.backward_begins.tolist()])]


CALLED = (
    "optimizer", "scheduler", "zero_grad", "step", "scheduler.step", "clip_grad_norm_", "clip_grad_value_", "train",
    "eval", "scaler.scale", "scaler.unscale_", "scaler.step", "scaler.update", "load_state_dict",
)  # fmt: skip


@pytest.mark.parametrize("values", ["full", "summary", "none"])
@pytest.mark.parametrize("to_none", [True, False])
def test_a_training_loop_is_told(values: str, to_none: bool) -> None:
    def program() -> None:
        net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.Linear(4, 1))
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.5, weight_decay=0.25)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for _ in range(2):
            optimizer.zero_grad(set_to_none=to_none)
            net(torch.ones(2, 3)).sum().backward()
            clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        net.eval()
        net.eval()

    found = read(program, values=values)
    loop = ["zero_grad", "backward", "clip_grad_norm_", "step", "scheduler.step"]
    assert order(found) == ["optimizer", "scheduler", *loop, *loop, "eval"]
    (optimizer,), (scheduler,), (module,) = (
        found.optimizers.values(), found.schedulers.values(), found.modules.values(),
    )  # fmt: skip
    assert optimizer.type == "AdamW"
    assert optimizer.groups[0].settings["weight_decay"] == 0.25
    assert line_of(found, optimizer.site).startswith("optimizer = ")
    assert sorted(map(found.name, optimizer.tensors)) == ["0.bias", "0.weight", "2.bias", "2.weight"]
    assert (scheduler.type, scheduler.optimizer) == ("StepLR", optimizer.number)
    assert found.rates(found.rows("step")).tolist() == [[0.5], [0.25]]
    assert set(module.parameters.values()) == optimizer.tensors
    assert line_of(found, found.calls("clip_grad_norm_")[0].site).startswith("clip_grad_norm_(")
    assert line_of(found, found.calls("eval")[0].site) == "net.eval()"


def test_an_optimizer_of_before_the_recording_is_told_when_it_steps() -> None:
    weight, other = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight, other], lr=0.1)

    def program() -> None:
        (weight * 2).sum().backward()
        optimizer.step()

    (found,) = read(program).optimizers.values()
    assert (found.site, found.is_told, len(found.tensors)) == (0, True, 2)


def test_an_optimizer_of_the_programs_own_is_told_with_the_line_that_made_it() -> None:
    class Plain(torch.optim.Optimizer):
        def __init__(self, parameters: Any, lr: float) -> None:
            super().__init__(parameters, {"lr": lr})

        def step(self, closure: Any = None) -> None:
            with torch.no_grad():
                for each in self.param_groups[0]["params"]:
                    each -= self.param_groups[0]["lr"] * each.grad

    def program() -> None:
        weight = nn.Parameter(torch.ones(2))
        optimizer = Plain([weight], lr=0.5)
        optimizer.zero_grad()
        (weight * 2).sum().backward()
        optimizer.step()

    found = read(program)
    (optimizer,) = found.optimizers.values()
    assert optimizer.type.endswith("Plain")
    assert line_of(found, optimizer.site) == "optimizer = Plain([weight], lr=0.5)"
    assert order(found) == ["optimizer", "zero_grad", "backward", "step"]
    assert found.rates(found.rows("step"))[0].tolist() == [0.5]


@pytest.mark.slow
def test_a_scaler_tells_of_steps_that_it_skipped() -> None:
    def program() -> None:
        weight = nn.Parameter(torch.ones(2))
        optimizer = torch.optim.SGD([weight], lr=0.5)
        scaler = torch.amp.GradScaler("cpu")
        for factor in (1.0, float("inf")):
            optimizer.zero_grad()
            scaler.scale((weight * factor).sum()).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()

    found = read(program)
    assert [call.facts["skipped"] for call in found.calls("scaler.step")] == [False, True]
    assert len(found.rows("step")) == 1
    assert order(found).count("scaler.unscale_") == 2


def test_what_a_module_does_not_know_of_is_told() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.unused = nn.Linear(2, 2)
            self.blocks = [nn.Linear(2, 2)]
            self.scale = {"all": torch.ones(2, requires_grad=True)}
            self.plain = torch.ones(2)
            self.first.bias.requires_grad_(False)

        def forward(self, x: Any) -> Any:
            return self.blocks[0](self.first(x)) * self.scale["all"]

    def program() -> None:
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()

    found = read(program)
    net = next(each for each in found.modules.values() if each.type.endswith("Net"))
    held = {each.attribute: set(each.parameters) for each in net.unregistered}
    assert held == {"blocks": {"blocks[0].weight", "blocks[0].bias"}, "scale": {"scale['all']"}}
    assert net.frozen == {"first.bias"}
    ((name, (value, site)),) = net.told.items()
    assert (name, value, line_of(found, site)) == ("first.bias", False, "self.first.bias.requires_grad_(False)")
    assert net.classes[net.type][0] == __file__


def test_objects_go_as_they_do_unrecorded() -> None:
    with gs.record():
        net = nn.Sequential(nn.Linear(2, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net(torch.ones(1, 2)).sum().backward()
        references = weakref.ref(net), weakref.ref(optimizer)
        optimizer.zero_grad()
        del net, optimizer
        gc.collect()
        assert [each() for each in references] == [None, None]


def test_more_learning_rates_than_a_row_has_room_for() -> None:
    def program() -> None:
        weights = [nn.Parameter(torch.ones(1)) for _ in range(5)]
        groups = [{"params": [each], "lr": 0.5**place} for place, each in enumerate(weights)]
        optimizer = torch.optim.SGD(groups)
        sum(weights).backward()
        optimizer.step()

    found = read(program)
    assert found.rates(found.rows("step"))[0].tolist() == [1.0, 0.5, 0.25, 0.125, 0.0625]


def test_a_generator_of_parameters_is_clipped() -> None:
    def program() -> None:
        weight = nn.Parameter(torch.ones(4))
        (weight * 3).sum().backward()
        assert torch.nn.utils.clip_grad_norm_((each for each in [weight]), max_norm=1.0) == 6
        assert float(weight.grad.norm()) == pytest.approx(1)

    (call,) = read(program).calls("clip_grad_norm_")
    assert call.facts["limit"] == 1.0
    assert len(call.facts["tensors"]) == 1


def test_a_log_without_marks_says_nothing() -> None:
    found = read(lambda: gs.ones(2) + 1)
    assert (found.optimizers, found.modules, found.calls(*CALLED)) == ({}, {}, [])


def test_an_array_that_is_taken_over_stands_at_the_line_that_did(tmp_path: Path) -> None:
    def taken() -> torch.Tensor:
        return torch.from_numpy(array)

    array = np.zeros(3, np.float32)
    with gs.record(tmp_path / "run.gscope"):
        tensor = taken()
        array[:] = 2.0  # its memory is the program's
        used = tensor + 1
    (leaf,) = gs.load(tmp_path / "run.gscope").graph.select("add")[0].inputs
    assert leaf.source.source_line == "return torch.from_numpy(array)"
    assert leaf.source.value.tolist() == [2.0] * 3
    assert used.tolist() == [3.0] * 3


def test_an_attribute_that_a_module_is_given_in_the_place_of_a_method_is_told() -> None:
    def program() -> None:
        layer = nn.Linear(2, 2).requires_grad_(False)
        layer(torch.ones(1, 2))
        assert not hasattr(layer, "requires_grad")
        assert not hasattr(nn.Module, "requires_grad")
        layer.requires_grad = True
        assert layer.requires_grad is vars(layer)["requires_grad"] is True
        assert not layer.weight.requires_grad
        del layer.requires_grad
        assert not hasattr(layer, "requires_grad")

    found = read(program)
    (call,) = found.calls("requires_grad")
    assert line_of(found, call.site) == "layer.requires_grad = True"
    assert (call.facts["to"], call.facts["type"], len(call.facts["tensors"])) == (True, "Linear", 2)
    assert "requires_grad" not in vars(nn.Module)


def test_parameters_that_part_behind_the_first_step_are_told() -> None:
    def program() -> None:
        one, other = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        other.weight = one.weight
        net = nn.Sequential(one, other)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(4):
            if step == 2:
                other.weight = nn.Parameter(torch.ones(2, 2))
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()

    found = read(program)
    (parting,) = [each for module in found.modules.values() for each in module.parted]
    assert parting.names == ("1.weight", "0.weight")
    assert len({*parting.tensors} - {None}) == 2
    assert line_of(found, parting.site) == "other.weight = nn.Parameter(torch.ones(2, 2))"
