"""Programs of torch.jit that are recorded: every op at its line, every number as without us."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.graph.pass_changes import changes, recorded

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PROGRAM = """\
import torch
from torch import nn
from torch.nn import functional


def helper(x):
    return functional.relu(x) + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.drop = nn.Dropout(0.5)
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x, turns: int = 1):
        h = helper(self.first(x))
        for layer in self.layers:
            h = self.drop(layer(h))
        for turn in range(turns):
            if bool(h.sum() < 100):
                h = torch.tanh(h) * 2.0
        return h.sum()


@torch.jit.script
def lists(x, turns: int = 2):
    found = []
    for turn in range(turns):
        found.append(x * turn)
    known = {"last": x}
    known["last"] = found[-1]
    y = torch.zeros_like(x)
    y[0] = 1.0
    y += known["last"]
    assert turns > 0, "no turns"
    most, place = torch.max(y, 0)
    return torch.stack(found), most, x.shape[0], float(y.sum())


@torch.jit.script
class Pair:
    def __init__(self, x: torch.Tensor):
        self.x = x


@torch.jit.script
def unseen(x):
    return Pair(x).x * 2


torch.manual_seed(0)
net = torch.jit.script(Net())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = net(torch.ones(2, 3), turns=2)
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")  # TorchScript differentiates itself from some call on, and rounds otherwise
traced = torch.jit.trace(nn.Sequential(nn.Linear(3, 2), nn.Tanh()), torch.ones(2, 3))
traced(torch.ones(2, 3)).sum().backward()
print([parameter.grad.sum().item().hex() for parameter in traced.parameters()])
print(lists(torch.ones(3)), lists(torch.ones(3), turns=3))
print(unseen(torch.ones(2)))
try:
    net(torch.ones(2, 3), 1, 2)
except RuntimeError as error:
    print(str(error).splitlines()[0])
"""
LINES = PROGRAM.splitlines()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[gs.Log, str]:
    """The recording of PROGRAM, and what it said; it prints what it prints without us."""
    folder = tmp_path_factory.mktemp("torchscript")
    (folder / "program.py").write_text(PROGRAM)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "ignore", *words, "program.py"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )

    bare, seen = run(), run("-m", "graphscope", "record")
    assert seen.stdout == bare.stdout
    return gs.load(folder / "program.gscope"), seen.stderr


@pytest.mark.slow
def test_each_op_has_its_line(program: tuple[gs.Log, str]) -> None:
    log, _ = program
    found = {(node.label, LINES[node.site.line - 1].strip()) for node in log.graph.nodes if node.kind == "op"}
    assert found >= {
        ("linear", "h = helper(self.first(x))"),
        ("relu", "return functional.relu(x) + 1"),
        ("add", "return functional.relu(x) + 1"),
        ("linear", "h = self.drop(layer(h))"),
        ("tanh", "h = torch.tanh(h) * 2.0"),
        ("mul", "h = torch.tanh(h) * 2.0"),
        ("sum", "return h.sum()"),
        ("mul", "found.append(x * turn)"),
        ("copy_", "y[0] = 1.0"),
        ("add_", 'y += known["last"]'),
        ("max", "most, place = torch.max(y, 0)"),
    }
    for node in log.graph.nodes:
        if node.kind in ("op", "grad"):
            assert node.site is not None
            assert Path(node.site.file).name == "program.py"


@pytest.mark.slow
def test_modules_are_scopes_and_backward_nodes_know_their_forward_nodes(program: tuple[gs.Log, str]) -> None:
    log, _ = program
    linear = [node for node in log.graph.nodes if node.kind == "op" and node.label == "linear"]
    scopes = ["first", "layers.0", "layers.1"]
    assert [log.scope_path(node.event.scope) for node in linear[:12]] == scopes * 4
    rules = [node for node in log.graph.nodes if node.kind == "grad" and node.label == "LinearBackward"]
    assert [rule.forward.row for rule in rules[:3]] == [node.row for node in linear[2::-1]]
    assert {node.name for node in log.graph.nodes if node.kind == "leaf"} >= {"first.weight", "layers.1.bias"}


@pytest.mark.slow
def test_what_is_not_seen_is_told_once(program: tuple[gs.Log, str]) -> None:
    _, said = program
    told = "graphscope: the ops of 'unseen', compiled by torch.jit, are not seen: it uses prim::CreateObject\n"
    assert said.count(told) == 1
    assert said.count("torch.jit") == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_each_pass_of_torchscript_is_told_as_torch_makes_it(tmp_path: Path) -> None:
    (tmp_path / "chained.py").write_text(
        "def chain(x, w):\n    a = (x @ w).tanh() * 2.0\n    b = (x @ w).tanh() * 2.0\n    return (a + b).sum()\n"
    )
    chain = torch.jit.script(runpy.run_path(str(tmp_path / "chained.py"))["chain"])
    with gs.record(passes=True) as log:
        chain(torch.ones(2, 3), torch.ones(3, 2))
    (compilation,) = recorded(log)
    assert (compilation.function, compilation.framework) == ("chain", "TorchScript")
    graph = chain.graph.copy()
    for stage in compilation.stages:
        if stage.name != "before":
            getattr(torch._C, f"_jit_pass_{stage.name}")(graph)
        kinds = [node.kind().partition("::")[2] for node in graph.nodes()]
        assert [node.op for node in stage.graph.nodes if node.op] == kinds
        places = [log.site(node.site) for node in stage.graph.nodes if node.op == "tanh"]
        assert {place.line for place in places if place is not None} <= {2, 3}
    found = {change.stage.name: change for change in changes(compilation)}
    gathered = found["create_autodiff_subgraphs"]
    ((fused, members),) = gathered.members.items()
    assert fused.op == "DifferentiableGraph"
    assert [member.op for member in members] == ["matmul", "tanh", "mul", "add"]
    merged = next(each for each in changes(compilation) if each.stage.name == "cse")
    assert sorted(key.op for key, state in merged.states.items() if state == "removed") == ["matmul", "mul", "tanh"]
