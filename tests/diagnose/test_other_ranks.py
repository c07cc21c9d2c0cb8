"""What comes from another rank is said so: a NaN through a collective, data that two ranks share."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Finding
from graphscope.diagnose.ranks.comparison import Comparison, compared
from graphscope.diagnose.ranks.reading import names_of, read
from graphscope.eventlog.reader import load
from graphscope.eventlog.siblings import title
from graphscope.graph import Graph
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
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    if way.startswith("wrapped"):
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=0.1 * rank * ("decay" in way))
    torch.manual_seed(100 if "same" in way else 100 + rank)
    one = torch.randn(16, 6)
    for step in range(6):
        x = one if "one batch" in way else torch.randn(16, 6)
        optimizer.zero_grad()
        if way.startswith("split"):
            hidden = model[0](x).relu()[8 * rank : 8 * rank + 8]
            loss = nn.functional.mse_loss(model[2](hidden), x[8 * rank : 8 * rank + 8].sum(1, keepdim=True))
        else:
            out = model(x)
            if way.startswith("parts"):
                others = out.detach().clone()
                dist.all_reduce(others)
                out = out + (others - out.detach())
            loss = nn.functional.mse_loss(out, x.sum(1, keepdim=True))
        loss.backward()
        if way.startswith(("by hand", "split")):
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
        optimizer.step()
        if "weight" in way and step == 2 and rank == 1:
            with torch.no_grad():
                next(model.parameters())[0, 0] = float("nan")
        if "times" in way and step == 2 and str(rank) in way:
            with torch.no_grad():
                next(model.parameters()).mul_(1.1)

for way in WAYS:
    with gs.record(way.replace(" ", "_") + ".gscope", values=VALUES):
        train(way)
dist.destroy_process_group()
"""

RECEIVED = {"wrapped weight": "loss.backward()", "by hand weight": "dist.all_reduce(parameter.grad)"}
ALIKE = ["wrapped same", "by hand same"]
WRITTEN = {"wrapped times 1": "rank 1", "by hand times 0": "rank 0"}
LET_BE = [
    "wrapped", "wrapped same one batch", "by hand", "parts same", "split same", "wrapped times 0 and 1", "decay same"
]  # fmt: skip
"""Each computes of its own data, of one batch, with a half of the model or of the sequence; writes as the others do, or
is one of a search: as they are meant to."""
WAYS = [*RECEIVED, *ALIKE, *WRITTEN, *LET_BE]


@pytest.fixture(scope="module", params=["full", "summary"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways to train, of two ranks each."""
    made = tmp_path_factory.mktemp(request.param)
    two_ranks.run(made, TRAIN.replace("WAYS", json.dumps(WAYS)).replace("VALUES", repr(request.param)))
    return made


def log(folder: Path, way: str, rank: int) -> Path:
    return folder / f"{way.replace(' ', '_')}-rank{rank}.gscope"


def line(text: str) -> int:
    """The number of the line of the program that begins so."""
    return next(number for number, each in enumerate(TRAIN.splitlines(), 1) if each.strip().startswith(text))


def nan(path: Path) -> Finding:
    (found,) = (each for each in gs.doctor(path) if each.kind == "nan")
    return found


@pytest.mark.parametrize("way", RECEIVED)
def test_a_nan_that_came_through_a_collective_is_of_another_rank(folder: Path, way: str) -> None:
    """Rank 0 gave finite gradients and got them back as NaN; the log beside it says of whom, and of which line."""
    found, born = nan(log(folder, way, 0)), nan(log(folder, way, 1))
    assert born.line == line("next(model.parameters())[0, 0] = ")
    assert (found.cause, found.source.strip(), found.first_step) == ("another rank", RECEIVED[way], 4)
    assert f"it comes from rank 1, through {'the ' * way.startswith('wrapped')}all_reduce" in found.verdict
    assert f"there it begins at train.py:{born.line}" in found.verdict
    assert "overflow" not in found.verdict


@pytest.mark.parametrize("way", RECEIVED)
def test_of_which_rank_is_left_open_where_its_log_is_not_there(folder: Path, way: str, tmp_path: Path) -> None:
    alone = shutil.copytree(log(folder, way, 0), tmp_path / "run-rank0.gscope")
    found = nan(alone)
    assert (found.cause, found.source.strip()) == ("another rank", RECEIVED[way])
    assert "it comes from another rank, through" in found.verdict
    assert "graphscope ranks run.gscope" in found.cure


def test_a_gradient_that_ranks_averaged_is_explained_by_what_came_first(folder: Path) -> None:
    """One step later the own contributions of rank 0 are NaN too: of weights that took over what came."""
    graph = Graph(load(log(folder, "wrapped weight", 0)))
    explained = gs.explain(graph, "module.0.weight")
    assert explained.symptom == "nonfinite"
    assert "it comes from rank 1, through the all_reduce" in explained.verdict


def among(folder: Path, way: str) -> Comparison:
    """What is told of both ranks."""
    return compared(way, map(read, names_of([log(folder, way, rank) for rank in range(2)], title)))


@pytest.mark.parametrize("way", RECEIVED)
def test_losses_that_are_lost_on_all_ranks_are_told_with_where_the_first_nan_was_born(folder: Path, way: str) -> None:
    found = among(folder, way)
    (one,) = found.report
    assert (one.kind, one.line, one.first_step) == ("nan", line("next(model.parameters())[0, 0] = "), 3)
    assert one.verdict.startswith("rank 1: ")
    assert "then the losses of all ranks are not finite, first in step 3 of rank 1" in one.verdict
    assert [rank.loss != rank.loss for rank in found.ranks] == [True, True]
    assert found.odd == ("rank 1",)


@pytest.mark.parametrize("way", ALIKE)
def test_replicas_that_train_on_the_same_data_are_told(folder: Path, way: str) -> None:
    (one,) = among(folder, way).report
    assert (one.kind, one.severity, one.cause, one.first_step) == ("ranks_alike", "warning", "data of all ranks", 1)
    assert one.verdict.startswith("ranks 0 and 1 train one model on the same data, in all of the 6 steps")
    assert one.source.strip().startswith("loss = ") or one.source.strip() == "out = model(x)"


@pytest.mark.parametrize("way", WRITTEN)
def test_a_weight_that_one_rank_alone_writes_to_is_told(folder: Path, way: str) -> None:
    """Gradients and settings are the same, and still the weights part."""
    (one,) = among(folder, way).report
    assert (one.cause, one.line, one.first_step) == ("written by one rank", line("next(model.parameters()).mul_"), 3)
    assert one.verdict.startswith(f"{WRITTEN[way]} writes to a weight")


@pytest.mark.parametrize("way", LET_BE)
def test_ranks_that_are_meant_to_do_so_are_let_be(folder: Path, way: str) -> None:
    assert not among(folder, way).report


def test_a_doctor_of_all_ranks_tells_a_birth_once(folder: Path) -> None:
    """Rank 0 has it of rank 1, which is told; the same birth of the rank that is judged first is not told twice."""
    logs = [log(folder, "by hand weight", rank) for rank in range(2)]
    assert [each.cause for each in gs.doctor(*logs)] == ["data", "another rank"]
    assert [each.cause for each in gs.doctor(*logs[::-1])] == ["data"]


BACK = """\
import torch, torch.distributed as dist
import graphscope as gs
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
with gs.record("run.gscope"):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch.manual_seed(rank)
    for step in range(4):
        shift = torch.zeros(1)
        x = torch.randn(16, 6)
        told = model(x).detach().mean()
        if step == 2 and rank == 1:
            told = (told - told).log() * 0
        dist.all_reduce(told)
        if rank == 0:
            shift += told * 1e-3
        dist.broadcast(shift, 0)
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True) + shift).square().mean().backward()
        optimizer.step()
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def back(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of two ranks, of which one gives another a number that is not finite, and gets it back."""
    made = tmp_path_factory.mktemp("back")
    two_ranks.run(made, BACK)
    return made


def test_what_comes_back_from_another_rank_is_blamed_on_the_line_where_it_began(back: Path) -> None:
    born = next(number for number, line in enumerate(BACK.splitlines(), 1) if "log()" in line)
    own, other = nan(back / "run-rank1.gscope"), nan(back / "run-rank0.gscope")
    assert (own.line, own.cause) == (born, "log of zero")
    assert other.cause == "another rank"
    assert f"it comes from rank 1, through all_reduce at train.py:{born + 1}" in other.verdict
    assert f"there it begins at train.py:{born}" in other.verdict


def test_what_comes_back_is_of_another_rank_where_the_log_of_that_is_gone(back: Path, tmp_path: Path) -> None:
    found = nan(Path(shutil.copytree(back / "run-rank1.gscope", tmp_path / "run-rank1.gscope")))
    assert (found.cause, found.source.strip()) == ("another rank", "dist.broadcast(shift, 0)")
