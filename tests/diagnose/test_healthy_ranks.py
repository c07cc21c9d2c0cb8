"""Programs of several ranks that do what they should: neither `ranks` nor the doctor of any rank raises an alarm."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from graphscope.diagnose import examined
from graphscope.diagnose.runs import Run, read_run
from graphscope.eventlog.reader import load
from graphscope.graph import Graph
from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """\
from contextlib import nullcontext
import torch, torch.distributed as dist
import graphscope as gs
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
pair = dist.new_group([0, 1])

def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))

def batches(count):
    torch.manual_seed(100 + rank)
    for x in torch.randn(count, 16, 6):
        yield x, x.sum(1, keepdim=True) + 0.1

def replicas():
    model = DistributedDataParallel(network())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for x, y in batches(8):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

def accumulated():
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for number, (x, y) in enumerate(batches(12)):
        is_last = number % 4 == 3
        with nullcontext() if is_last else model.no_sync():
            (nn.functional.mse_loss(model(x), y) / 4).backward()
        if is_last:
            optimizer.step()
            optimizer.zero_grad()

def pipeline(send, receive):
    torch.manual_seed(rank)
    stage = network() if rank == world - 1 else nn.Sequential(nn.Linear(6, 6), nn.Tanh())
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.01)
    for x, y in batches(6):
        optimizer.zero_grad()
        if rank:
            x = receive(rank - 1).requires_grad_()
        out = stage(x)
        if rank < world - 1:
            send(out.detach(), rank + 1)
            out.backward(receive(rank + 1))
        else:
            nn.functional.mse_loss(out, y).backward()
        if rank:
            send(x.grad, rank - 1)
        optimizer.step()

def one_by_one():
    def receive(peer):
        x = torch.empty(16, 6)
        dist.recv(x, peer)
        return x
    pipeline(lambda x, peer: dist.isend(x, peer).wait(), receive)

def in_batches():
    def swap(function, x, peer):
        for each in dist.batch_isend_irecv([dist.P2POp(function, x, peer)]):
            each.wait()
        return x
    pipeline(lambda x, peer: swap(dist.isend, x.clone(), peer), lambda peer: swap(dist.irecv, torch.empty(16, 6), peer))

def by_broadcast():
    torch.manual_seed(rank)
    stage = nn.Linear(6, 1 if rank else 6)
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.01)
    for x, y in batches(6 if rank < 2 else 0):
        optimizer.zero_grad()
        if rank:
            x = torch.empty(16, 6)
            dist.broadcast(x, 0, group=pair)
            nn.functional.mse_loss(stage(x.requires_grad_()), y).backward()
            dist.broadcast(x.grad, 1, group=pair)
        else:
            out = stage(x)
            dist.broadcast(out.detach(), 0, group=pair)
            gradient = torch.empty(16, 6)
            dist.broadcast(gradient, 1, group=pair)
            out.backward(gradient)
        optimizer.step()

def sharded():
    model = DistributedDataParallel(network())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.01, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
    for x, y in batches(8):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        schedule.step()

def clipped():
    model = DistributedDataParallel(network(), gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches(8):
        optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(model(x), y).backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        if rank == 0:
            print(float(norm), max(float(each.grad.abs().max()) for each in model.parameters()))
        optimizer.step()

def averaged_by_hand(passes=lambda step: 1):
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, (x, y) in enumerate(batches(8)):
        optimizer.zero_grad()
        count = passes(step)
        for each, wanted in zip(x.chunk(count), y.chunk(count)):
            (nn.functional.mse_loss(model(each), wanted) / count).backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= world
        optimizer.step()
        yield model, x

def probed():
    for step, (model, x) in enumerate(averaged_by_hand()):
        if rank == 1 and step % 3 == 1:
            probe = x.clone().requires_grad_()
            torch.autograd.grad(model(probe).sum(), probe)

def unevenly_accumulated():
    for _ in averaged_by_hand(lambda step: 1 + (rank + step) % 3):
        pass

def joined(make=lambda parameters: torch.optim.SGD(parameters, lr=0.05)):
    model = DistributedDataParallel(network())
    optimizer = make(model.parameters())
    with Join([model, optimizer] if isinstance(optimizer, ZeroRedundancyOptimizer) else [model]):
        for x, y in batches(5 + rank):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()

def joined_and_sharded():
    joined(lambda parameters: ZeroRedundancyOptimizer(parameters, torch.optim.Adam, lr=0.01))

for way in WAYS:
    with gs.record(way + ".gscope"):
        globals()[way]()
    dist.barrier()
dist.destroy_process_group()
"""

WAYS = [
    "replicas", "accumulated", "one_by_one", "in_batches", "by_broadcast", "sharded", "clipped", "probed",
    "unevenly_accumulated", "joined", "joined_and_sharded",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways, of three ranks each."""
    made = tmp_path_factory.mktemp("ranks")
    two_ranks.run(made, TRAIN.replace("WAYS", repr(WAYS)), 3)
    return made


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_found(folder: Path, way: str) -> None:
    told = answered(folder / f"{way}-rank0.gscope", where=folder)[1]
    assert (told["findings"], told["unjudged"]) == ([], [])
    assert len(told["ranks"]) == 3
    for rank in range(3):
        assert list(examined(Graph(load(folder / f"{way}-rank{rank}.gscope")))) == []


def test_steps_of_sharded_optimizers_are_counted_as_the_program_makes_them(folder: Path) -> None:
    told = answered(folder / "sharded-rank0.gscope", where=folder)[1]
    assert [each["steps"] for each in told["ranks"]] == [8, 8, 8]


@pytest.mark.parametrize("rank", range(3))
def test_the_rates_of_sharded_optimizers_are_those_of_their_own_part(folder: Path, rank: int) -> None:
    """What the other ranks have updated comes without a rate."""
    found = read_run((folder / f"sharded-rank{rank}.gscope", "sharded", 3))
    assert isinstance(found, Run)
    assert found.first_rate == pytest.approx(0.01)
    assert found.last_rate == pytest.approx(0.01 * (1 + math.cos(math.pi * 7 / 20)) / 2)
