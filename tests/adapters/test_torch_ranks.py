"""A program that runs as several ranks: one log each, lined up by what the ranks do together."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
dist = pytest.importorskip("torch.distributed")
if not dist.is_available():
    pytest.skip("torch was built without its distributed part", allow_module_level=True)

import graphscope as gs
from graphscope.adapters.torch.supported_versions import VERSIONS
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.eventlog.reader import load
from graphscope.graph.collectives import line_up

pytestmark = pytest.mark.torch

RANKED = """\
import json
import torch, torch.distributed as dist
import graphscope as gs

dist.init_process_group("gloo")
rank = dist.get_rank()

def train():
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        optimizer.zero_grad()
        with model.no_sync():
            model(torch.ones(1, 3)).sum().backward()
        loss = model(torch.ones(2, 3) * rank).sum()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        parts = [torch.zeros(2), torch.zeros(2)]
        dist.all_gather(parts, torch.ones(2) * rank)
        dist.all_reduce(total, async_op=True).wait()
    dist.barrier()
    return [total.item(), *model.module.weight[0].tolist(), *model.module.weight.grad[0].tolist()]

bare = train()
with gs.record("run.gscope", values="summary"):
    recorded = train()
with open(f"{rank}.json", "w") as file:
    json.dump([bare, recorded], file)
dist.destroy_process_group()
"""


GROUPED = """\
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
import graphscope as gs

@gs.record("run.gscope")
def train():
    pass

dist.init_process_group("fake", store=FakeStore(), rank=2, world_size=4)
train()
with gs.record("other.gscope"):
    pass
"""


@pytest.mark.slow
def test_a_rank_that_no_launcher_tells_is_that_of_its_group(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", GROUPED], cwd=tmp_path, check=True, env=environment)
    assert sorted(log.name for log in tmp_path.iterdir()) == ["other-rank2.gscope", "run-rank2.gscope"]


@pytest.mark.slow
def test_each_rank_has_a_log_of_its_own_and_they_line_up(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RANKED, encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "train.py"]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TMPDIR": str(tmp_path),
    }
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300, capture_output=True, env=environment)
    logs = []
    for rank in range(2):
        bare, recorded = json.loads((tmp_path / f"{rank}.json").read_text())
        assert bare == recorded  # to the last bit
        log = gs.load(tmp_path / f"run-rank{rank}.gscope")
        weight = log.graph.select("module.weight")[0]
        np.testing.assert_array_equal(weight.grad[0], np.float32(recorded[-3:]))  # the mean over the ranks
        logs.append(log)
    meetings = line_up(logs)
    ops = [[log.op(event.op).name for event in each.events if event] for each in meetings for log in logs[:1]]
    assert [names[0] for names in ops] == [*("all_reduce", "all_reduce", "all_gather", "all_reduce") * 2, "barrier"]
    assert all(len(names) == 2 for names in ops)
    first, second = meetings[1].events
    assert first is not None
    assert second is not None
    assert logs[0].value(first.row) == logs[1].value(second.row)  # all have the sum
    table = interpreter.run(Debugger(load(logs[0].path)), "ranks")
    assert table.columns == ("collective", "line", "rank 0", "rank 1")
    assert len(table.rows) == 9
    assert table.note == ""


@pytest.fixture
def alone() -> Iterator[Any]:
    """A process group of this process."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield dist
    dist.destroy_process_group()


@pytest.mark.filterwarnings("ignore")
def test_a_long_run_needs_no_larger_tables_than_a_short_one(alone: Any, tmp_path: Path) -> None:
    """The number of a collective lies in its rows, behind their inputs, as NumPy alone reads it."""
    counts = []
    for name, steps in (("short", 3), ("long", 70)):
        with gs.record(tmp_path / f"{name}.gscope"):
            x, parts = torch.ones(2), [torch.ones(2)]
            for _ in range(steps):
                alone.all_reduce(x, async_op=True).wait()
                alone.all_gather(parts, x)
                alone.barrier()
        counts.append(len(load(tmp_path / f"{name}.gscope").table("attrs")))
        files = sorted((tmp_path / f"{name}.gscope" / "segments").glob("*/events.npy"))
        rows = np.concatenate([np.load(file) for file in files])
        (waits,) = np.nonzero(rows["kind"] == 19)
        met = [int(each["inputs"][each["input_count"]]) for each in rows[waits]]
        later = [int(each["inputs"][each["input_count"]]) for each in rows[waits + 1]]
        assert met == later == [3 * step + each for step in range(steps) for each in (0, 0, 1, 2)]
    assert counts[0] == counts[1]


@pytest.mark.filterwarnings("ignore")
def test_where_ranks_part_is_told(alone: Any, tmp_path: Path) -> None:
    for rank in range(2):
        with gs.record(tmp_path / f"run-rank{rank}.gscope"):
            x = torch.ones(2)
            alone.broadcast(x, 0)
            if rank == 0:
                alone.all_reduce(x)
            elif rank == 1:
                alone.broadcast(x, 0)
    note = interpreter.run(Debugger(load(tmp_path / "run-rank0.gscope")), "ranks").note
    assert "rank 1 parts from rank 0: it calls broadcast of [2] at test_torch_ranks.py:" in note
    assert "where rank 0 calls all_reduce" in note


LEFT_ALONE = """\
import os, sys
import torch, torch.distributed as dist
import graphscope as gs

dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/meeting", rank=int(sys.argv[2]), world_size=2)
rank = dist.get_rank()
with gs.record("run.gscope"):
    x = torch.ones(2) * rank
    if rank == 0:
        dist.send(x + 3, 1)
    else:
        dist.recv(x, 0)
    y = x * 2
    dist.all_reduce(y)
    if rank == 0:
        dist.all_reduce(y)  # rank 1 has ended, and this fails; with more ranks it might wait for ever
if rank == 1:
    os._exit(0)  # gloo may abort a process that ends in order while another still calls it
"""


BEGUN = """\
import os, sys
import torch, torch.distributed as dist
from torch.distributed import irecv
import graphscope as gs

dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/meeting", rank=int(sys.argv[2]), world_size=2)
rank = dist.get_rank()
with gs.record("run.gscope"):
    x, y = torch.ones(2) * rank, torch.zeros(2)
    sent, came = dist.isend(x + 3, 1 - rank), dist.irecv(y, 1 - rank)
    came.wait()
    sent.wait()
    pair = [dist.P2POp(dist.isend, x + y, 1 - rank), dist.P2POp(irecv, y, 1 - rank)]
    for each in dist.batch_isend_irecv(pair):
        each.wait()
    work = dist.all_reduce(y, async_op=True)
    work.wait()
    z = y * 2
    if rank == 0:
        dist.irecv(z, 1).wait()  # rank 1 has ended, and this fails
if rank == 1:
    os._exit(0)  # gloo may abort a process that ends in order while another still calls it
"""


SHARDED = """\
import json, sys
import torch, torch.distributed as dist
from torch import nn
import graphscope as gs

dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/meeting", rank=int(sys.argv[2]), world_size=2)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

def train():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    for part in (model[0], model[2], model):
        fully_shard(part, mesh=init_device_mesh("cpu", (2,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        optimizer.zero_grad()
        loss = model(torch.ones(3, 4) * (dist.get_rank() + 1)).sum()
        loss.backward()
        optimizer.step()
    return [loss.item(), *(each.to_local().sum().item() for each in model.parameters())]

bare = train()
with gs.record("run.gscope"):
    recorded = train()
assert bare == recorded
"""


def run_ranks(program: str, folder: Path) -> list[int]:
    """Run a program as two ranks; their exit codes."""
    (folder / "train.py").write_text(program, encoding="utf-8")
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "WORLD_SIZE": "2",
    }
    ranks = [
        subprocess.Popen(
            [sys.executable, "train.py", str(folder), str(rank)], cwd=folder, stderr=subprocess.DEVNULL,
            env={**environment, "RANK": str(rank)},
        )
        for rank in range(2)
    ]  # fmt: skip
    return [rank.wait(timeout=120) for rank in ranks]


@pytest.mark.slow
def test_a_rank_that_waits_for_ever_is_told_and_what_two_do_together(tmp_path: Path) -> None:
    assert run_ranks(LEFT_ALONE, tmp_path) == [1, 0]
    table = interpreter.run(Debugger(load(tmp_path / "run-rank0.gscope")), "ranks")
    assert [row[0] for row in table.rows] == ["send", "all_reduce", "all_reduce"]
    assert "recv" in table.rows[0][3]
    assert table.rows[2][1] == "train.py:16"
    assert table.rows[2][2].endswith("waits")
    assert table.rows[2][3] == ""
    assert table.note.startswith("rank 1 did not come to all_reduce at train.py:16")
    received = gs.load(tmp_path / "run-rank1.gscope").graph
    assert received.select("op:recv")[0].value.tolist() == [3.0, 3.0]
    assert [edge.source.op for edge in received.select("op:mul")[-1].inputs] == ["recv"]


@pytest.mark.slow
def test_what_is_begun_and_waited_for_later_has_its_value_at_the_wait(tmp_path: Path) -> None:
    assert run_ranks(BEGUN, tmp_path) == [1, 0]
    graph = gs.load(tmp_path / "run-rank1.gscope").graph
    moved = [node for node in graph.nodes if node.op in ("isend", "irecv", "all_reduce", "wait")]
    assert [node.op for node in moved] == ["isend", "irecv", "wait", "wait"] * 2 + ["all_reduce", "wait"]
    assert [node.value for node in moved if node.op != "wait"] == [None] * 5
    received, both = ([edge.source for edge in graph.select(spec)[-1].inputs] for spec in ("op:add", "op:mul"))
    assert [node.op for node in received] == ["mul", "wait"]
    assert received[1].value.tolist() == [3.0, 3.0]  # as rank 0 sent it
    assert [edge.source.op for edge in received[1].inputs] == ["irecv"]
    assert both[0].value.tolist() == [8.0, 8.0]
    table = interpreter.run(Debugger(load(tmp_path / "run-rank0.gscope")), "ranks")
    assert [row[0] for row in table.rows] == [*["isend", "irecv"] * 2, "all_reduce", "wait"]
    assert all("recv" in row[3] for row in table.rows if row[0] == "isend")
    assert table.rows[-1][1:] == ("train.py:20", table.rows[-1][2], "")
    assert table.rows[-1][2].endswith("waits")


@pytest.mark.slow
def test_sharded_parameters_are_gathered_and_their_gradients_scattered(tmp_path: Path) -> None:
    if VERSIONS.number < (2, 7):
        pytest.skip("torch shards on the CPU from 2.7 on")
    assert run_ranks(SHARDED, tmp_path) == [0, 0]  # bit-identical on both
    table = interpreter.run(Debugger(load(tmp_path / "run-rank0.gscope")), "ranks")
    moved = [row[0].removesuffix("_single").removesuffix("_into_tensor").removesuffix("_tensor") for row in table.rows]
    assert moved == [*["all_gather"] * 4, *["reduce_scatter"] * 2] * 2
    assert table.note == ""


@pytest.mark.filterwarnings("ignore")
def test_what_a_collective_writes_is_a_new_version(alone: Any) -> None:
    with gs.record() as log:
        x = torch.ones(2)
        alone.all_reduce(x)
        y = x * 3
    log.refresh()
    (node,) = log.graph.select("op:all_reduce")
    assert node.event.version == 1
    assert [edge.source.row for edge in log.graph.select("op:mul")[0].inputs] == [node.row]
    assert y.sum() == 6
    assert alone.all_reduce is torch.distributed.all_reduce
    assert "graphscope" not in alone.all_reduce.__code__.co_filename
