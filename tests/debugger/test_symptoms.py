"""What a breakpoint may stop at that is no place: each is found where it is, and nowhere in a program without fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import graphscope as gs
from graphscope.debugger.symptoms import SYMPTOMS
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import NODES


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(map(float, values)), requires_grad=True)


def rows(program: Callable[[], None], name: str) -> dict[int, str]:
    """The rows that have a symptom, with what is said of each; those that may have it are among the listed ones."""
    with gs.record() as log:
        program()
    log.refresh()
    symptom = SYMPTOMS[name]
    found = {row: said for row in _nodes(log) if (said := symptom.test(log.graph.node(row))) is not None}
    assert found.keys() <= set(symptom.rows(log))
    return found


def _nodes(log: Log) -> list[int]:
    return [row for row in range(log.first, log.end) if log.event(row).kind in NODES]


def training() -> None:
    """Steps of an optimizer, which writes its parameters in place, and of a program that does so itself."""
    weight, bias = leaf(1, 2), leaf(0)
    sgd = gs.optim.SGD([weight, bias], lr=0.1)
    for _ in range(2):
        sgd.zero_grad()
        hidden = weight * 3
        hidden += 1
        ((hidden + bias) ** 2).sum().backward()
        sgd.step()
    with gs.no_grad():
        weight -= 1.0


def of_somebody_else() -> None:
    x, y = leaf(1), leaf(2)
    gs.autograd.grad((x * y).sum(), [x])


@pytest.mark.parametrize("name", ["overwritten", "missing", "nan"])
@pytest.mark.parametrize("program", [training, of_somebody_else])
def test_a_program_without_fault_has_none(program: Callable[[], None], name: str) -> None:
    assert rows(program, name) == {}


def test_a_write_over_what_a_rule_needs() -> None:
    def program() -> None:
        x = leaf(1, 2)
        grown = x.exp()
        grown.mul_(2)
        part = (x * 3)[0]
        scaled = part * x
        part.add_(1)
        scaled.sum()

    first, second = rows(program, "overwritten").values()
    assert first.startswith("exp at ")
    assert "had saved its output, and mul_ at " in first
    assert "mul at " in second
    assert "had saved its input x, and add_ at " in second


def test_a_value_that_nobody_needs_may_be_written() -> None:
    def program() -> None:
        x = leaf(1, 2)
        total = x + 1
        total.mul_(2)  # addition needs none of its operands
        off = gs.tensor([1.0, 2.0])
        (off * 2).exp_()  # nothing of it requires grad
        with gs.no_grad():
            free = x.exp()
            free.mul_(2)

    assert rows(program, "overwritten") == {}


def test_leaves_that_a_pass_leaves_out() -> None:
    def program() -> None:
        used, cut, idle = leaf(1), leaf(2), leaf(3)
        (idle * 2).sum()
        (used * cut.detach()).sum().backward()
        (used * cut).sum().backward()

    (said,) = rows(program, "missing").values()
    detached, unused = said.split("; ")
    assert "detach at " in detached
    assert "was not computed from" in unused


def test_a_mask_of_infinities_is_no_symptom_until_nan_comes_of_it() -> None:
    def masked(*hidden: bool) -> Callable[[], None]:
        def program() -> None:
            scores = leaf(1, 2, 3) + 0.5
            given = scores.masked_fill(gs.tensor(list(hidden)), float("-inf"))
            (given + gs.tensor([0.0, float("-inf"), 0.0])).softmax(-1).sum().backward()

        return program

    assert rows(masked(True, False, False), "nan") == {}
    with gs.record() as log:
        masked(True, True, True)()
    log.refresh()
    (softmax,) = (node.row for node in log.graph.select("op:softmax forward"))
    assert min(rows(masked(True, True, True), "nan")) == softmax


def test_leaves_without_a_gradient_for_one_reason_are_told_in_one_sentence() -> None:
    def program() -> None:
        w = gs.tensor(1.0, requires_grad=True)
        v = gs.tensor(2.0, requires_grad=True)
        ((w * v).detach() * leaf(3)).backward()

    (said,) = rows(program, "missing").values()
    assert said.count("cuts the way") == 1
    assert " w and v: " in said
