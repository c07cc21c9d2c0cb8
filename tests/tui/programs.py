"""Programs whose screens are tried with random deeds: of graphscope's own engine and of PyTorch, healthy and not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

ROOT: Final = Path(__file__).parents[2]


class Program(NamedTuple):
    """A program."""

    name: str
    text: str
    live: bool = False
    """It is also used while it runs."""

    def written(self, folder: Path) -> Path:
        """Its file."""
        script = folder / f"{self.name}.py"
        script.write_text(self.text, encoding="utf-8")
        return script


_OWN: Final = """\
import graphscope as torch
import graphscope.nn.functional as F

torch.manual_seed(0)
x = torch.randn(4, 3)
labels = torch.tensor([0, 1, 2, 1])
W = torch.randn(3, 3, requires_grad=True)
optimizer = torch.optim.SGD([W], lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    h = torch.mm(x, W).tanh()
    loss = F.cross_entropy(h, labels)
    loss.backward()
    optimizer.step()
"""

_NETWORK: Final = """\
import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x + torch.tanh(self.inner(x)))


model = nn.Sequential(Block(6), Block(6), nn.Linear(6, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(8, 6), torch.randn(8, 1)
for step in range(4):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    print("step", step, "loss", loss.item())
"""

_BROKEN: Final = """\
import torch

torch.manual_seed(0)
w = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
mask = torch.full((3, 3), float("-inf")).triu(1)
for step in range(3):
    h = (w * 2.0).sqrt() + torch.softmax(w * w + mask, 1).sum(0)
    loss = (h * h).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
"""

_CELL: Final = """\
import torch

torch.manual_seed(0)
W = torch.randn(3, 3, requires_grad=True)
x = torch.randn(2, 3)
h = torch.zeros(2, 3)
for step in range(2):
    h = torch.tanh(torch.mm(x, W) + h)
    loss = (h * h).sum()
    loss.backward(retain_graph=True)
    print("loss", loss.item())
    h = h.detach()
scale = loss.detach() * 2.0
print("scale", scale.item())
"""

PROGRAMS: Final = (
    Program("own", _OWN),
    Program("network", _NETWORK, live=True),
    Program("broken", _BROKEN),
    Program("cell", _CELL, live=True),
)


def record(folder: Path, program: Program) -> Path:
    """Record a program, in a process of its own; the folder of the log."""
    log = folder / f"{program.name}.gscope"
    command = [sys.executable, "-m", "graphscope", "record", "--log", str(log), str(program.written(folder))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=folder)
    return log


def steady(log: Path) -> Path:
    """Put times into a log that are the same whenever it is made."""
    for file in log.rglob("events.npy"):
        events = np.load(file, mmap_mode="r+")
        events["duration"] = np.where(events["duration"] > 0, 12_345 * (np.arange(len(events)) % 7 + 1), 0)
    return log
