"""Trainings with planted faults, which write down by themselves what the tables have to say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import graphscope as gs
from graphscope import nn

STEPS = 6
PARTING = 3
"""In this step (from 1 on) rank 1 is given other data."""
JUMP = 5
"""In this one the loss is a thousand times as large."""
EVERY = 4
"""A flight recorder keeps one of so many steps."""


@dataclass
class Seen:
    """What a training saw of itself."""

    losses: list[float] = field(default_factory=list)
    gradients: dict[str, list[float]] = field(default_factory=dict)
    ratios: dict[str, list[float]] = field(default_factory=dict)


def train(log: Path, rank: int) -> Seen:
    """Two layers, of which the first learns at next to nothing; beside it what a ReLU leaves nothing of."""
    gs.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    tiny = {"params": model[0].parameters(), "lr": 1e-9}
    optimizer = gs.optim.SGD([tiny, {"params": model[2].parameters()}], lr=0.01)
    data = gs.randn(STEPS, 16, 4)
    seen = Seen()
    with gs.record(log):
        for step in range(1, STEPS + 1):
            x = data[0 if (rank, step) == (1, PARTING) else step - 1]
            optimizer.zero_grad()
            dead = (x - 100.0).relu()
            loss = ((model(x) - 1.0).square().mean() + dead.sum()) * (1000.0 if step == JUMP else 1.0)
            loss.backward()
            before = {name: each.detach().numpy().copy() for name, each in model.named_parameters()}
            optimizer.step()
            seen.losses.append(loss.item())
            for name, each in model.named_parameters():
                seen.gradients.setdefault(name, []).append(_norm(each.grad.numpy()))
                moved = _norm(each.detach().numpy().astype(np.float64) - before[name])
                seen.ratios.setdefault(name, []).append(moved / _norm(before[name]))
    return seen


def descend(log: Path, op: str) -> Seen:
    """Go down a function until it is asked for what it is not defined at."""
    w = gs.tensor([1.0, 2.0], requires_grad=True)
    optimizer = gs.optim.SGD([w], lr=0.5)
    seen = Seen()
    with gs.record(log):
        for _ in range(8):
            optimizer.zero_grad()
            height = w.log() if op == "log" else w.sqrt()
            loss = height.sum()
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen


def fly(log: Path) -> Seen:
    """Go down a bowl with a flight recorder, which keeps the last step, too; the loop counts from 0."""
    w = gs.tensor([3.0, -4.0], requires_grad=True)
    optimizer = gs.optim.SGD([w], lr=0.05)
    seen = Seen()
    with gs.record(log, every=EVERY):
        for _step in range(3 * EVERY + 1):
            optimizer.zero_grad()
            loss = w.square().sum()
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen


def _norm(array: np.ndarray) -> float:
    return float(np.linalg.norm(array.astype(np.float64)))
