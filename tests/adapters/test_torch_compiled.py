"""What `torch.compile` made, kept compiled: the same numbers and as much compiled as without us, each region a node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.kept_regions import MARKS, VERSION

pytestmark = MARKS

PROGRAM = """\
import json, sys
import torch
from torch import nn
from torch._dynamo.utils import counters
import graphscope as gs

backend = sys.argv[1]

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient * ctx.saved_tensors[0]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout(0.2))
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.inner[0].register_forward_hook(lambda module, given, result: result * 1.5)
    def forward(self, x):
        return Square.apply(self.encoder(self.inner(x)[:, None]).squeeze(1))

def chosen(x):
    return torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (x,))

@torch.compiler.disable
def plainly(x):
    return x * 3 + 1

def broken(model, x):
    y = model(x)
    print(end="")
    if y.sum() > -1e6:
        y = y + 1
    return (plainly(y.cos()) + torch.nonzero(y > 0).sum() + chosen(x)).mean()

def train():
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = Net()
    whole, parts = torch.compile(model, backend=backend), torch.compile(broken, backend=backend)
    optimizer = torch.optim.Adam(model.parameters())
    found = []
    for _ in range(4):
        x = torch.randn(6, 8, requires_grad=True)
        optimizer.zero_grad()
        loss = parts(model, x) + whole(x).square().mean()
        loss.backward()
        optimizer.step()
        found += [loss.detach().clone(), x.grad.clone(), *(each.grad.clone() for each in model.parameters())]
    model.eval()
    with torch.no_grad():
        found += [whole(x), whole(x)]
    return [*found, *model.state_dict().values(), torch.get_rng_state()]

def compiled():
    counts = {name: dict(counters[name]) for name in ("stats", "frames")}
    counts["breaks"] = sum(counters["graph_break"].values())
    torch._dynamo.reset()
    counters.clear()
    return counts

alone, count = train(), compiled()
with gs.record(sys.argv[2], capture="compiled"):
    recorded = train()
same = all(torch.equal(one, other) for one, other in zip(alone, recorded, strict=True))
print(json.dumps({"same": same, "counts": [count, compiled()]}))
"""


def run(text: str, *arguments: Any) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-c", text, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_as_much_is_compiled_as_without_us_and_the_numbers_are_the_same(tmp_path: Path) -> None:
    found = run(PROGRAM, "aot_eager", tmp_path / "run.gscope")
    assert found["same"]
    alone, recorded = found["counts"]
    assert recorded == alone
    assert alone["breaks"] > 1
    assert alone["stats"]["unique_graphs"] > 4


REGIONS = """\
import json, sys
import torch
import graphscope as gs

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))

def loss_of(x):
    y = model(x).square()
    torch._dynamo.graph_break()
    return y.log().mean()

broken, whole = (torch.compile(each, backend=sys.argv[1]) for each in (loss_of, model))
x = torch.randn(3, 4)
with gs.record(sys.argv[2], capture="compiled") as log:
    loss = broken(x)
    total = whole(x).exp().sum() + loss
    total.backward()
log.refresh()
graph = log.graph
parameters = dict(model.named_parameters())
kept = {node.name: node.grad.tolist() for node in graph.nodes if node.kind == "leaf" and node.name in parameters}
print(json.dumps({
    "nodes": [[node.label, node.name, node.site.line, [edge.source.label for edge in node.inputs]]
              for node in graph.nodes if "ompiled" in node.label and ".running" not in node.name],
    "others": [node.op for node in graph.nodes if node.kind == "op" and not node.op.startswith("compiled")],
    "loss": loss.item() in [node.value for node in graph.select("op:compiled_loss_of forward") if not node.shape],
    "gradients": kept == {name: each.grad.tolist() for name, each in parameters.items()},
}))
"""


@pytest.mark.skipif(VERSION < (2, 7), reason="behind a graph break torch 2.6 tells the line where the function began")
def test_a_region_is_a_node_of_what_goes_in_and_comes_out(tmp_path: Path) -> None:
    backend = "inductor" if shutil.which("c++") else "aot_eager"
    found = run(REGIONS, backend, tmp_path / "run.gscope")
    forward = [each for each in found["nodes"] if each[0].startswith("compiled")]
    assert [(label, line) for label, _, line, _ in forward] == [
        ("compiled_loss_of", 8), ("compiled_loss_of", 8), ("compiled_loss_of", 10),
        ("compiled_Sequential", 17), ("compiled_Sequential", 17),
    ]  # fmt: skip
    assert [name for _, name, _, _ in forward] == ["1.num_batches_tracked", "", "", "1.num_batches_tracked", ""]
    parameters = {f"{layer}.{name}" for layer in range(3) for name in ("weight", "bias")}
    buffers = {f"1.{name}" for name in ("num_batches_tracked", "running_mean", "running_var")}
    assert set(forward[1][3]) == {"x", *parameters, *buffers}
    assert forward[2][3] == ["compiled_loss_of"]
    assert set(forward[4][3]) == {"x", *parameters, "compiled_loss_of"}
    assert [(label, line, inputs) for label, _, line, inputs in found["nodes"] if label.startswith("C")] == [
        ("CompiledSequentialBackward", 17, ["ExpBackward"]),
        ("CompiledLossOfBackward", 10, ["AddBackward"]),
        ("CompiledLossOfBackward", 8, ["CompiledLossOfBackward"]),
    ]
    assert found["others"] == ["exp", "sum", "add"]
    assert found["loss"]
    assert found["gradients"]


BROKEN = """\
import json, warnings
from unittest.mock import patch
import torch
import graphscope as gs
from graphscope.adapters.torch import compiled_regions, region_rows

found = {}
for name, owner in (("_name", region_rows), ("_source", region_rows), ("RegionRows", compiled_regions)):
    torch._dynamo.reset()
    double = torch.compile(lambda x: x.sin() * 2, backend="eager")
    broken = patch.object(owner, name, side_effect=LookupError)
    with broken, warnings.catch_warnings(record=True) as told, gs.record(capture="compiled"):
        warnings.simplefilter("always")
        same = torch.equal(double(torch.ones(3)), torch.ones(3).sin() * 2)
    found[name] = same, sum("recording PyTorch ended" in str(each.message) for each in told)
print(json.dumps(found))
"""


def test_what_goes_wrong_with_a_region_is_not_the_programs() -> None:
    assert run(BROKEN) == {name: [True, 1] for name in ("_name", "_source", "RegionRows")}
