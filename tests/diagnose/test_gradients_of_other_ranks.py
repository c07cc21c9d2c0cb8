"""A pipeline of two ranks whose gradients come by `recv`: a NaN in one is blamed on the rank that it was born in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphscope.diagnose import examined
from graphscope.eventlog.reader import load
from graphscope.graph import Graph
from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """\
import torch, torch.distributed as dist
import graphscope as gs
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()

def train(way):
    torch.manual_seed(rank)
    stage = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.01)
    for step in range(5):
        optimizer.zero_grad()
        if rank == 0:
            out = stage(torch.randn(3, 4))
            dist.send(out.detach(), 1)
            gradient = torch.empty(3, 4)
            if way == "later":
                dist.irecv(gradient, 1).wait()
            elif way == "broadcast":
                dist.broadcast(gradient, 1)
            else:
                dist.recv(gradient, 1)
            out.backward(gradient * 0.5 if way == "scaled" else gradient)
        else:
            x = torch.empty(3, 4)
            dist.recv(x, 0)
            x.requires_grad_()
            y = stage(x)
            if step == 2:
                y = y.relu() - y.relu()
                y = torch.sqrt(y)
            y.sum().backward()
            dist.broadcast(x.grad, 1) if way == "broadcast" else dist.send(x.grad, 0)
        optimizer.step()

for way in WAYS:
    with gs.record(way + ".gscope"):
        train(way)
dist.destroy_process_group()
"""
WAYS = ["plain", "later", "broadcast", "scaled"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways."""
    made = tmp_path_factory.mktemp("ranks")
    two_ranks.run(made, TRAIN.replace("WAYS", repr(WAYS)))
    return made


@pytest.mark.parametrize("way", WAYS)
def test_the_rank_is_named_that_it_was_born_in(folder: Path, way: str) -> None:
    (found,) = [each for each in examined(Graph(load(folder / f"{way}-rank0.gscope"))) if each.kind == "nan"]
    assert (found.cause, found.step) == ("another rank", "step 2")
    assert re.search(r"it comes from rank 1, through (recv|wait|broadcast) at train\.py:", found.verdict)
    assert found.verdict.endswith(", step 2")
    (nan,) = [
        each
        for each in answered(folder / f"{way}-rank0.gscope", where=folder)[1]["findings"]
        if each["kind"] == "nan"
    ]  # fmt: skip
    assert nan["verdict"].startswith("rank 1: ")
    assert nan["source"].strip() == "y = torch.sqrt(y)"
    assert nan["first_step"] == 3
