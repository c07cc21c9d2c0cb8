"""One element of a gradient, as the rules that made it tell of it, is what the run recorded there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

import graphscope as gs
from graphscope.graph import Node
from graphscope.graph.filled import in_rule
from graphscope.graph.rule_rows import of_gradient, of_inputs
from graphscope.graph.rule_text import applied, evaluated
from graphscope.nn import functional

Leaf = Callable[..., gs.Tensor]

PROGRAMS: dict[str, Callable[[Leaf], gs.Tensor]] = {
    "one by one": lambda t: (t(3, 4) * t(3, 4)).tanh() / t(3, 4).exp(),
    "broadcast": lambda t: (t(3, 4) + t(4)) * t(3, 1),
    "mm": lambda t: gs.mm(t(3, 4), t(4, 2)).sigmoid(),
    "matmul": lambda t: (t(3, 4) @ t(4, 2)).relu(),
    "matrix and vector": lambda t: (t(3, 4) @ t(4)).sqrt(),
    "linear": lambda t: functional.linear(t(3, 4), t(2, 4), t(2)).tanh(),
    "turned": lambda t: gs.mm(t(4, 3).t(), t(4, 2)),
    "used twice": lambda t: (lambda x: x * x + x.tanh())(t(3, 4)),
}


def recorded(program: Callable[[Leaf], gs.Tensor]) -> list[Node]:
    """The nodes of a program that have a gradient."""
    gs.manual_seed(0)

    def leaf(*shape: int) -> gs.Tensor:
        return (gs.rand(*shape) + 0.5).detach().requires_grad_()

    with gs.record(values="full") as log:
        out = program(leaf)
        (out * gs.linspace(0.5, 2, out.numel()).reshape(out.shape)).sum().backward()
    return [node for node in log.graph.nodes if node.kind in ("leaf", "op") and node.grad is not None and node.shape]


def result(numbers: str) -> float:
    return float(numbers.rpartition("= ")[2])


def sum_of(numbers: str) -> float:
    """What the numbers of a row come to, as a person adds them up."""
    terms = numbers.rpartition(" = ")[0].replace("·", "*") or numbers
    return float(evaluated(terms, {}))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_rows_of_an_element_add_up_to_its_gradient(name: str) -> None:
    nodes = recorded(PROGRAMS[name])
    told = 0
    for node in nodes:
        for index in product(*map(range, node.shape)):
            rows = of_gradient(node, index)
            assert rows
            assert sum(result(row.numbers) for row in rows) == pytest.approx(float(node.grad[index]), rel=2e-3)
            told += 1
    assert told >= sum(len(node.grad.reshape(-1)) for node in nodes) > 8


def test_numbers_of_a_row_come_to_what_it_says() -> None:
    node = next(node for node in recorded(PROGRAMS["mm"]) if node.kind == "leaf")
    (row,) = of_gradient(node, (1, 2))
    assert row.names.startswith(f"grad of #{node.row}[1, 2] = g[1, :] · #")
    assert sum_of(row.numbers) == pytest.approx(result(row.numbers), rel=2e-3)


def test_inputs_of_other_places_are_left_out() -> None:
    nodes = recorded(PROGRAMS["broadcast"])
    add = next(node for node in nodes if node.op == "add")
    assert [row.names.partition(" = ")[2] for row in of_inputs(add, (2, 1))] == ["g[2, 1]", "Σ g[:, 1]"]
    product = next(node for node in recorded(PROGRAMS["mm"]) if node.op == "mm")
    assert of_inputs(product, (0, 0)) == []


def test_a_rule_of_single_numbers_has_its_result() -> None:
    with gs.record() as log:
        a, b = gs.tensor(15.0, requires_grad=True), gs.tensor(20.0, requires_grad=True)
        c = a * b
        c.backward()
    node = log.graph.at(log.end - 1).node(2)
    known = {"out": node.value, "g": node.grad}
    assert [in_rule(node, each.rule, known) for each in node.operands] == ["g * b = 1 * 20 = 20", "g * a = 1 * 15 = 15"]


def test_a_rule_says_nothing_of_cases_that_are_not_there() -> None:
    vector = next(node for node in recorded(PROGRAMS["matrix and vector"]) if node.op == "matmul")
    matrix = next(node for node in recorded(PROGRAMS["matmul"]) if node.op == "matmul")
    assert [applied(vector, each.rule) for each in vector.operands] == ["g[..., None] * y", "g[..., None] * x"]
    assert [applied(matrix, each.rule) for each in matrix.operands] == ["g @ y.mT", "x.mT @ g"]


@pytest.mark.parametrize(
    "text", ["9**9**9**9", "().__class__", "g.__class__", "open('x')", "[1][0]", "lambda: 1", "g if"]
)
def test_what_a_log_says_is_never_run(text: str) -> None:
    if text.startswith("9"):
        with pytest.raises(OverflowError):
            evaluated(text, {"g": 1.0})
    else:
        with pytest.raises(LookupError):
            evaluated(text, {"g": 1.0})
