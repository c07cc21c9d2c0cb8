"""A loss that leaps and stays is told at the step where the program's own losses do, and of what it comes."""

from __future__ import annotations

import runpy
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import graphscope as gs
from graphscope.diagnose import every

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

PROGRAM = """
    import torch
    import torch.nn.functional as F

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    rule, losses = torch.randn(8, 4), []
    for step in range(50):
        x = torch.randn(32, 8)
        target = x @ rule
        {changes}
        loss = F.mse_loss(net(x), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    """

CHANGES = {
    "the targets": ("target = target * (1 if step < 27 else 50)", "target that it is computed of"),
    "the inputs": ("x = x * (1 if step < 27 else 200)", "linear that it is computed of"),
    "the weights": ("step == 27 and net[2].weight.data.mul_(300)", "linear that it is computed of"),
    "one batch": ("x = x * (200 if step == 27 else 1)", ""),
    "by and by": ("target = target * 1.3**step", ""),
    "late": ("target = target * (1 if step < 46 else 50)", ""),
}
"""What a program does, and what is told to have grown; nothing of what is no leap that stays."""


@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_leap_is_told_where_the_losses_of_the_program_leap(name: str, values: Any, tmp_path: Path) -> None:
    changes, grown = CHANGES[name]
    path = tmp_path / "program.py"
    path.write_text(dedent(PROGRAM).format(changes=changes))
    with gs.record(tmp_path / "run.gscope", values=values):
        losses = runpy.run_path(str(path))["losses"]
    found = list(every()["loss_leapt"].findings(gs.load(tmp_path / "run.gscope").graph))
    assert len(found) == bool(grown)
    for each in found:
        step = max(range(1, len(losses)), key=lambda at: losses[at] / losses[at - 1])
        assert (step, grown in each.verdict) == (27, True), each
        assert each.evidence["loss before"] == pytest.approx(losses[step - 1])
        assert each.evidence["loss after"] == pytest.approx(losses[step])
        assert each.evidence["least loss since"] == pytest.approx(min(losses[step:]))
        assert min(losses[step:]) > 10 * max(losses[:step])


@pytest.mark.parametrize("every", [4, 9, 13])
@pytest.mark.parametrize("name", CHANGES)
def test_a_leap_in_a_step_that_was_left_out_is_told_by_the_series(name: str, every: int, tmp_path: Path) -> None:
    changes, grown = CHANGES[name]
    path = tmp_path / "program.py"
    path.write_text(dedent(PROGRAM).format(changes=changes))
    with gs.record(tmp_path / "run.gscope", every=every):
        losses = runpy.run_path(str(path))["losses"]
    found = [each for each in gs.doctor(tmp_path / "run.gscope").findings if each.kind == "loss_leapt"]
    assert len(found) == bool(grown)
    for each in found:
        assert grown in each.verdict
        assert (each.step, each.line) == ("step 27", 13)
        assert each.evidence["loss before"] == pytest.approx(losses[26])
        assert each.evidence["loss after"] == pytest.approx(losses[27])
        assert each.evidence["least loss since"] == pytest.approx(min(losses[27:]))


OF_TWO = """
    import torch

    torch.manual_seed(0)
    nets = [torch.nn.Linear(8, 4) for _ in range(2)]
    optimizers = [torch.optim.Adam(net.parameters(), lr=1e-3) for net in nets]
    for step in range(60):
        which = {which}
        x = torch.randn(32, 8)
        loss = torch.nn.functional.mse_loss(nets[which](x), x[:, :4] * (1, 100)[which])
        optimizers[which].zero_grad()
        loss.backward()
        optimizers[which].step()
    """


@pytest.mark.parametrize("which", ["step >= 28", "step % 3 == 2", "step >= 28 and step % 4 != 3"])
def test_losses_of_two_optimizers_in_one_series_are_no_leap(which: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(dedent(OF_TWO).format(which=which))
    with gs.record(tmp_path / "run.gscope", every=4):
        runpy.run_path(str(path))
    assert [each for each in gs.doctor(tmp_path / "run.gscope").findings if each.kind == "loss_leapt"] == []
