"""What the log says of a gradient is what the program's `.grad` is, whatever the program makes of it."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn

import graphscope as gs
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.torch


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3, bias=False)

    def forward(self, x: Any) -> Any:
        return self.b(torch.tanh(self.a(x) + self.a(x * 2))).sum()  # `a` gets two contributions


class Program:
    """A model, and what programs do with gradients."""

    def __init__(self) -> None:
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.5)
        self.x = torch.randn(2, 3)

    @property
    def weight(self) -> Any:
        return self.model.a.weight

    def backward(self) -> None:
        loss = self.model(self.x)
        if loss.requires_grad:
            loss.backward()

    def twice(self) -> None:
        loss = self.model(self.x)
        if loss.requires_grad:
            loss.backward(retain_graph=True)
            loss.backward()

    def with_gradient(self, change: Callable[[Any], Any]) -> None:
        if self.weight.grad is not None:
            change(self.weight.grad)

    def clip_values(self) -> None:
        if any(each.grad is not None for each in self.model.parameters()):
            nn.utils.clip_grad_value_(self.model.parameters(), 0.1)


def assign(program: Program, gradient: Any) -> None:
    program.weight.grad = gradient


def delete(program: Program) -> None:
    del program.weight.grad


def freeze(program: Program) -> None:
    program.model.b.weight.requires_grad = False


DEEDS: Final[list[Callable[[Program], Any]]] = [
    *(lambda program: program.backward(),) * 5,
    lambda program: program.twice(),
    lambda program: program.optimizer.step(),
    lambda program: program.optimizer.zero_grad(),
    lambda program: program.optimizer.zero_grad(set_to_none=False),
    lambda program: program.model.zero_grad(),
    lambda program: program.model.zero_grad(set_to_none=False),
    lambda program: assign(program, None),
    delete,
    lambda program: assign(program, torch.ones_like(program.weight)),
    lambda program: program.with_gradient(lambda gradient: assign(program, gradient.clone() * 2)),
    lambda program: program.with_gradient(lambda gradient: gradient.zero_()),
    lambda program: program.with_gradient(lambda gradient: gradient.data.zero_()),
    lambda program: program.with_gradient(lambda gradient: gradient.add_(1)),
    lambda program: program.with_gradient(lambda gradient: gradient.detach().mul_(3)),
    lambda program: nn.utils.clip_grad_norm_(program.model.parameters(), 0.1),
    lambda program: program.clip_values(),
    lambda program: program.weight.requires_grad_(False),
    freeze,
    lambda program: program.model.requires_grad_(True),
]


@pytest.mark.slow
@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
@pytest.mark.parametrize("seed", range(6))
def test_the_log_says_what_the_gradients_are(seed: int, capture: str) -> None:
    torch.manual_seed(seed)
    deeds = random.Random(seed)
    with gs.record(capture=capture) as log:
        program = Program()
        program.backward()
        for _ in range(10):
            deeds.choice(DEEDS)(program)
            log.refresh()
            for name, parameter in program.model.named_parameters():
                told = next(node for node in log.graph.nodes if node.kind == "leaf" and node.name == name).grad
                assert (told is None) == (parameter.grad is None)
                if told is not None and parameter.grad is not None:
                    np.testing.assert_allclose(told, parameter.grad.numpy(), rtol=1e-4, atol=1e-6)


def line_of(words: str) -> str:
    lines, first = inspect.getsourcelines(test_why_it_stays_none_is_told_with_the_line)
    return f"test_torch_assigned.py:{first + next(at for at, each in enumerate(lines) if words in each)}"


def test_why_it_stays_none_is_told_with_the_line() -> None:
    with gs.record() as log:
        program = Program()
        program.backward()
        program.weight.requires_grad_(False)
        program.optimizer.zero_grad()
        log.refresh()
        cleared = gs.explain(log, "b.weight")
        program.backward()
        log.refresh()
        name, frozen, live = "a.weight", gs.explain(log, "a.weight"), gs.explain(program.weight)
        log.refresh()
        program.weight.requires_grad_(True)
        program.backward()
        log.refresh()
        thawed = gs.explain(log, name)
        program.weight.grad = None
        log.refresh()
        again = gs.explain(log, name)
    for found in (frozen, live):
        assert (found.symptom, found.cause) == ("none", "frozen")
        assert line_of("requires_grad_(False)") in found.verdict
        assert line_of("optimizer.zero_grad()") in found.verdict
    assert thawed.symptom == "fine"
    assert cleared.cause == "cleared"
    assert line_of("optimizer.zero_grad()") in cleared.verdict
    assert again.cause == "cleared"
    assert line_of("weight.grad = None") in again.verdict


def test_each_time_that_gradients_are_cleared_is_told_of_the_tensors_that_had_them() -> None:
    *weights, unused = [nn.Parameter(torch.randn(3)) for _ in range(4)]
    optimizers = [torch.optim.SGD(weights[:2], lr=0.1), torch.optim.SGD(weights[2:], lr=0.1)]
    steps = 4
    with gs.record() as log:
        for _ in range(steps):
            for weight in weights:
                (weight * 2).sum().backward()
                if weight is weights[1]:
                    weight.grad = torch.ones(3)
                weight.grad = None
            for optimizer in optimizers:
                optimizer.zero_grad()
            unused.grad = None  # the log has nothing of it
    log.refresh()
    rows = [log.event(row) for row in range(log.first, log.end) if log.event(row).kind == Kind.ASSIGN]
    told = [log.attrs(event.attrs) for event in rows]
    first, second, third = (
        next(node.tensor for node in log.graph.nodes if node.kind == "leaf" and node.value.tolist() == weight.tolist())
        for weight in weights
    )
    clear = [[first], [second], [second], [third], [first, second], [third]]
    assert [facts["tensors"] for facts in told] == clear * steps
    assert {(facts["set"], facts["to"]) for facts in told} == {("grad", None)}
    assert [len(event.inputs) for event in rows] == [0, 1, 0, 0, 0, 0] * steps
    assert len({event.site for event in rows}) == 3
