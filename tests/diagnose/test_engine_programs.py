"""Healthy programs, run by the engine in the place of PyTorch, have nothing either; what is sick in them is found."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import every

PROGRAMS = Path(__file__).parent / "programs"

HEALTHY = ["epochs_with_evaluation",
           "gan_with_switches", "pseudo_labels", "statistics_measured_ahead", "style_of_an_image",
           "accumulation", "dropout_switched_off_for_the_end", "frozen_backbone", "gan", "lora",
           "long_warm_up", "mean_teacher", "monte_carlo_dropout", "unfrozen_by_and_by", "unused_head"]  # fmt: skip
SICK = {
    "left_in_evaluation": "train_eval_mode",
    "dropout_left_on_in_evaluation": "train_eval_mode",
    "zero_grad_before_the_step": "zero_grad",
    "three_steps_without_zero_grad": "zero_grad",
    "clip_after_step": "clip_order",
    "scheduler_in_each_batch": "lr_vanished",
    "head_replaced": "stale_optimizer",
    "blocks_in_a_list": "not_registered",
    "head_left_out": "not_in_optimizer",
    "step_ahead_of_backward": "step_order",
    "clipped_to_a_wrong_number": "clipped_away",
    "weights_written_back": "undone_update",
}
"""What the engine's marks of training are to tell."""


def found(program: Path, folder: Path) -> set[tuple[str, int]]:
    text = program.read_text(encoding="utf-8")
    gs.manual_seed(0)
    with gs.record(folder / "run.gscope"), gs.as_torch():
        exec(compile(text, str(program), "exec"), {"__name__": "__main__"})
    log = gs.load(folder / "run.gscope")
    return {(each.kind, each.line) for check in every().values() for each in check.findings(log.graph)}


@pytest.mark.slow
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_has_nothing(name: str, tmp_path: Path) -> None:
    assert found(PROGRAMS / "healthy" / f"{name}.py", tmp_path) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", SICK)
def test_the_line_to_change_is_found(name: str, tmp_path: Path) -> None:
    program = PROGRAMS / "sick" / f"{name}.py"
    lines = enumerate(program.read_text(encoding="utf-8").splitlines(), 1)
    marked = {number for number, line in lines if f"# <-- {SICK[name]}" in line}
    assert marked
    assert {line for kind, line in found(program, tmp_path) if kind == SICK[name]} == marked
