"""Formulas and rules of PyTorch's ops: what a rule says, evaluated, is the gradient that PyTorch computed."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch import derivatives
from graphscope.eventlog.typed import Dtype, Input
from graphscope.graph.node import Node
from tests.adapters.op_samples import IN_WORDS, SAMPLES, Sample
from tests.adapters.rule_words import evaluated, fitted

pytestmark = pytest.mark.torch


def test_a_hundred_ops_are_among_the_samples() -> None:
    assert len({op for op, _ in SAMPLES}) >= 140


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("op", "sample"), SAMPLES, ids=[f"{op}-{place}" for place, (op, _) in enumerate(SAMPLES)])
def test_the_rule_of_each_input_says_what_pytorch_computed(op: str, sample: Sample) -> None:
    node = recorded(op, sample)
    assert node.formula
    assert "=" in node.formula or "←" in node.formula
    agree(node)


def agree(node: Node) -> None:
    """Hold each rule of a node against the gradient that was recorded."""
    names = known(node)
    for operand in node.operands:
        if operand.edge is None or operand.edge.source.grad is None:
            continue
        assert operand.rule, f"no rule of {operand.name}"
        theirs = torch.tensor(operand.edge.source.grad)
        mine = fitted(evaluated(operand.rule, names), theirs)
        torch.testing.assert_close(mine, theirs, rtol=2e-5, atol=1e-6, msg=lambda text: f"{operand.rule}: {text}")  # noqa: B023


@pytest.mark.parametrize(("op", "sample"), IN_WORDS, ids=[op for op, _ in IN_WORDS])
def test_what_is_no_single_expression_is_told_in_words(op: str, sample: Sample) -> None:
    node = recorded(op, sample)
    rules = [each.rule for each in node.operands if each.edge is not None and each.edge.source.grad is not None]
    assert node.formula
    assert rules
    assert all(rules)


def recorded(op: str, sample: Sample) -> Node:
    """The node of an op in a program that computes with it, forward and backward."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)

    def leaf(*shape: int, low: float = -1.5, high: float = 1.5) -> Any:
        made = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
        return made.requires_grad_()

    with gs.record(values="full") as log:
        found = sample(leaf)
        parts = [each for each in (found if isinstance(found, tuple) else (found,)) if each.requires_grad]
        if parts:
            sum((each * torch.linspace(0.5, 2, each.numel()).reshape(each.shape)).sum() for each in parts).backward()
    return next(each for each in log.graph.nodes if each.kind == "op" and each.op == op)


def known(node: Node) -> dict[str, Any]:
    """What the names of a rule stand for: operands, constants, attributes, what was left out, `out` and `g`."""
    inputs = [torch.tensor(edge.source.output(edge.slot)) for edge in node.inputs]

    def filled(value: Any) -> Any:
        if isinstance(value, Input):
            return inputs[value.number]
        if isinstance(value, (list, tuple)):
            return type(value)(map(filled, value))
        return getattr(torch, value.name) if isinstance(value, Dtype) else value

    names = {**node.graph.log.op(node.event.op).defaults, **node.arguments.attributes}
    given = node.arguments.operands
    lists: dict[str, list[Any]] = {}
    for operand in node.operands:
        if operand.edge is None:
            names[operand.name] = operand.constant
        elif operand.name.endswith("]"):
            lists.setdefault(operand.name.partition("[")[0], []).append(inputs[operand.edge.number])
        else:
            names[operand.name] = inputs[operand.edge.number]
    assert given is None or len(given) >= len(lists)
    outputs = [node.output(slot) for slot in range(len(node.outputs))]
    due = [each for each in node.backward if each.kind == "grad"]
    arrived = [each.output(slot) for each in due for slot in range(len(each.outputs))]
    grads = [torch.tensor(each) for each in arrived if each is not None]
    names |= {**lists, "out": torch.tensor(outputs[0])}
    names["g"] = grads[0] if len(grads) == 1 else grads
    if len(outputs) == 2 and outputs[1] is not None and np.asarray(outputs[1]).dtype.kind == "i":
        names["indices"] = torch.tensor(outputs[1])
    return {name: _LEFT_OUT.get(name) if value is None else filled(value) for name, value in names.items()}


_LEFT_OUT = {"weight": 1.0, "attn_mask": 0.0, "correction": 1}
"""What stands for arguments that were left out."""


class Clipped(torch.autograd.Function):
    """Grows no more above a limit, and lets all of the gradient through."""

    @staticmethod
    def forward(ctx: Any, x: Any, limit: float) -> Any:
        return x.clamp(max=limit)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0], None


def test_a_function_of_the_program_has_a_formula_of_its_own() -> None:
    node = recorded("Clipped", lambda t: Clipped.apply(t(3), 0.5))
    assert node.formula == "out = Clipped(x, limit)"
    assert [(each.name, each.rule or each.text) for each in node.operands] == [
        ("x", "Clipped.backward(ctx, g)[0]"),
        ("limit", "0.5"),
    ]


CITED: list[tuple[str, Sample]] = [
    ("lgamma", lambda t: torch.lgamma(t(3, low=0.5))),
    ("erfc", lambda t: torch.erfc(t(3))),
    ("deg2rad", lambda t: torch.deg2rad(t(3))),
    ("asinh", lambda t: torch.asinh(t(3))),
    ("acosh", lambda t: torch.acosh(t(3, low=1.2, high=3.0))),
    ("atanh", lambda t: torch.atanh(t(3, low=-0.5, high=0.5))),
    ("sinc", lambda t: torch.sinc(t(3))),
    ("addmv", lambda t: torch.addmv(t(2), t(2, 3), t(3), alpha=2)),
    ("addr", lambda t: torch.addr(t(2, 3), t(2), t(3), beta=2)),
    ("renorm", lambda t: torch.renorm(t(2, 3), 2, 0, 0.5)),
    ("cummax", lambda t: t(2, 3).cummax(1).values),
]
"""Ops that the table of formulas lacks, and PyTorch's own file has."""


@pytest.mark.parametrize(("op", "sample"), CITED, ids=[op for op, _ in CITED])
def test_what_the_table_lacks_is_cited_from_pytorch(op: str, sample: Sample) -> None:
    node = recorded(op, sample)
    told = node.graph.log.op(node.event.op)
    rules = [each.rule for each in node.operands if each.edge is not None]
    assert node.formula.startswith(f"out = {op}(")
    assert rules
    assert all(rules)
    assert "derivatives.yaml" in told.doc
    if not any("backward(" in each for each in rules):  # what it calls is PyTorch's own
        agree(node)


@pytest.mark.slow
def test_every_rule_of_pytorchs_file_is_freed_of_c() -> None:
    names = re.findall(r"^- name: (\w+)", derivatives._text(), re.MULTILINE)
    rules = [rule for name in names for rule in derivatives.derivative(name, ()).rules.values()]
    assert len(rules) > 600
    assert not [rule for rule in rules if re.search(r"at::|std::|->|&&|\|\|| \? |\bgrad\b|\bself\b|symint", rule)]


def test_a_function_that_nobody_describes_is_told_as_a_call() -> None:
    node = recorded("kron", lambda t: torch.kron(t(2, 2), t(2, 2)))
    assert node.formula == "out = kron(x, y)"
    assert [each.rule for each in node.operands] == ["the vjp of kron by x, at g", "the vjp of kron by y, at g"]


@pytest.mark.slow
def test_the_file_is_not_read_until_an_op_needs_it() -> None:
    script = (
        "import torch, graphscope as gs\n"
        "from graphscope.adapters.torch import derivatives\n"
        "with gs.record():\n"
        "    x = torch.ones(3, requires_grad=True); (x * 2).sum().backward()\n"
        "    print(derivatives._text.cache_info().currsize)\n"
        "    torch.lgamma(x)\n"
        "    print(derivatives._text.cache_info().currsize)\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["0", "1"]
