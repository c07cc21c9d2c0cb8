"""An exported program that is recorded: its graph has the lines and names of the program that was exported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 2)

    def forward(self, x):
        hidden = torch.tanh(self.up(x))
        scaled = hidden * 2
        return self.down(scaled)
"""
EXPORTS = f"""\
{NET}

torch.manual_seed(0)
torch.export.save(torch.export.export(Net(), (torch.randn(3, 4),)), "net.pt2")
"""
RUNS = """\
import sys
import torch
import graphscope as gs

torch.manual_seed(1)
x = torch.randn(3, 4)


def gradients():
    run = torch.export.load("net.pt2").module()
    loss = run(x).square().sum()
    loss.backward()
    return [loss.detach(), *(each.grad for each in run.parameters())]


alone = gradients()
with gs.record(sys.argv[1]):
    recorded = gradients()
assert all(map(torch.equal, alone, recorded))
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> gs.Log:
    folder = tmp_path_factory.mktemp("exported")
    for name, text in (("net.py", EXPORTS), ("runs.py", RUNS)):
        (folder / name).write_text(text)
        command = [sys.executable, "-W", "ignore", name, "run.gscope"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    return gs.load(folder / "run.gscope")


def line(words: str) -> int:
    return EXPORTS[: EXPORTS.index(words)].count("\n") + 1


@pytest.mark.slow
def test_calls_have_the_lines_and_names_of_the_program(log: gs.Log) -> None:
    nodes = [node for node in log.graph.nodes if node.site is not None and Path(node.site.file).name == "net.py"]
    assert [(node.op, node.name, node.site.line) for node in nodes if node.kind == "op"] == [
        ("linear", "", line("hidden =")),
        ("tanh", "hidden", line("hidden =")),
        ("mul", "scaled", line("scaled =")),
        ("linear", "", line("return self.down")),
    ]
    assert {node.name for node in nodes if node.kind == "leaf"} - {""} == {
        "up.weight",
        "up.bias",
        "down.weight",
        "down.bias",
    }


def test_calls_have_formulas_and_gradients_their_lines(log: gs.Log) -> None:
    (tanh,) = log.graph.select("op:tanh forward")
    assert log.op(tanh.event.op).formula == "out = tanh x"
    backward = [node for node in log.graph.nodes if node.kind == "grad" and node.forward == tanh]
    assert [node.site.line for node in backward if node.site is not None] == [line("hidden =")]
