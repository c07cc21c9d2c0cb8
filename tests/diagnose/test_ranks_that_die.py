"""A rank that raises, or is killed, while others average gradients: it is named, not those that found it gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

pytestmark = [pytest.mark.torch, pytest.mark.slow]

RAISED = "rank {} raised KeyError: 'shard' at train.py:{}; then {} failed in all_reduce at train.py:{} (RuntimeError)"
KILLED = "rank {} did not come to all_reduce at train.py:{}, where {} failed: its log ends at train.py:{}"

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
        (0, 'raise KeyError("shard")', RAISED.format(0, 16, "ranks 1 and 2", 17), "raised"),
        (2, "os.kill(os.getpid(), 9)", KILLED.format(2, 17, "ranks 0 and 1", 14) + ", behind mean", "waited for"),
    ],
)
def test_the_one_that_died_first_is_named(tmp_path: Path, rank: int, dies: str, said: str, cause: str) -> None:
    two_ranks.run(tmp_path, TRAIN.replace("RANK", str(rank)).replace("DIES", dies), 3, fails=True)
    status, found = answered(tmp_path)
    assert status == 1
    (finding,) = found["findings"]
    assert finding["cause"] == cause
    assert finding["verdict"] == said
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
            DIES
        for work in [dist.all_reduce(each.grad, async_op=True) for each in model.parameters()]:
            work.wait()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("dies", "said", "last"),
    [
        ("os.kill(os.getpid(), 9)", KILLED.format(1, 14, "rank 0", 11), 11),
        ('raise KeyError("shard")', RAISED.format(1, 13, "rank 0", 14), 13),
    ],
)
def test_it_is_named_where_others_wait_for_the_first_of_several_collectives_that_go_on(
    tmp_path: Path, dies: str, said: str, last: int
) -> None:
    two_ranks.run(tmp_path, BY_HAND.replace("DIES", dies), fails=True)
    status, found = answered(tmp_path)
    assert status == 1
    (finding,) = found["findings"]
    assert finding["verdict"] == said
    assert found["odd"] == ["rank 1"]
    assert [each["last_line"] for each in found["ranks"]] == ["failed at train.py:14", f"train.py:{last}"]
