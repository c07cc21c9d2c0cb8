"""Replicas of which one makes fewer steps: the others wait for it in a backward pass, which then fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """\
import torch, torch.distributed as dist
import graphscope as gs
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank)
with gs.record("run.gscope"):
    try:
        for step in range(6 - 2 * rank):
            optimizer.zero_grad()
            model(torch.randn(5, 4)).square().mean().backward()  # waits
            optimizer.step()
    except RuntimeError as error:
        print(error)
"""


def test_the_rank_that_has_ended_is_named(tmp_path: Path) -> None:
    """Nothing says of the pass that failed that its gradients were averaged."""
    two_ranks.run(tmp_path, TRAIN)
    (finding,) = answered(tmp_path / "run-rank0.gscope", where=tmp_path)[1]["findings"]
    line = next(number for number, text in enumerate(TRAIN.splitlines(), 1) if "# waits" in text)
    assert finding["cause"] == "waited for"
    said = f"rank 1 did not come to all_reduce at train.py:{line}, where rank 0 waits: its program has ended"
    assert finding["verdict"].startswith(said)
