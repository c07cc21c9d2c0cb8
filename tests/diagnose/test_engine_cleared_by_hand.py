"""Gradients that programs of the engine clear by hand: no step goes on with old ones, and the lines are in the log."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import examined
from graphscope.eventlog.schema import Kind
from tests.diagnose.clearing import BY_HAND, STATEMENTS, STEPS, WAYS

HIDDEN = [each for each in STATEMENTS if '"data"' in each]
"""The log sees of these what the gradient is afterwards, and that alone."""


def found(folder: Path, program: str, values: str, **names: object) -> list[str]:
    """What the doctor finds in the log of a program that `torch` is the engine for."""
    with gs.record(folder / "run.gscope", values=values):
        exec(compile(program, "train.py", "exec"), {"torch": gs, **names})
    return [each.kind for each in examined(gs.load(folder / "run.gscope").graph)]


def of_steps(folder: Path, way: str, values: str = "full") -> list[str]:
    return found(folder, STEPS.replace("AVERAGE", "pass"), values, WAY=way, rank=0)


@pytest.mark.parametrize("values", ["full", "none"])
@pytest.mark.parametrize("way", [each for each in STATEMENTS if "_foreach" not in each])
def test_no_way_to_clear_by_hand_is_taken_for_none(way: str, values: str, tmp_path: Path) -> None:
    if values == "none" and way in HIDDEN:
        pytest.skip("without values nothing tells")
    assert of_steps(tmp_path, way, values) == []


def test_gradients_cleared_through_numpy_are_known_by_what_steps_were_made_with(tmp_path: Path) -> None:
    assert of_steps(tmp_path, "for p in model.parameters(): p.grad is not None and p.grad.numpy().fill(0)") == []


@pytest.mark.parametrize("values", ["full", "none"])
@pytest.mark.parametrize("way", ["pass", "[p.grad.norm() for p in model.parameters() if p.grad is not None]"])
def test_what_does_not_clear_is_told(way: str, values: str, tmp_path: Path) -> None:
    assert of_steps(tmp_path, way, values) == ["zero_grad"]


@pytest.mark.parametrize("way", [each for each in WAYS if "_foreach" not in each])
def test_updates_by_hand_clear_in_the_same_ways(way: str, tmp_path: Path) -> None:
    assert found(tmp_path, BY_HAND.replace("WAY", way), "full") == []


def test_the_log_tells_at_which_line_a_gradient_was_replaced_and_by_what(tmp_path: Path) -> None:
    p = gs.nn.Parameter(gs.ones(3))
    with gs.record(tmp_path / "run.gscope"):
        (p * 2).sum().backward()
        p.grad = zeros = gs.zeros(3)
        (p * 3).sum().backward()
        del p.grad
    assert p.grad is None
    assert zeros.tolist() == [3.0] * 3  # the pass has added to it
    log = gs.load(tmp_path / "run.gscope").graph.log
    marks = [log.event(int(row)) for row in log.marks(Kind.ASSIGN)]
    lines = [log.site(each.site).line for each in marks]
    assert lines[1] - lines[0] == 2
    assert log.value(marks[0].inputs[0][0]).tolist() == [0.0] * 3
    assert [len(each.inputs) for each in marks] == [1, 0]
