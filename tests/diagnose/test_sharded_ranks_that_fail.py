"""Ranks that hold pieces of one model, of which one raises, ends early, is late or comes to something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

torch = pytest.importorskip("torch")
pytest.importorskip("torch.distributed.fsdp")
pytestmark = [pytest.mark.torch, pytest.mark.slow]

PROGRAM = """\
import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
import graphscope as gs

dist.init_process_group("gloo", timeout=timedelta(seconds=12))
rank = dist.get_rank()

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(6, 16), torch.nn.Linear(16, 3)
    def forward(self, x, breaks):
        h = torch.tanh(self.up(x))
        if breaks and WAY == "forward":
            raise ValueError("bad sample")
        if breaks and WAY == "backward":
            h.register_hook(lambda gradient: 1 // 0)
        return self.down(h)  # the second part

def train():
    torch.manual_seed(0)
    model, mesh = Net(), init_device_mesh("cpu", (2,))
    if SHARDED:
        for part in (model.up, model.down, model):
            fully_shard(part, mesh=mesh)
    else:
        parallelize_module(model, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(6):
        breaks = rank == 1 and step == 3
        if breaks and WAY == "early":
            return
        while breaks and WAY == "late" and not os.path.exists("failed"):
            time.sleep(0.1)
        if breaks and WAY == "other":
            dist.all_reduce(torch.zeros(()))  # alone
        loss = model(torch.ones(4, 6), breaks).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

try:
    with gs.record("run.gscope"):
        train()
except Exception:
    open("failed", "w").close()
    raise
"""


def _line(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


FIRST, SECOND = _line("self.up(x)"), _line("# the second part")
RAISED = "rank 1 raised ValueError: bad sample at train.py:{}; then rank 0 failed in {} at train.py:{} (RuntimeError)"
DIVIDED = (
    "rank 1 raised ZeroDivisionError: integer division or modulo by zero at train.py:{}; then rank 0 failed in {} at "
)
EARLY = "rank 1 did not come to {} at train.py:{}, where rank 0 failed: its program has ended at train.py:{}"
LATE = "rank 1 came to {} at train.py:{} "
SAID = {
    ("forward", True): RAISED.format(_line("bad sample"), "all_gather_single", SECOND),
    ("forward", False): RAISED.format(_line("bad sample"), "all_reduce", SECOND),
    ("backward", True): DIVIDED.format(_line("1 // 0"), "reduce_scatter_single"),
    ("backward", False): DIVIDED.format(_line("1 // 0"), "all_reduce"),
    ("early", True): EARLY.format("all_gather_single", FIRST, _line("optimizer.step()")),
    ("early", False): EARLY.format("all_reduce", SECOND, _line("optimizer.step()")),
    ("late", True): LATE.format("all_gather_single", FIRST),
    ("late", False): LATE.format("all_reduce", SECOND),
    (
        "other",
        True,
    ): f"rank 1 comes to all_reduce at train.py:{_line('# alone')}, where rank 0 comes to all_gather_single",
    ("other", False): f"rank 1 comes to all_reduce at train.py:{_line('# alone')}, where rank 0 comes to all_reduce of",
}


@pytest.mark.parametrize(("way", "sharded"), SAID)
def test_the_rank_is_named(way: str, sharded: bool, tmp_path: Path) -> None:
    two_ranks.run(tmp_path, PROGRAM.replace("WAY", repr(way)).replace("SHARDED", repr(sharded)), fails=True)
    found = answered(tmp_path)[1]
    (finding,) = found["findings"]
    assert finding["verdict"].startswith(SAID[way, sharded])
    assert way != "late" or "behind rank 0, which had failed there meanwhile: RuntimeError: " in finding["verdict"]
    assert found["odd"] == ["rank 1"]
