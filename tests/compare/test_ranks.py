"""Rank against rank: replicas do the same, and the one that does otherwise is told."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from graphscope.compare import diff
from graphscope.eventlog.siblings import family, ranks_among

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("torch was built without its distributed part", allow_module_level=True)

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """
import sys
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    if "clip" in sys.argv and step == 2 and dist.get_rank() == 1:
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
"""


@pytest.mark.parametrize("way", ["alike", "clip"])
def test_the_ranks_of_a_run(way: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-m", "graphscope", "record", "--log", "run.gscope", "train.py", way]
    ranks = [
        subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **told, "RANK": str(rank)}) for rank in range(2)
    ]
    assert [each.wait(120) for each in ranks] == [0, 0]
    found = diff(*ranks_among(family(tmp_path / "run.gscope")))
    assert found.steps == 4
    if way == "alike":
        assert not found, found
    else:
        assert found.first is not None
        assert (found.first.step, found.first.when, found.first.cause) == (3, "update", "clipping")
