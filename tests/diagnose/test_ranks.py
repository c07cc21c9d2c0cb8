"""Which rank of a run parts from the others: two processes that train, in ways that are sick and in healthy ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Finding
from tests.diagnose import two_ranks

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """\
import torch, torch.distributed as dist
import graphscope as gs
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()

def train(way):
    torch.manual_seed(rank if way in ("other seed", "parts") else 0)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
    if way in ("healthy", "step left out", "around the wrapper", "other rate", "accumulated"):
        model = DistributedDataParallel(model)
    run = model.module if way == "around the wrapper" else model
    rate = 0.05 * (1 + rank * (way in ("other rate", "search")))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    torch.manual_seed(100 + rank)
    for step in range(10):
        x = torch.randn(16, 6)
        optimizer.zero_grad()
        if way == "accumulated":
            with model.no_sync():
                run(x * 2).square().mean().backward()
        out = run(x)
        if way == "parts":
            out = out + sum_of_ranks(out)
        loss = nn.functional.mse_loss(out, x.sum(1, keepdim=True))
        loss.backward()
        if way in ("other seed", "by hand"):
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
        if way == "now and then" and step % 3 == 2:
            for parameter in model.parameters():
                dist.all_reduce(parameter.data)
                parameter.data /= 2
        total = loss.detach().clone()
        dist.all_reduce(total)
        if way == "step left out" and step == 6 and rank == 1:
            continue
        optimizer.step()

def sum_of_ranks(out):
    total = out.detach().clone()
    dist.all_reduce(total)
    return total

for way in WAYS:
    with gs.record(way.replace(" ", "_") + ".gscope", values=VALUES):
        train(way)
dist.destroy_process_group()
"""

SICK = {
    "other seed": ("model = nn.Seq", 1, "rank 1 begins with other weights"),
    "step left out": ("optimizer.step()", 7, "rank 1 makes no step after backward pass 7"),
    "around the wrapper": ("model = nn.Seq", 1, "nothing averages them over the ranks"),
    "not averaged": ("model = nn.Seq", 1, "nothing averages them over the ranks"),
    "other rate": ("optimizer = ", 1, "its learning rate is 0.1, not 0.05"),
}
HEALTHY = ["healthy", "by hand", "accumulated", "parts", "search", "now and then"]


@pytest.fixture(scope="module", params=["full", "summary"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways to train, of two ranks each."""
    made = tmp_path_factory.mktemp(request.param)
    text = TRAIN.replace("WAYS", json.dumps([*SICK, *HEALTHY])).replace("VALUES", repr(request.param))
    two_ranks.run(made, text)
    return made


def found(folder: Path, way: str) -> list[Finding]:
    names = [folder / f"{way.replace(' ', '_')}-rank{rank}.gscope" for rank in range(2)]
    return [each for each in gs.doctor(*names) if each.kind == "rank_differs"]


@pytest.mark.parametrize("way", SICK)
def test_the_rank_that_parts_from_the_others(folder: Path, way: str) -> None:
    line, step, said = SICK[way]
    (finding,) = found(folder, way)
    assert finding.source.strip().startswith(line)
    assert finding.first_step == step
    assert said in finding.verdict


@pytest.mark.parametrize("way", HEALTHY)
def test_ranks_that_are_meant_to_do_so(folder: Path, way: str) -> None:
    assert found(folder, way) == []


def test_the_run_is_named_for_all_its_ranks(folder: Path) -> None:
    command = [sys.executable, "-m", "graphscope", "doctor", "not_averaged.gscope"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "not_averaged.gscope (2 ranks)" in result.stdout
    assert "rank_differs: ranks that part (error, likely, step 0)" in result.stdout
