"""What one of two ranks does to gradients alone, or leaves out, behind and ahead of what averages them."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphscope.diagnose import examined
from graphscope.eventlog.reader import load
from graphscope.graph import Graph
from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered, check_one

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
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    if "by hand" not in way:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    torch.manual_seed(rank)
    for step in range(6):
        forgets = way.startswith("forgotten by") and rank == 1 or way == "forgotten once" and rank == 0 and step == 3
        if not forgets:
            optimizer.zero_grad()
        model(torch.randn(5, 4)).square().mean().backward()
        if "by hand" in way:
            for each in model.parameters():
                dist.all_reduce(each.grad)
                each.grad /= 2
        if way.startswith("clipped alone") and rank == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        if way == "clipped otherwise":
            nn.utils.clip_grad_norm_(model.parameters(), 0.01 * (1 + rank))
        if way == "clipped from the third on" and rank == 1 and step > 1:
            nn.utils.clip_grad_value_(model.parameters(), 0.001)
        if way == "scaled otherwise":
            for each in model.parameters():
                each.grad.mul_(0.5 if rank == 0 else 0.25)
        if way == "looked at" and rank == 1:
            print(sum(each.grad.norm() for each in model.parameters()) > 0)
        if way in ("clipped by all", "looked at"):
            nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        optimizer.step()

for way in WAYS:
    with gs.record(way.replace(" ", "_") + ".gscope"):
        train(way)
for way in UNKEPT:
    with gs.record("unkept_" + way.replace(" ", "_") + ".gscope", values="none"):
        train(way)
dist.destroy_process_group()
"""

SICK = {
    "clipped alone": ("rank 0", "nn.utils.clip_grad_norm_(model.parameters(), 0.01)", 1, "it runs clip_grad_norm_ at"),
    "clipped alone by hand": ("rank 0", "nn.utils.clip_grad_norm_(model.parameters(), 0.01)", 1, "it runs clip_grad_"),
    "clipped otherwise": ("rank 1", "nn.utils.clip_grad_norm_(", 1, "with 0.02, where rank 0 gives 0.01"),
    "clipped from the third on": ("rank 1", "nn.utils.clip_grad_value_(", 3, "which the others don't"),
    "scaled otherwise": ("rank 1", "each.grad.mul_(", 1, "with 0.25, where rank 0 gives 0.5"),
    "forgotten by one": ("rank 1", "optimizer.zero_grad()", 2, "where rank 0 clears them at train.py:"),
    "forgotten by one by hand": ("rank 1", "optimizer.zero_grad()", 2, "where rank 0 clears them at train.py:"),
    "forgotten once": ("rank 0", "optimizer.zero_grad()", 4, "where rank 1 clears them at train.py:"),
}
"""The rank, the line, the step counted from 1, and a part of what is said."""
HEALTHY = ["clipped by all", "looked at"]
UNKEPT = [each for each in [*SICK, *HEALTHY] if each.startswith(("clipped", "scaled", "looked"))]
"""What the calls alone tell, where values are not kept."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways."""
    made = tmp_path_factory.mktemp("ranks")
    two_ranks.run(made, TRAIN.replace("WAYS", repr([*SICK, *HEALTHY])).replace("UNKEPT", repr(UNKEPT)))
    return made


@pytest.mark.parametrize("way", SICK)
def test_the_rank_and_the_line_are_named(folder: Path, way: str) -> None:
    check_one(folder / f"{way.replace(' ', '_')}-rank0.gscope", *SICK[way])


@pytest.mark.parametrize("way", UNKEPT)
def test_calls_tell_the_same_where_values_are_not_kept(folder: Path, way: str) -> None:
    logs = folder / f"unkept_{way.replace(' ', '_')}-rank0.gscope"
    if way in SICK:
        check_one(logs, *SICK[way])
    else:
        assert answered(logs, where=folder)[1]["findings"] == []


@pytest.mark.parametrize("way", HEALTHY)
def test_what_all_do_alike_is_let_be(folder: Path, way: str) -> None:
    told = answered(folder / f"{way.replace(' ', '_')}-rank0.gscope", where=folder)[1]
    assert (told["findings"], told["unjudged"]) == ([], [])


def test_doctor_sees_gradients_that_pile_up_behind_the_averaging(folder: Path) -> None:
    found = [
        [each.kind for each in examined(Graph(load(folder / f"forgotten_by_one-rank{rank}.gscope")))] for rank in (0, 1)
    ]
    assert found == [[], ["zero_grad"]]
