"""A program against what `torch.compile` makes of it: the same up to rounding, else the region is told that parts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphscope.compare import Difference, diff

pytestmark = [pytest.mark.torch, pytest.mark.slow]

EAGER = """import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(16, 32), nn.LayerNorm(32), nn.Linear(32, 4)

    def forward(self, x):
        h = self.norm(self.up(x))
        # here
        h = F.gelu(h)
        return self.down(h)


model = Net()
x, target = torch.randn(8, 16), torch.randint(4, (8,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), target)
    loss.backward()
    optimizer.step()
"""
WRONG = """def wrong(graph, inputs):
    for node in graph.graph.nodes:
        if node.target is F.gelu:
            node.kwargs = {"approximate": "tanh"}
    graph.recompile()
    return graph


model = torch.compile(Net(), backend=wrong)
"""


def recorded(text: str, script: Path) -> Path:
    script.write_text(text, encoding="utf-8")
    log = script.with_suffix(".gscope")
    command = [sys.executable, "-W", "ignore", "-m", "graphscope", "record", "--capture", "compiled", "--log"]
    done = subprocess.run([*command, str(log), str(script)], capture_output=True, text=True, cwd=script.parent)
    assert done.returncode == 0, done.stderr
    if not any("compiled" in op for op in _ops(log)) and "torch.compile" in text:
        pytest.skip("this version of torch keeps no region")
    return log


def _ops(log: Path) -> set[str]:
    from graphscope.eventlog.reader import load
    from graphscope.graph import Graph

    return {node.op for node in Graph(load(log)).nodes}


def compared(text: str, folder: Path) -> Difference:
    pytest.importorskip("torch")
    return diff(recorded(EAGER, folder / "a.py"), recorded(text, folder / "b.py"))


def line(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n") + 1


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_what_is_compiled_computes_the_same(backend: str, tmp_path: Path) -> None:
    if backend == "inductor" and shutil.which("g++") is None:
        pytest.skip("no C++ compiler")
    found = compared(EAGER.replace("Net()\n", f"torch.compile(Net(), backend={backend!r})\n"), tmp_path)
    assert found.verdict == "same", str(found)


def test_the_region_is_told_that_computes_something_else(tmp_path: Path) -> None:
    text = EAGER.replace("model = Net()\n", WRONG)
    first = compared(text, tmp_path).first
    assert first is not None
    assert first.a is not None
    assert first.b is not None
    assert (first.cause, first.when, first.step) == ("compiled", "forward", 1)
    assert first.b.line == line(text, "model(x)")
    (told,) = (fact for fact in first.facts if fact.name == "computes")
    assert f"gelu (line {line(EAGER, 'F.gelu')})" in told.a
    (call,) = (fact for fact in first.facts if fact.name == "first other call")
    assert (call.a, call.b) == (
        f"gelu (line {line(EAGER, 'F.gelu')})",
        f"gelu(·, approximate=tanh) (line {line(text, 'F.gelu(h)')})",
    )


def test_a_graph_break_halves_the_region_that_is_looked_for(tmp_path: Path) -> None:
    text = EAGER.replace("model = Net()\n", WRONG).replace("# here", "torch._dynamo.graph_break()")
    first = compared(text, tmp_path).first
    assert first is not None
    assert first.a is not None
    assert first.a.line == line(EAGER, "F.gelu")
    (told,) = (fact for fact in first.facts if fact.name == "computes")
    assert "layer_norm" not in told.a
