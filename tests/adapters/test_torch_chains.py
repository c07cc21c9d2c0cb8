"""A recorded graph is freed whatever its depth, as a bare one is: torch frees nodes one after another, not in depth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytest.importorskip("torch")
pytest.importorskip("graphscope.adapters.torch._calls", reason="only compiled code can keep torch from it")

pytestmark = pytest.mark.torch

TURNS: Final = 1500
PROGRAM: Final = """
import gc, sys, threading
import torch
from torch.utils.checkpoint import checkpoint
import graphscope as gs

TURNS, SETTINGS = int(sys.argv[2]), eval(sys.argv[3])
torch.manual_seed(0)
cell, x = torch.nn.Linear(4, 4), torch.randn(2, 4)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def chain(turns=TURNS):
    h = torch.zeros(2, 4)
    for _ in range(turns):
        h = torch.relu(cell(h) + x) * 0.5
    return h


def loss_of(h):
    return h.square().mean()


def functions():
    h = cell(x)
    for _ in range(TURNS):
        h = Twice.apply(h).tanh()
    return h


def in_place():
    h = cell(x)
    for _ in range(TURNS):
        h.mul_(0.5).add_(x)
    return h


def wide():
    h, others = cell(x), []
    for _ in range(TURNS // 4):
        others.append(h.sin())
        h = h + others[-1] * others[len(others) // 2]
    return h


def checkpoints():
    h = cell(x)
    for _ in range(TURNS // 5):
        h = checkpoint(lambda h: torch.relu(cell(h)) * 0.5, h, use_reentrant=False)
    return h


def unused():
    chain()


def used():
    loss_of(chain()).backward()


def twice():
    loss = loss_of(chain())
    loss.backward(retain_graph=True)
    loss.backward()


def higher():
    (grad,) = torch.autograd.grad(loss_of(chain(TURNS // 4)), cell.weight, create_graph=True)
    grad.square().sum().backward()


def by_exception():
    h = chain()
    try:
        raise RuntimeError
    except RuntimeError as error:
        del h


def failing():
    h = chain()
    h.register_hook(lambda g: 1 / 0)
    try:
        loss_of(h).backward()
    except ZeroDivisionError:
        pass


def failing_late():
    start = cell(x)
    start.register_hook(lambda g: 1 / 0)
    h = start
    for _ in range(TURNS):
        h = torch.relu(h) * 0.5
    try:
        loss_of(h).backward()
    except ZeroDivisionError:
        pass


def in_ring():
    ring = [chain()]
    ring.append(ring)
    del ring
    gc.collect()


def families():
    for make in (functions, in_place, wide, checkpoints):
        make()
        loss_of(make()).backward()


WAYS = [unused, used, twice, higher, by_exception, failing, failing_late, in_ring, families]


def gradients():
    found = []
    for way in WAYS:
        print(way.__name__, flush=True)
        cell.zero_grad()
        way()
        found.append([None if each.grad is None else each.grad.tolist() for each in cell.parameters()])
    return found


def main():
    bare = gradients()
    with gs.record(sys.argv[1], **SETTINGS):
        recorded = gradients()
        outlives = chain()
    del outlives
    print("the same" if recorded == bare else (bare, recorded))


threading.stack_size(512 << 10)  # on a large stack only very long chains would tell
thread = threading.Thread(target=main)
thread.start()
thread.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"values": "none"},
        {"values": "summary"},
        {"values": "none", "capture": "ops"},
        {"values": "none", "capture": "calls"},
    ],
)
def test_long_chains_are_freed_on_a_small_stack(tmp_path: Path, settings: dict[str, str]) -> None:
    (program := tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(program), str(tmp_path / "log.gscope"), str(TURNS), repr(settings)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["the same"]), done.stdout + done.stderr
