"""Threads that train side by side are named, since their steps are mixed in one log; others are not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

STEPS = 6


def training():
    """A net and its optimizer, and what makes a step of it."""
    net = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        net(torch.randn(4, 3)).square().mean().backward()
        optimizer.step()

    return step


def side_by_side(parties: int) -> None:
    """So many trainings, each in a thread, whose steps alternate."""
    barrier = Barrier(parties)

    def train() -> None:
        step = training()
        for _ in range(STEPS):
            barrier.wait()
            step()

    with ThreadPoolExecutor(parties, thread_name_prefix="trainer") as pool:
        for each in [pool.submit(train) for _ in range(parties)]:
            each.result()


def in_turn() -> None:
    """One training whose steps run in two threads by turns."""
    step = training()
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for place in range(STEPS):
            (one, other)[place % 2].submit(step).result()


def one_behind_the_other() -> None:
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for pool in (one, other):
            step = training()
            for _ in range(STEPS):
                pool.submit(step).result()


@pytest.mark.parametrize(
    ("train", "named"),
    [
        (lambda: side_by_side(2), 2),
        (lambda: side_by_side(3), 3),
        (lambda: side_by_side(1), 0),
        (in_turn, 0),
        (one_behind_the_other, 0),
    ],
)
def test_threads_that_train_side_by_side_are_named(train, named: int, tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope"):
        train()
    report = gs.doctor(tmp_path / "run.gscope")
    assert not report.findings
    told = [each.why for each in report.unjudged if each.what == "what changes from step to step"]
    assert len(told) == bool(named)
    assert all(f"trainer_{place}" in told[0] for place in range(named))
