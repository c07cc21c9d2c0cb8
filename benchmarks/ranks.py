"""Many ranks: what comparing the logs of 10, 100 and 1,000 takes, one of which parts from the others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.engines import load
from benchmarks.plot import Line, lines
from benchmarks.results import PAGE, ROOT, Measurement

COUNTS: Final = (10, 100, 300, 1_000)
ROWS: Final = 100_000
"""Of each rank."""
ODD: Final = 7
"""The rank whose learning rate is another one, from a step on."""
STEP: Final = 1_500
CORES: Final = 2
MACHINES: Final = (10, 100)
"""Of an engine, for which the time is estimated."""
PICTURE: Final = PAGE.parent / "images" / "ranks.svg"


def record(path: Path, world: int, rank: int, rows: int) -> None:
    """Record so many rows of a training of a small perceptron whose gradients all ranks average by hand.

    The ranks of PyTorch's own group for tests exchange nothing: what is recorded is what a rank does.
    """
    torch, gs = load("torch"), load("graphscope")
    dist, fake = torch.distributed, load("torch.testing._internal.distributed.fake_pg")
    dist.init_process_group("fake", store=fake.FakeStore(), rank=rank, world_size=world)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with gs.record(path, values="summary"):
        writer = load("graphscope.eventlog.record").writer
        for step in range(1, rows):
            if writer.end - writer.base >= rows:
                break
            if rank == ODD and step == STEP:
                optimizer.param_groups[0]["lr"] *= 1.1
            x = torch.randn(16, 8)
            optimizer.zero_grad()
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward()
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
            optimizer.step()
    dist.destroy_process_group()


def place_ranks(usual: Path, odd: Path, folder: Path, count: int) -> None:
    """Lay down the logs of so many ranks: rows and tables are files of each, the values of all but one are the same."""
    for rank in range(count):
        source = odd if rank == ODD else usual
        shutil.copytree(source, folder / f"run-rank{rank}.gscope", copy_function=_laid)


def _laid(source: str, target: str) -> str:
    if Path(source).name in ("values.npy", "edges.npy", "outputs.npy"):
        os.link(source, target)
        return target
    return shutil.copyfile(source, target)


def measure() -> list[Measurement]:
    """Compare them in a process of its own, which starts others."""
    with beside() as folder:
        found = []
        for count in COUNTS:
            recorded = folder / f"recorded-{count}"
            for rank in (0, ODD):
                record(recorded / "run.gscope", count, rank, ROWS)
            usual, odd = (recorded / f"run-rank{rank}.gscope" for rank in (0, ODD))
            place_ranks(usual, odd, folder / str(count), count)
            found.append(compared(f"{count:,} ranks", folder / str(count)))
            shutil.rmtree(folder / str(count))
            shutil.rmtree(recorded)
        PICTURE.write_text(picture(dict(zip(COUNTS, found, strict=True))), encoding="utf-8")
        return [*found, *(estimated(found[-1], machines) for machines in MACHINES)]


def picture(found: dict[int, Measurement]) -> str:
    """How the time grows with the ranks, here and on machines of an engine."""
    drawn = [Line(f"on {CORES} cores", [(count, each.numbers["seconds"]) for count, each in found.items()])]
    drawn.append(
        Line(
            f"on {MACHINES[0]} machines of {CORES} cores, estimated",
            [(count, estimated(each, MACHINES[0]).numbers["seconds"]) for count, each in found.items()],
        )
    )
    return lines({"seconds that `graphscope ranks` takes": drawn}, axis="ranks of 100,000 rows each:")


@contextmanager
def beside() -> Iterator[Path]:
    """A folder on a disk with room for all of it, that goes away."""
    with tempfile.TemporaryDirectory(prefix="benchmark-ranks-") as folder:
        yield Path(folder)


def compared(name: str, folder: Path) -> Measurement:
    """What `graphscope ranks` takes: seconds, of all processors, and the most memory of one process of it."""
    program = (
        "import contextlib, io, json, resource, sys, time\n"
        "from graphscope.cli import main\n"
        "if __name__ == '__main__':\n"
        "    began = time.perf_counter()\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as told:\n"
        "        main(['ranks', sys.argv[1], '--json'])\n"
        "    took = time.perf_counter() - began\n"
        "    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))\n"
        "    found = json.loads(told.getvalue())\n"
        "    print(json.dumps({'odd': found['odd'], 'steps': [each['first_step'] for each in found['findings']],\n"
        "        'seconds': took,\n"
        "        'seconds, of the processors': own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime,\n"
        "        'bytes, of the one that compares': own.ru_maxrss * 1024,\n"
        "        'bytes, of one that reads': others.ru_maxrss * 1024}))\n"
    )
    script = folder / "compare.py"
    script.write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT.parent), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(script), str(folder)], capture_output=True, check=True, text=True, env=environment
    )
    said = json.loads(done.stdout.splitlines()[-1])
    if (said.pop("odd"), said.pop("steps")) != ([f"rank {ODD}"], [STEP]):
        raise AssertionError("the rank that parts was not found where it does")
    return Measurement(name, said)


def estimated(most: Measurement, machines: int) -> Measurement:
    """What an engine of so many machines would take: logs are read apart, and compared in one place."""
    processors, seconds = most.numbers["seconds, of the processors"], most.numbers["seconds"]
    alone = max(seconds - processors / CORES, 0.0)
    return Measurement(
        f"{most.name}, estimated for {machines} machines of {CORES} cores",
        {"seconds": alone + processors / CORES / machines},
    )
