"""A rank that raises, or is killed, while others average gradients: it is named, not those that found it gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """\
import os
import torch, torch.distributed as dist
import graphscope as gs
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
with gs.record("run.gscope", values="summary"):
    model = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        loss = model(torch.randn(5, 4)).square().mean()
        if rank == RANK and step == 3:
            DIES
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("rank", "dies", "said", "cause"),
    [
        (0, 'raise KeyError("shard")', "rank 0 raised KeyError: 'shard' at train.py:16; then ranks 1 and 2", "raised"),
        (2, "os.kill(os.getpid(), 9)", "rank 2 was killed, or died behind train.py:14; then ranks 0 and 1", "killed"),
    ],
)
def test_the_one_that_died_first_is_named(tmp_path: Path, rank: int, dies: str, said: str, cause: str) -> None:
    two_ranks.run(tmp_path, TRAIN.replace("RANK", str(rank)).replace("DIES", dies), 3, fails=True)
    status, found = answered(tmp_path)
    assert status == 1
    (finding,) = found["findings"]
    assert finding["cause"] == cause
    assert finding["verdict"].startswith(said)
    assert "failed in all_reduce at train.py:17 (RuntimeError)" in finding["verdict"]
    assert finding["first_step"] == 4
    assert found["odd"] == [f"rank {rank}"]


BY_HAND = """\
import os
import torch, torch.distributed as dist
import graphscope as gs

dist.init_process_group("gloo")
with gs.record("run.gscope", values="summary"):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        model(torch.randn(5, 4)).square().mean().backward()
        if dist.get_rank() == 1 and step == 3:
            os.kill(os.getpid(), 9)
        for work in [dist.all_reduce(each.grad, async_op=True) for each in model.parameters()]:
            work.wait()
        optimizer.step()
"""


def test_it_is_named_where_others_wait_for_the_first_of_several_collectives_that_go_on(tmp_path: Path) -> None:
    two_ranks.run(tmp_path, BY_HAND, fails=True)
    status, found = answered(tmp_path)
    assert status == 1
    (finding,) = found["findings"]
    assert finding["verdict"].startswith("rank 1 did not come to all_reduce at train.py:14, where rank 0 waits")
    assert found["odd"] == ["rank 1"]
    assert [each["last_line"] for each in found["ranks"]] == ["waits at train.py:14", "train.py:11"]
