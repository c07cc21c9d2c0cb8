"""Runs that part behind their first step: the step is found, and what parts them in it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import graphscope as gs
from graphscope.compare import diff
from graphscope.eventlog.reader import Log
from tests.quick import one_quick

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

TRAINING = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 2))
x = torch.randn(64, 8)
y = torch.stack([x.sum(1), x.prod(1)], 1)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 6, 0.5)
for step in range(12):
    rows = slice(step % 4 * 16, step % 4 * 16 + 16)
    torch.manual_seed(step)
    loss = (net(x[rows]) - y[rows]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
"""

WRITTEN_OUT = TRAINING.replace("net(x[rows])", "model(x[rows])").replace(
    "x = torch.randn",
    """
def model(x):
    x = x @ net[0].weight.T + net[0].bias
    mean = x.mean(-1, keepdim=True)
    x = (x - mean) / torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + 1e-5) * net[1].weight + net[1].bias
    x = torch.tanh(x)
    return net[3](x) @ net[4].weight.T + net[4].bias

x = torch.randn""",
)  # fmt: skip

SEED = "    torch.manual_seed(step)"
LET_GO = "    if step == 4: optimizer.param_groups[0]['params'].pop(0)\n"

CHANGES = {
    "mode": ("    loss = ", "    net.train(step < 7)\n    loss = ", 8, "forward", ("dropout",)),
    "data": ("    torch.manual_seed(step)", "    x = x.flip(0) if step == 5 else x\n" + SEED, 6, "forward", None),
    "schedule": ("optimizer, 6, 0.5)", "optimizer, 5, 0.5)", 6, "update", ("scheduler.step",)),
    "rate": ("optimizer, 6, 0.5)", "optimizer, 6, 0.499)", 7, "update", ("scheduler.step",)),
    "clip": (", 1.0)", ", 1.0 if step < 9 else 0.1)", 10, "update", ("clip_grad_norm_",)),
    "let go": ("    loss.backward()", LET_GO + "    loss.backward()", 5, "update", None),
    "betas": ("lr=1e-3)", "lr=1e-3, betas=(0.9, 0.99))", 2, "update", ("AdamW",)),
}  # fmt: skip


def recorded(folder: Path, text: str, name: str, values: Literal["full", "summary", "none"] = "full") -> Log:
    script = folder / f"{name}.py"
    script.write_text(text)
    with gs.record(folder / f"{name}.gscope", values=values):
        exec(compile(text, str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / f"{name}.gscope")


@pytest.mark.slow
@pytest.mark.parametrize("base", [TRAINING, WRITTEN_OUT], ids=["one structure", "another structure"])
@pytest.mark.parametrize("name", one_quick(CHANGES))
def test_the_step_that_parts(name: str, base: str, tmp_path: Path) -> None:
    line, changed, step, when, sources = CHANGES[name]
    assert line in base
    found = diff(recorded(tmp_path, TRAINING, "a"), recorded(tmp_path, base.replace(line, changed), "b")).first
    assert found is not None
    assert (found.step, found.when) == (step, when), found
    told = [side.source + side.op for side in (found.a, found.b) if side is not None]
    assert sources is None or any(each in text for each in sources for text in told), found


@pytest.mark.slow
def test_another_structure_parts_in_no_step(tmp_path: Path) -> None:
    found = diff(recorded(tmp_path, TRAINING, "a"), recorded(tmp_path, WRITTEN_OUT, "b"))
    assert not found, found.first


PLAYERS = """
import torch
from torch import nn
from torch.nn.functional import softplus
torch.manual_seed(0)
maker, judge = (nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, size)) for size in (2, 1))
mine = torch.optim.Adam(maker.parameters(), lr=2e-4, betas=(0.5, 0.999))
theirs = torch.optim.Adam(judge.parameters(), lr=2e-4, betas=(0.5, 0.999))
for step in range(4):
    real, fake = torch.randn(32, 2) + 3, maker(torch.randn(32, 2))
    theirs.zero_grad()
    (softplus(-judge(real)) + softplus(judge(fake.detach()))).mean().backward()
    theirs.step()
    mine.zero_grad()
    softplus(-judge(fake)).mean().backward()
    mine.step()
"""


@pytest.mark.slow
def test_an_optimizer_of_one_of_two_players(tmp_path: Path) -> None:
    """What it is told of betas shows in its second step, the fourth in all."""
    other = PLAYERS.replace("maker.parameters(), lr=2e-4, betas=(0.5, 0.999)", "maker.parameters(), lr=2e-4")
    found = diff(recorded(tmp_path, PLAYERS, "a"), recorded(tmp_path, other, "b")).first
    assert found is not None
    assert (found.step, found.when, [each.name for each in found.facts]) == (4, "update", ["betas"])
    assert found.b is not None
    assert found.b.source == "mine = torch.optim.Adam(maker.parameters(), lr=2e-4)"


@pytest.mark.slow
def test_what_an_update_made_earlier_is_told_where_it_was_made(tmp_path: Path) -> None:
    """The weights of a step differ because of an update that no step between was looked at for."""
    text = TRAINING.replace("nn.Dropout(0.1), ", "").replace("net[4]", "net[3]")
    other = text.replace("    scheduler.step()", "    scheduler.step()\n    if step == 6: net[0].bias.data.add_(1e-3)")
    found = diff(recorded(tmp_path, text, "a"), recorded(tmp_path, other, "b")).first
    assert found is not None
    assert found.step in (7, 8)


EITHER = """
import numpy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
numbers = numpy.random.default_rng(0)
with torch.no_grad():
    for each in net.parameters():
        each.copy_(torch.tensor(numbers.normal(size=tuple(each.shape)).astype("float32") * 0.3))
x = torch.tensor(numbers.normal(size=(64, 8)).astype("float32"))
adam = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(5):
    adam.zero_grad()
    nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    adam.step()
"""


@pytest.mark.slow
def test_the_engine_beside_pytorch(tmp_path: Path) -> None:
    pytorch = recorded(tmp_path, EITHER, "a")
    ours = EITHER.replace("import torch\nfrom torch import nn", "import graphscope as torch\nnn = torch.nn")
    assert "graphscope" in ours
    same = diff(pytorch, recorded(tmp_path, ours, "b"))
    assert not same, same
    found = diff(pytorch, recorded(tmp_path, ours.replace("lr=0.01", "lr=0.02"), "c")).first
    assert found is not None
    assert (found.step, found.when, found.cause) == (1, "update", "learning rate")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "step", "cause"),
    one_quick([("schedule", 6, "schedule"), ("let go", 5, "left out"), ("data", 6, "losses"), ("mode", 8, "losses")]),
)
def test_what_is_told_without_values(name: str, step: int, cause: str, tmp_path: Path) -> None:
    line, changed, *_ = CHANGES[name]
    logs = [recorded(tmp_path, text, which, "none") for text, which in
            ((TRAINING, "a"), (TRAINING.replace(line, changed), "b"))]  # fmt: skip
    found = diff(*logs)
    assert found.first is not None
    assert (found.first.step, found.first.cause) == (step, cause)
    assert found.remarks
    assert not diff(logs[0], recorded(tmp_path, WRITTEN_OUT, "c", "none"))
