"""Ranks that hold pieces of one model: `fully_shard`, and tensor parallelism."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from graphscope.diagnose import examined
from graphscope.eventlog.reader import load
from graphscope.graph import Graph, series
from graphscope.graph.training import training
from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

torch = pytest.importorskip("torch")
pytest.importorskip("torch.distributed.fsdp")
pytestmark = [pytest.mark.torch, pytest.mark.slow]

PROGRAM = """\
import json
import torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
import graphscope as gs

dist.init_process_group("gloo")
rank = dist.get_rank()

class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(6, width), torch.nn.Linear(width, 9)
        self.norm, self.head = torch.nn.LayerNorm(9), torch.nn.Linear(9, 3)
    def forward(self, x, detaches):
        h = torch.tanh(self.up(x))
        if detaches:
            h = h.detach()
        return self.head(self.norm(torch.relu(self.down(h))))

def whole(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor

def train(way, sharded):
    torch.manual_seed(0)
    model, mesh = Net(17 if sharded else 16), init_device_mesh("cpu", (2,))
    if sharded:
        for part in (model.up, model.down, model.head):
            fully_shard(part, mesh=mesh)
        fully_shard(model, mesh=mesh)
    else:
        parallelize_module(model, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    rate = 0.05 if way == "rate" and rank == 1 else 0.01
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    torch.manual_seed(1 + rank * sharded)
    data, target, told = torch.randn(6, 4, 6), torch.randint(0, 3, (6, 4)), []
    for step in range(6):
        x = data[step]
        if way == "nan" and rank == 1 and step == 2:
            x = x * float("nan")
        loss = torch.nn.functional.cross_entropy(model(x, way.startswith("detached")), target[step])
        if way != "old gradients":
            optimizer.zero_grad()
        loss.backward()
        if way == "detached and looked at":
            looked_at = [whole(each).norm() for each in model.parameters()]
        if way == "clip":
            torch.nn.utils.clip_grad_norm_([each for each in model.parameters() if isinstance(each, DTensor)], 0.5)
        if way == "skip" and rank == 1 and step == 3:
            continue
        if way == "referee":
            held = dict(model.named_parameters())
            before = {name: whole(each).detach().clone() for name, each in held.items()}
            gradients = {name: whole(each.grad).norm().item() for name, each in held.items()}
        optimizer.step()
        if way == "referee":
            after = {name: whole(each).detach() for name, each in held.items()}
            told.append({name: [gradients[name], before[name].norm().item(), (after[name] - before[name]).norm().item(),
                                list(getattr(each, "_local_tensor", each).shape)] for name, each in held.items()})
    return told

for way in WAYS:
    for sharded in (True, False):
        with gs.record(f"{way} {sharded}.gscope".replace(" ", "_")):
            told = train(way, sharded)
        if told:
            with open(f"{sharded} {rank}.json", "w") as file:
                json.dump(told, file)
dist.destroy_process_group()
"""

KINDS = pytest.mark.parametrize("sharded", [True, False], ids=["fully_shard", "tensor_parallel"])
HEALTHY = ("referee", "clip")
OF_ONE_RANK = {
    "rate": "rank 1 takes other steps than the others: its learning rate is 0.05, not 0.01",
    "skip": "rank 1 makes no step after backward pass 4, where the others do",
    "nan": "rank 1: x is nan: the first non-finite value was made by mul at train.py:",
}
OF_ALL_RANKS = {
    "detached": ("missing", "h.detach()"),
    "detached and looked at": ("missing", "h.detach()"),
    "old gradients": ("zero_grad", "loss.backward()"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways to train."""
    found = tmp_path_factory.mktemp("sharded")
    two_ranks.run(found, PROGRAM.replace("WAYS", repr([*HEALTHY, *OF_ONE_RANK, *OF_ALL_RANKS])))
    return found


def _logs(folder: Path, way: str, sharded: bool) -> list[Path]:
    return [folder / f"{way} {sharded}-rank{rank}.gscope".replace(" ", "_") for rank in range(2)]


def _verdicts(folder: Path, way: str, sharded: bool) -> list[str]:
    first, _ = _logs(folder, way, sharded)
    return [each["verdict"] for each in answered(first, where=folder)[1]["findings"]]


def _doctor(log: Path) -> list[tuple[str, int]]:
    return [(each.kind, each.line) for each in examined(Graph(load(log))).findings]


def _line(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


@KINDS
def test_updates_are_those_that_all_pieces_add_up_to(folder: Path, sharded: bool) -> None:
    logs = [load(path) for path in _logs(folder, "referee", sharded)]
    referee = json.loads((folder / f"{sharded} 0.json").read_text())
    shapes = [json.loads((folder / f"{sharded} {rank}.json").read_text())[0] for rank in range(2)]
    found = [{(int(each["step"]), training(log).name(int(each["tensor"]))): each for each in series.updates(log)}
             for log in logs]  # fmt: skip
    assert len(found[0]) == len(found[1]) == 6 * 8
    for step, told in enumerate(referee):
        for name, (gradient, weight, update, _) in told.items():
            pieces = [each[step, name] for each in found]
            facts = [log.attrs(log.event(int(each["row"])).attrs) for log, each in zip(logs, pieces, strict=True)]
            is_piece = "Replicate()" not in facts[0].get("placements", ["Replicate()"])
            for measure, whole in (("gradient", gradient), ("weight", weight), ("update", update)):
                parts = [float(each[measure]) for each in pieces]
                assert (np.hypot(*parts) if is_piece else parts[0]) == pytest.approx(whole, rel=1e-4), (name, measure)
            for log, each, own in zip(logs, pieces, shapes, strict=True):
                row = int(each["row"])
                assert list(log.event(row).shape) == own[name][3]
                assert log.value(row) is not None


@KINDS
@pytest.mark.parametrize("way", HEALTHY)
def test_healthy_programs_are_let_be(folder: Path, way: str, sharded: bool) -> None:
    assert _verdicts(folder, way, sharded) == []
    assert [_doctor(log) for log in _logs(folder, way, sharded)] == [[], []]


@KINDS
@pytest.mark.parametrize("way", OF_ONE_RANK)
def test_what_one_rank_does_is_named(folder: Path, way: str, sharded: bool) -> None:
    (verdict,) = _verdicts(folder, way, sharded)
    assert verdict.startswith(OF_ONE_RANK[way])
    assert way != "nan" or f"train.py:{_line('x * float')}: " in verdict


@KINDS
@pytest.mark.parametrize("way", OF_ALL_RANKS)
def test_what_all_ranks_do_is_named(folder: Path, way: str, sharded: bool) -> None:
    kind, line = OF_ALL_RANKS[way]
    assert [_doctor(log) for log in _logs(folder, way, sharded)] == [[(kind, _line(line))]] * 2


def test_a_module_is_told_to_compute_with_the_weights_of_this_step(folder: Path) -> None:
    log = load(_logs(folder, "clip", True)[0])
    linear = [each for each in log.graph.select("op:linear forward") if each.scope == "up"]
    assert len(linear) == 6
    for each in linear:
        x, weight, bias = (edge.source.value for edge in each.inputs)
        np.testing.assert_allclose(x @ weight.T + bias, each.value, rtol=1e-5, atol=1e-6)
