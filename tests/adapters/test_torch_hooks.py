"""Hooks and parametrizations are told as what they are: by kind and name of the hook, by the module of the other."""

from __future__ import annotations

from typing import Any

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def scale(module: Any, given: Any, result: Any) -> Any:
    return times(result)


def times(result: Any) -> Any:
    return result * 1.5


class Doubled:
    def __call__(self, module: Any, given: Any) -> Any:
        return (given[0] + given[0],)


def tripled(module: Any, given: Any, arrived: Any) -> Any:
    return (given[0] / 3,)


def clamped(gradient: Any) -> Any:
    return gradient.clamp(-1, 1)


def halved(parameter: Any) -> None:
    parameter.grad.sub_(0.5)


class Symmetric(torch.nn.Module):
    def forward(self, weight: Any) -> Any:
        return weight.triu() + weight.triu(1).T


class Wrapped(torch.nn.Module):
    """Its `forward` is another function, as libraries have it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.forward = lambda x: self.inner(x).tanh()


@pytest.fixture(scope="module")
def log() -> gs.Log:
    first, second = torch.nn.Linear(3, 3), Wrapped()
    torch.nn.utils.parametrize.register_parametrization(first, "weight", Symmetric())
    model = torch.nn.Sequential(first, second)
    first.register_forward_hook(scale)
    second.register_forward_pre_hook(Doubled())
    second.register_full_backward_hook(tripled)
    first.bias.register_hook(clamped)
    first.bias.register_post_accumulate_grad_hook(halved)
    with gs.record() as log:
        model(torch.ones(2, 3)).sum().backward()
    log.refresh()
    return log


def test_what_runs_in_a_hook_is_told_by_its_kind_and_name(log: gs.Log) -> None:
    ran = {node.op: log.attrs(node.event.attrs).get("hook") for node in log.graph.nodes if node.kind == "op"}
    assert {op: hook for op, hook in ran.items() if hook} == {
        "mul": "forward hook scale",
        "add": "forward pre-hook Doubled.__call__",
        "div": "full backward hook tripled",
        "clamp": "gradient hook clamped",
        "sub_": "gradient hook halved",
    }
    assert ran["linear"] is None
    assert ran["tanh"] is None
    assert ran["triu"] is None


def test_parametrizations_are_modules_of_their_names(log: gs.Log) -> None:
    triu = log.graph.select("op:triu forward")
    assert {node.scope_title for node in triu} == {"0.parametrizations.weight.0 (Symmetric)"}
    assert {edge.source.name for node in triu for edge in node.inputs} == {"0.parametrizations.weight.original"}
