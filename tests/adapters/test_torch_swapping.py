"""Tensors that change places while they are recorded, as modules may swap their parameters."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn

import graphscope as gs

pytestmark = pytest.mark.torch


@pytest.fixture
def swapped() -> Iterator[None]:
    torch.__future__.set_swap_module_params_on_conversion(True)
    yield
    torch.__future__.set_swap_module_params_on_conversion(False)


def step(model: nn.Module, x: Any) -> Any:
    loss = model(x).square().sum()
    loss.backward()
    return loss.detach()


@pytest.mark.usefixtures("swapped")
@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
def test_modules_may_swap_their_parameters(capture: str) -> None:
    torch.manual_seed(0)
    plain, model, x = nn.Linear(3, 3), nn.Linear(3, 3), torch.ones(1, 3)
    model.load_state_dict(plain.state_dict())
    with gs.record(capture=capture) as log:
        for each in (plain, model):
            step(each, x)
            each.load_state_dict({name: value * 2 for name, value in each.state_dict().items()})
            each.double()
            step(each, x.double())
    assert torch.equal(plain.weight, model.weight)
    assert torch.equal(plain.weight.grad, model.weight.grad)  # type: ignore[arg-type]
    model.float()  # nor when it is over
    log.refresh()
    name = "addmm" if capture == "ops" else "linear"
    products = [node for node in log.graph.nodes if node.op == name and node.graph_pass == "forward"]
    assert [node.value.dtype.name for node in products] == ["float32", "float64"] * 2


def test_what_changes_places_is_what_the_other_was() -> None:
    one, other = torch.zeros(2), torch.ones(2)
    with gs.record() as log:
        first, second = one + 1, other + 2
        torch.utils.swap_tensors(first, second)
        first * 10
        second * 10
    log.refresh()
    products = [node for node in log.graph.nodes if node.op == "mul"]
    assert [(node.inputs[0].source.value[0], node.value[0]) for node in products] == [(3, 30), (1, 10)]


def test_a_reference_of_the_programs_hinders_it_still() -> None:
    one, other = torch.zeros(2), torch.ones(2)
    with gs.record():
        one + other
        for callback in (lambda _: None, None):
            reference = weakref.ref(one, callback)
            with pytest.raises(RuntimeError, match="weakref"):
                torch.utils.swap_tensors(one, other)
            del reference
        torch.utils.swap_tensors(one, other)
