"""`gs.explain` and `why` of PyTorch's tensors: each thing that cuts a gradient is named, with its op and line."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn
from torch.nn import functional

import graphscope as gs
from graphscope.eventlog.foreign_tensors import TENSOR_READERS

pytestmark = pytest.mark.torch


class Net(nn.Module):
    """`first`, then whatever cuts, then `last`; `spare` is never used."""

    def __init__(self, cut: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.spare = nn.Linear(4, 4)
        self.last = nn.Linear(4, 1)
        self.cut = cut

    def forward(self, x: torch.Tensor) -> Any:
        return self.last(self.cut(self.first(x))).sum()


def under_no_grad(h: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return h * 2


CUTS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str, str]] = {
    "detach": (lambda h: h.detach(), "detach", "detach"),
    "no_grad": (under_no_grad, "no_grad", "mul"),
    "data": (lambda h: h.data, "detach", "data"),
    "integers": (lambda h: h.long().float(), "no rule", "long"),
    "argmax": (lambda h: functional.one_hot(h.argmax(1), 4).float(), "no rule", "argmax"),
    "numbers": (lambda h: torch.tensor(h.tolist()), "left the graph", "linear"),
    "numpy": (lambda h: torch.from_numpy(h.detach().numpy()), "left the graph", "detach"),
}


@pytest.mark.parametrize("name", CUTS)
def test_what_cuts_the_way_is_named_with_its_line(name: str) -> None:
    cut, cause, op = CUTS[name]
    model = Net(cut)
    with gs.record() as log:
        model(torch.randn(2, 3)).backward()
    assert model.first.weight.grad is None  # torch agrees that nothing arrived
    for found in (gs.explain(model.first.weight), gs.explain(log, "first.weight")):
        assert (found.symptom, found.cause) == ("none", cause)
        assert found.step is not None
        assert found.step.label == op
        first = inspect.getsourcelines(cut)[1]
        assert op == "linear" or found.step.line in range(first, first + 4)


def test_a_parameter_that_took_no_part_is_answered_for() -> None:
    model = Net(torch.relu)
    with gs.record(keep_last=2) as log:
        for _ in range(3):
            model(torch.randn(2, 3)).backward()
    for found in (gs.explain(model.spare.weight), gs.explain(log, "spare.weight")):
        assert found.cause == "not on a path to the loss"
        assert "nothing uses it" in found.verdict


def test_a_parameter_that_is_frozen_says_so() -> None:
    model = Net(torch.relu)
    model.first.requires_grad_(False)
    with gs.record() as log:
        model(torch.randn(2, 3))
        model.last.weight.requires_grad_(False)
        model(torch.randn(2, 3)).backward()
    assert gs.explain(model.first.weight).cause == "frozen"
    assert gs.explain(log, "first.weight").cause == "frozen"
    assert gs.explain(model.last.weight).cause == "frozen"


def test_a_result_keeps_no_gradient_unless_it_is_told_to() -> None:
    model = Net(torch.relu)
    with gs.record():
        h = model.first(torch.randn(2, 3))
        model.last(h).sum().backward()
        assert gs.explain(h).step is not None
    assert gs.explain(h).cause == "not a leaf"


class Silent(torch.autograd.Function):
    """A function whose backward hands nothing on."""

    @staticmethod
    def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(_: Any, gradient: torch.Tensor) -> None:
        return None


ASTRAY: dict[str, tuple[Callable[[torch.Tensor], Any], str, str, str]] = {
    "custom function": (lambda w: Silent.apply(w).sum().backward(), "none", "none from a rule", "Silent"),
    "autograd.grad": (lambda w: torch.autograd.grad((w * 2).sum(), w), "none", "not accumulated", "autograd.grad"),
    "sum of a softmax": (lambda w: w.softmax(0).sum().backward(), "zero", "adds up to 1", "softmax"),
    "dropout of all": (lambda w: functional.dropout(w, 1.0).sum().backward(), "zero", "dropped", "dropout"),
    "above relu6": (lambda w: functional.relu6(w + 9).sum().backward(), "zero", "clamped", "relu6"),
    "saturated": (lambda w: torch.sigmoid(w + 300).sum().backward(), "zero", "saturated", "100% of its outputs"),
    "clamped": (lambda w: (w + 9).clamp(0, 1).sum().backward(), "zero", "clamped", "outside of the bounds"),
    "where": (lambda w: torch.where(w > -9, 1, w).sum().backward(), "zero", "not picked", "where"),
    "overwritten": (lambda w: (w * 2).zero_().sum().backward(), "zero", "overwritten", "zero_"),
    "at the minimum": (lambda w: functional.mse_loss(w, w.detach()).backward(), "zero", "at its minimum", "mse_loss"),
    "the square of 0": (lambda w: (w - w.detach()).square().sum().backward(), "zero", "at its minimum", "square"),
    "0 to the power of 2": (lambda w: ((w - w.detach()) ** 2).sum().backward(), "zero", "at its minimum", "pow"),
}


@pytest.mark.parametrize("name", ASTRAY)
def test_why_a_gradient_is_none_or_zero(name: str) -> None:
    program, symptom, cause, word = ASTRAY[name]
    w = torch.tensor([0.5, 1.5, 2.5], requires_grad=True)
    with gs.record():
        program(w)
        found = gs.explain(w)
    assert (found.symptom, found.cause) == (symptom, cause)
    assert word in found.verdict
    assert (w.grad is None) == (symptom == "none")


def test_what_comes_too_late_is_told() -> None:
    w, model = torch.ones(3), nn.Linear(3, 1)
    with gs.record():
        loss = model(w * 2).sum()
        w.requires_grad_()
        loss.backward()
        assert gs.explain(w).cause == "required too late"
        assert "when mul at test_torch_explain.py:" in gs.explain(w).verdict
        model.zero_grad(set_to_none=False)
        assert "zeros were put in its place" in gs.explain(model.weight).verdict
        model.zero_grad()
        assert gs.explain(model.weight).cause == "cleared"
        (gradient,) = torch.autograd.grad(model(w).sum(), model.weight)
        assert gs.explain(gradient).cause == "a gradient"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_gradients_that_arrived_are_looked_at_in_any_dtype(dtype: torch.dtype) -> None:
    x = torch.tensor([0.0, 4.0], dtype=dtype, requires_grad=True)
    with gs.record() as log:
        x.sqrt().sum().backward()
        assert gs.explain(x).symptom == "nonfinite"
    assert "sqrt" in gs.explain(x).verdict
    log.refresh()
    assert len(log) > 0
    y = torch.ones(3, dtype=dtype, requires_grad=True)
    (y * 0).sum().backward()
    assert gs.explain(y).symptom == "zero"  # without a recording of it


def test_asking_is_not_recorded_and_keeps_nothing_alive() -> None:
    x = torch.ones(3, requires_grad=True)
    with gs.record() as log:
        y = x * 2
        y.sum().backward()
        log.refresh()
        before = len(log)
        gs.explain(x)
        gs.explain(y)
        log.refresh()
        assert len(log) == before
    assert TENSOR_READERS["torch"].row(torch.ones(3)) == -1
