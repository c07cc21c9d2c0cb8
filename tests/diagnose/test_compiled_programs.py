"""Compiled programs of the common kinds: nothing is told of healthy ones, and the line that makes one compile anew."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import graphscope as gs
from graphscope.diagnose import doctor
from tests.adapters.kept_regions import MARKS

pytestmark = MARKS

PROGRAM = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, x):
        return x + torch.relu(self.linear(self.norm(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head, self.steps = nn.ModuleList(Block() for _ in range(5)), nn.Linear(8, 2), 0

    def forward(self, x):
        # count
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def fit(net, call, optimizer, sizes=(16,) * 8):
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
    for step, size in enumerate(sizes):
        optimizer.zero_grad()
        nn.functional.cross_entropy(call(data[:size]), target[:size]).backward()
        optimizer.step()
        schedule.step()
        if step % 3 == 2:
            net.eval()
            with torch.no_grad():
                call(data)
            net.train()


torch.manual_seed(0)
data, target = torch.randn(16, 8), torch.randint(2, (16,))

net = Net()
for block in net.blocks:
    block.compile(backend="aot_eager")
fit(net, net, torch.optim.Adam(net.parameters(), 1e-3))

net = Net()
fit(net, torch.compile(net, backend="aot_eager"), torch.optim.SGD(net.parameters(), 0.05), (16, 16, 7, 16, 9, 11, 5))

net = Net()
optimizer = torch.optim.Adam(net.parameters(), 1e-3)


@torch.compile(backend="aot_eager")
def step():
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(data), target)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(6):
    step()
"""


def judged(program: str, folder: Path) -> list[tuple[str, int]]:
    script, log = folder / "train.py", folder / "run.gscope"
    script.write_text(program)
    command = [sys.executable, "-W", "ignore", "-m", "graphscope", "record", "--capture", "compiled", "--log"]
    subprocess.run([*command, str(log), str(script)], check=True, capture_output=True, text=True, timeout=300)
    return [(each.kind, each.line) for each in doctor(gs.load(log))]


def test_nothing_is_told_of_healthy_ones(tmp_path: Path) -> None:
    assert judged(PROGRAM, tmp_path) == []


def test_a_count_that_the_compiled_module_keeps_is_found_at_its_line(tmp_path: Path) -> None:
    program = PROGRAM.replace("# count", "self.steps += 1")
    assert judged(program, tmp_path) == [("recompiled", program[: program.index("self.steps += 1")].count("\n") + 1)]
