"""Two runs of one program bit by bit: a deterministic one is the same, and of another the first op is named."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.compare.difference import PARTED, SAME
from graphscope.compare.exact import exact
from graphscope.eventlog.reader import Log
from graphscope.graph import Graph

ROOT = Path(__file__).parents[2]
TIMED = "same_network.py"
"""It runs what it times as often as a tenth of a second lets it."""
SAMPLES = sorted(each.relative_to(ROOT / "samples") for each in (ROOT / "samples").rglob("*.py") if each.name != TIMED)

TRAINING = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    net = nn.Linear(4, 3)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    table = torch.zeros(5, 3)
    names = {"red", "green", "blue", "white", "black", "brown", "pink"}
    x = torch.randn(64, 4)
    for step in range(3):
        scaled = x * 1.0
        hidden = net(scaled)
        total = table.index_add(0, torch.arange(64) % 5, hidden)
        loss = (total ** 2).mean()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    """


def recorded(folder: Path, program: Path, name: str, seed: int = 0) -> Log:
    command = [sys.executable, "-m", "graphscope", "record", "--log", str(folder / name), str(program)]
    said = subprocess.run(
        command, cwd=program.parent, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={"PYTHONHASHSEED": str(seed), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (folder / name).exists(), said.stderr
    return gs.load(folder / name)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(
    ("line", "changed", "op"),
    [
        ("scaled = x * 1.0", "scaled = x + torch.rand(1, generator=torch.Generator().manual_seed(id(x)))", "rand"),
        ("scaled = x * 1.0", "scaled = x * (1.0 + 1e-7 * (hash('pink') % 100))", "mul"),
        ("x = torch.randn(64, 4)", "import os; x = torch.randn(64, 4) + os.getpid()", "add"),
        ("scaled = x * 1.0", "scaled = torch.stack([x * len(each) for each in names]).sum(0)", "mul"),
    ],
)
def test_the_op_that_is_not_deterministic(line: str, changed: str, op: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(TRAINING).strip().replace(line, changed) + "\n")
    found = exact(*(recorded(tmp_path, script, f"{number}.gscope", number + 1) for number in range(2)))
    assert found.verdict == "parted"
    assert found.first is not None
    for side in (found.first.a, found.first.b):
        assert side is not None
        assert (side.op, side.source) == (op, changed)
    assert found.first.step == 1
    assert found.first.inputs_agree
    assert found.first.distance is not None
    assert found.first.distance.different > 0
    parted = found.pairs[found.pairs["state"] == PARTED]
    assert parted["a"][0] == found.first.a.row
    assert found.first.consequences == len(parted) - 1 > 10


@pytest.mark.slow
@pytest.mark.torch
def test_a_run_that_goes_on_is_not_the_same(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    def run(count: int) -> Log:
        with gs.record(tmp_path / f"{count}.gscope"):
            x = torch.ones(3, requires_grad=True)
            for _ in range(count):
                x = x * 2
        return gs.load(tmp_path / f"{count}.gscope")

    found = exact(run(2), run(3))
    assert found.first is not None
    assert (found.first.a, found.first.b and found.first.b.op) == (None, "mul")
    assert (len(found.alone_a), len(found.alone_b)) == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_two_runs_of_every_sample_are_the_same(sample: Path, tmp_path: Path) -> None:
    one, other = (recorded(tmp_path, ROOT / "samples" / sample, f"{number}.gscope", number) for number in range(2))
    found = exact(one, other)
    assert not found, found.data()["parting"]
    assert (found.pairs["state"] == SAME).all()
    assert len(found.pairs) == len(Graph(one).nodes)
