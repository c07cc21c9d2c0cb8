"""Ranks that share a training in other ways than replicas do, and what goes wrong behind the averaging: three ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphscope.debugger.debugger import Debugger
from graphscope.debugger.interpreter import answer
from graphscope.debugger.results import TableResult
from graphscope.eventlog.reader import load
from graphscope.graph.arrivals import arrivals
from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered, check_one

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """\
import time
import torch, torch.distributed as dist
import graphscope as gs
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

def pipeline():
    torch.manual_seed(rank)
    stage = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.01)
    for step in range(4):
        optimizer.zero_grad()
        outs, given = [], []
        for part in range(2):
            x = torch.randn(3, 4)
            if rank:
                dist.recv(x, rank - 1)
            x.requires_grad_()
            outs.append(stage(x))
            given.append(x)
            if rank < world - 1:
                dist.send(outs[-1].detach(), rank + 1)
        for out, x in zip(outs, given):
            if rank == world - 1:
                out.square().mean().backward()
            else:
                gradient = torch.empty(3, 4)
                dist.recv(gradient, rank + 1)
                out.backward(gradient)
            if rank:
                dist.send(x.grad, rank - 1)
        optimizer.step()

def joined():
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank)
    with model.join():
        for step in range(4 + 2 * (rank == 0)):
            optimizer.zero_grad()
            model(torch.randn(5, 4)).square().mean().backward()
            optimizer.step()

def by_hand(way, steps=8):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    other = way == "decay" and rank == 1
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.3 if other else 0.01)
    torch.manual_seed(rank)
    for step in range(steps):
        out = model(torch.randn(5, 4))
        if way == "flight nan" and rank == 1 and step == 5:
            out = torch.log(out - out.max())
        optimizer.zero_grad()
        out.square().mean().backward()
        if way == "slow" and rank == 1:
            time.sleep(0.05)
        flat = torch.cat([each.grad.flatten() for each in model.parameters()])
        dist.all_reduce(flat, async_op=True).wait()
        if not (way == "scaled" and rank == 2 and step > 2):
            flat /= world
        place = 0
        for each in model.parameters():
            each.grad.copy_(flat[place:place + each.numel()].view_as(each))
            place += each.numel()
        if way == "clipped" and rank == 1:
            nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        optimizer.step()
        if way == "flight written" and rank == 1 and step == 5:
            with torch.no_grad():
                model[0].bias.add_(0.5)

def extra():
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        model(torch.ones(5, 4)).square().mean().backward()
        if rank == 1 and step == 3:
            dist.all_reduce(torch.zeros(1))  # one more
        dist.all_reduce(torch.ones(1))
        optimizer.step()
    if rank != 1:
        dist.all_reduce(torch.zeros(1))

def replicas(rate=0.05 if rank == 2 else 0.01):
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=rate)
    torch.manual_seed(rank)
    for step in range(4):
        optimizer.zero_grad()
        if rank == 1:
            time.sleep(0.05)
        model(torch.randn(5, 4)).square().mean().backward()
        optimizer.step()

def parts():
    torch.manual_seed(rank)
    weight = nn.Parameter(torch.randn(4, 2))
    optimizer = torch.optim.SGD([weight], lr=0.2 if rank == 2 else 0.1)
    for step in range(4):
        out = torch.ones(3, 4) @ weight
        total = out.detach().clone()
        dist.all_reduce(total)
        optimizer.zero_grad()
        (out + total - out.detach()).square().mean().backward()
        optimizer.step()

def search():
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01 * (1 + rank))
    for epoch in range(3):
        for step in range(3):
            optimizer.zero_grad()
            loss = model(torch.full((5, 4), 1.0 + step)).square().mean()
            loss.backward()
            optimizer.step()
        dist.all_gather_object([None] * world, {"epoch": epoch, "loss": loss.item()})

def caught():
    replicas(rate=0.01)
    try:
        torch.ones(2, 3) @ torch.ones(2, 3)
    except RuntimeError:
        print("these do not fit")

WAYS = {"pipeline": pipeline, "joined": joined, "extra": extra, "replicas": replicas, "parts": parts}
WAYS |= {"search": search, "caught": caught}
for way in NAMES:
    flight = {"every": 10, "keep_last": 3} if way.startswith("flight") else {}
    with gs.record(way.replace(" ", "_") + ".gscope", values="summary", **flight):
        WAYS[way]() if way in WAYS else by_hand(way, 40 if flight else 8)
dist.destroy_process_group()
"""

HEALTHY = ["pipeline", "joined", "slow", "search", "caught"]
SICK = {
    "decay": ("rank 1", "optimizer = ", 1, "its weight decay is 0.3, not 0.01"),
    "replicas": ("rank 2", "optimizer = ", 1, "its weight decay is 0.05, not 0.01"),
    "parts": ("rank 2", "optimizer = ", 1, "its learning rate is 0.2, not 0.1"),
    "scaled": ("rank 2", "flat /= world", 4, "it does not run div_ at train.py:"),
    "clipped": ("rank 1", "nn.utils.clip_grad_norm_", 1, "at train.py:"),
    "extra": ("rank 1", "dist.all_reduce(torch.zeros(1))  # one more", 4, "comes to all_reduce of [1]"),
    "flight written": ("rank 1", "optimizer.step()", 11, "what came ahead of it is not recorded"),
}
"""The rank, the line, the step counted from 1, and a part of what is said."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways, of three ranks each."""
    made = tmp_path_factory.mktemp("ranks")
    two_ranks.run(made, TRAIN.replace("NAMES", json.dumps([*HEALTHY, *SICK, "flight nan"])), 3)
    return made


def found(folder: Path, way: str) -> dict[str, Any]:
    """What `graphscope ranks` answers."""
    return answered(folder / f"{way.replace(' ', '_')}-rank0.gscope", where=folder)[1]


@pytest.mark.parametrize("way", HEALTHY)
def test_ranks_that_do_what_they_should_are_let_be(folder: Path, way: str) -> None:
    told = found(folder, way)
    assert (told["findings"], told["unjudged"]) == ([], [])


@pytest.mark.parametrize("way", SICK)
def test_the_rank_and_the_line_are_named(folder: Path, way: str) -> None:
    check_one(folder / f"{way.replace(' ', '_')}-rank0.gscope", *SICK[way])


def test_flight_recorders_that_keep_other_steps_are_lined_up(folder: Path) -> None:
    """The rank whose loss is NaN first records from the next step on, the others one later: nothing else is told."""
    told = found(folder, "flight nan")
    (finding,) = told["findings"]
    assert finding["kind"] == "nan"
    assert finding["verdict"].startswith("rank 1: the loss of step 5 was nan, the first that is not finite")
    assert "first in step 5 of rank 1" in finding["verdict"]
    assert [each["what"] for each in told["unjudged"]] == ["the steps that were left out"]
    assert [each["steps"] for each in told["ranks"]] == [40, 40, 40]


@pytest.mark.parametrize(("way", "steps"), [("slow", 8), ("replicas", 4)])
def test_those_that_wait_for_a_slow_rank_spend_that_time_in_collectives(folder: Path, way: str, steps: int) -> None:
    """Rank 1 sleeps 50 ms ahead of what it does together with the others, of what ends later, or in a backward pass."""
    for rank in (0, 2):
        took = arrivals(load(folder / f"{way}-rank{rank}.gscope"))[1]["took"] / 1e9
        assert took.sum() > 0.045 * (steps - 1)


def test_the_command_tells_the_same_time(folder: Path) -> None:
    table = answer(Debugger(load(folder / "slow-rank1.gscope")), "ranks")
    assert isinstance(table, TableResult)
    waited = [[float(str(cell).split()[1]) for cell in (row[2], row[4])] for row in table.rows]
    assert sum(map(sum, waited)) > 2 * 45 * 7
