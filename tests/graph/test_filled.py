"""Formulas with names and numbers put in: the numbers are those of the log, and what they add up to is the result."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog import record as record_module
from graphscope.eventlog.schema import Kind
from graphscope.graph import filled
from graphscope.graph.node import Node


def recorded(compute: Callable[[Any], Any]) -> Node:
    """The last op of a program of our engine; `t` makes its tensors."""
    draw = np.random.default_rng(0)
    with gs.record(values="full") as log:
        compute(lambda *shape: gs.tensor(draw.normal(size=shape).astype(np.float64), requires_grad=True))
    return [each for each in log.graph.nodes if each.kind == "op"][-1]


def in_torch(compute: Callable[[Any], Any]) -> Node:
    """The same of a PyTorch program."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    with gs.record(values="full") as log:
        compute(lambda *shape: torch.randn(shape, dtype=torch.float64, requires_grad=True))
    return [each for each in log.graph.nodes if each.kind == "op"][-1]


PRODUCERS = [recorded, pytest.param(in_torch, marks=pytest.mark.torch)]

OPS: dict[str, Callable[[Any], Any]] = {
    "add": lambda t: t(2, 3) + t(3),
    "mul": lambda t: t(2, 3) * 2.5,
    "div": lambda t: t(2, 1) / t(1, 3),
    "sub": lambda t: t() - t(3),
    "neg": lambda t: -t(2, 3),
    "matmul": lambda t: t(2, 3) @ t(3, 4),
    "matmul of many": lambda t: t(5, 2, 3) @ t(5, 3, 4),
    "sum": lambda t: t(2, 3).sum(),
    "sum of rows": lambda t: t(2, 3).sum(1),
    "sum of columns": lambda t: t(2, 3).sum(0, keepdim=True),
    "mean": lambda t: t(2, 3).mean(1),
    "prod": lambda t: t(2, 3).prod(0),
    "softmax": lambda t: t(2, 3).softmax(1),
    "log_softmax": lambda t: t(2, 3).log_softmax(0),
    "t": lambda t: t(2, 3).t(),
}


@pytest.mark.parametrize("record", PRODUCERS)
@pytest.mark.parametrize("name", OPS)
def test_the_numbers_of_each_element_give_the_element(name: str, record: Callable[[Any], Node]) -> None:
    node = record(OPS[name])
    for index in itertools.product(*map(range, node.shape)):
        row = filled.element(node, index)
        assert row is not None
        left, _, right = row.numbers.rpartition(" = ")
        assert float(right) == pytest.approx(float(node.value[index]), rel=1e-3)
        assert computed(left) == pytest.approx(float(node.value[index]), rel=2e-2, abs=2e-3)


def computed(text: str) -> float:
    """What numbers written as people do come to."""
    text = re.sub(
        r"e\^(\([^)]*\)|[\d.]+)", r"math.exp(\1)", text.replace("·", "*").replace("Σ ", "").replace("ln ", "LN")
    )
    text = re.sub(r"LN(\((?:[^()]|\([^()]*(?:\([^()]*\))?[^()]*\))*\))", r"math.log(\1)", text)
    return float(eval(text, {"math": math}))


@pytest.mark.parametrize("record", PRODUCERS)
def test_the_programs_names_stand_at_the_row_and_column(record: Callable[[Any], Node]) -> None:
    def program(t: Any) -> None:
        x = t(3, 4) * 1
        weights = t(4, 5) * 1
        h = x @ weights  # noqa: F841 - its name is what is looked for

    row = filled.element(record(program), (2, 3))
    assert row is not None
    assert row.names == "h[2, 3] = x[2, :] · weights[:, 3]"
    assert row.numbers.count(" · ") == 4


@pytest.mark.parametrize("record", PRODUCERS)
def test_constants_and_single_numbers_are_put_in(record: Callable[[Any], Node]) -> None:
    def program(t: Any) -> None:
        y = t(1).sum() * 0 + 4
        z = y * 2  # noqa: F841 - its name is what is looked for

    node = record(program)
    assert filled.with_names(node, node.formula) == "z = y · 2"
    assert filled.with_numbers(node, node.formula, {"out": node.value}) == "8 = 4 · 2"
    assert filled.with_names(node, node.operands[0].rule) == "g * 2"


def test_of_long_sums_the_ends_are_written() -> None:
    row = filled.element(recorded(lambda t: t(1, 50) @ t(50, 1)), (0, 0))
    assert row is not None
    assert row.numbers.count(" · ") == 4
    assert " + ... + " in row.numbers


def test_the_rule_of_an_edited_element_makes_what_was_computed() -> None:
    with gs.record(values="full") as log:
        gs.tensor([15.0, 16.0]) * 20.0
        producer = record_module.writer
        assert producer is not None
        producer.mark(Kind.EDIT, inputs=(producer.base + 1,), value=np.float32([0.5, 320.0]))
    (node,) = (each for each in log.graph.nodes if each.kind == "op")
    row = filled.element(node, (0,))
    assert row is not None
    assert row.numbers == "15 · 20 = 300 (edited to 0.5)"


class Body(gs.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = gs.nn.Linear(3, 2)
        self.layers = gs.nn.Sequential(gs.nn.Linear(2, 1))

    def forward(self, x: Any) -> Any:
        return self.layers(self.head(x))


def test_parameters_are_told_from_the_module_around_that_of_the_op() -> None:
    model = gs.nn.Module()
    model.body = Body()
    model.forward = lambda x: model.body(x)
    with gs.record(values="full") as log:
        model(gs.ones(4, 3))
    ops = [each for each in log.graph.nodes if each.op == "linear"]

    assert [op.operands[1].edge.source.name for op in ops] == ["body.head.weight", "body.layers.0.weight"]
    for op, weight in zip(ops, ("head.weight", "layers.0.weight"), strict=True):
        assert filled.with_names(op, log.op(op.event.op).formula).split()[4].startswith(weight)


def test_what_a_rule_made_for_an_input_was_not_kept_with_it(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        x, w = gs.ones(2), gs.ones(2, requires_grad=True)
        (x * w * 3).sum().backward()
    named = [edge for node in log.graph.nodes for edge in node.inputs if edge.source.kind == "grad" and edge.slot]
    assert named
    assert [edge.source.output(edge.slot) for edge in named] == [None] * len(named)


def test_summands_of_outputs_of_several_shapes_are_not_added_up() -> None:
    with gs.record() as log:
        first, second = gs.split(gs.ones(6, 2, requires_grad=True) * 1, [4, 2])
        ((first.sin() + first.cos()).sum() + (second.sin() * second).sum()).backward()
    sums = [
        node for node in log.graph.nodes if node.kind == "accumulate" and node.forward and node.forward.op == "split"
    ]
    assert {node.shape for node in sums} == {(4, 2), (2, 2)}
    assert [node.grad for node in sums if node.shape == (4, 2)] == [None, None]
    gs.export(log, format="html")
