"""What is said of a gradient that is neither None nor zero: its size on the way, where it became small, who else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[[str], Log]:
    """Records a program of a file, so that names are known."""

    def run(program: str) -> Log:
        script = tmp_path / "program.py"
        script.write_text(program, encoding="utf-8")
        with gs.record() as log:
            exec(compile(program, str(script), "exec"), {"gs": gs})
        log.refresh()
        return log

    return run


W = np.array([0.1, 0.2, 5.0, 6.0, 7.0, 8.0])
SATURATED = f"""
w = gs.tensor({W.tolist()}, requires_grad=True, dtype=gs.float64)
h = (w * 2).tanh()
loss = (h * h).sum()
loss.backward()
"""


def test_the_norm_of_the_gradient_is_told_on_the_whole_way(recorded: Callable[[str], Log]) -> None:
    found = gs.explain(recorded(SATURATED), "w")
    h = np.tanh(2 * W)
    slope = 2 * h * (1 - h * h)
    wanted = {
        ("w", 2): 2 * slope,
        ("mul", 3): slope,
        ("tanh", 3): 2 * h,
        ("mul", 4): np.ones(len(W)),
        ("sum", 4): np.ones(1),
    }

    assert found.symptom == "fine"
    for step in found.path:
        assert step.norm == pytest.approx(np.linalg.norm(wanted[step.label, step.line]), rel=1e-6), step
    assert len(found.path) == len(wanted)
    assert f"|grad| {np.linalg.norm(2 * slope):.4g}" in str(found)


def test_the_rule_that_leaves_most_of_it_small_is_named(recorded: Callable[[str], Log]) -> None:
    found = gs.explain(recorded(SATURATED), "w")

    assert found.step is not None
    assert found.step.label == "tanh"
    assert any(said.startswith("67% of it is small") and "h = tanh" in said for said in found.others)


def test_nothing_is_said_of_a_gradient_that_is_alike_everywhere(recorded: Callable[[str], Log]) -> None:
    found = gs.explain(recorded(SATURATED.replace(f"{W.tolist()}", "[0.1, 0.2, 0.3]")), "w")

    assert found.symptom == "fine"
    assert found.step is None
    assert found.others == ()


THREE = """
a = gs.tensor([1.0, 2.0], requires_grad=True)
b = gs.tensor([1.0, 2.0], requires_grad=True)
c = gs.tensor([1.0, 2.0], requires_grad=True)
loss = (a * b.detach() + (c * -1.0).relu()).sum()
loss.backward()
"""


def test_other_leaves_without_a_gradient_are_named(recorded: Callable[[str], Log]) -> None:
    found = gs.explain(recorded(THREE), "a")

    assert found.symptom == "fine"
    assert any("to b: detach at" in said for said in found.others)
    assert any("c.grad is zero: relu at" in said for said in found.others)


def test_before_the_backward_pass_has_ended_nobody_is_missed(recorded: Callable[[str], Log]) -> None:
    log = recorded(THREE)
    begun = next(node for node in log.graph.nodes if node.kind == "accumulate")
    found = gs.explain(log.graph.at(begun.row).node(begun.row))

    assert not any("detach" in said or "relu" in said for said in found.others)
