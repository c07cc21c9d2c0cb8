"""The steps of a log are those that the program made."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.compare.parameters import parameters
from graphscope.compare.steps import step_of, steps
from graphscope.eventlog.reader import Log
from graphscope.graph import Graph

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

BEGIN = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.randn(8, 3)
y = x.sum(1, keepdim=True)
"""

PROGRAMS = {
    "plain": (
        """
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            sgd.zero_grad()
            (net(x) - y).square().mean().backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            sgd.step()
        """,
        [1, 1, 1],
    ),
    "an evaluation behind": (
        """
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            sgd.zero_grad()
            (net(x) - y).square().mean().backward()
            sgd.step()
        with torch.no_grad():
            print((net(x) - y).abs().mean())
        """,
        [1, 1, 0],
    ),
    "accumulated": (
        """
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            sgd.zero_grad()
            for half in (slice(0, 4), slice(4, 8)):
                ((net(x[half]) - y[half]).square().mean() / 2).backward()
            sgd.step()
        """,
        [2, 2],
    ),
    "two optimizers that step together": (
        """
        both = [torch.optim.SGD(net[0].parameters(), lr=0.1), torch.optim.Adam(net[2].parameters())]
        for _ in range(2):
            for each in both:
                each.zero_grad()
            (net(x) - y).square().mean().backward()
            for each in both:
                each.step()
        """,
        [1, 1],
    ),
    "two players": (
        """
        critic = nn.Linear(1, 1)
        mine, theirs = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (net, critic))
        for _ in range(2):
            theirs.zero_grad()
            (critic(y) - critic(net(x).detach())).mean().backward()
            theirs.step()
            mine.zero_grad()
            critic(net(x)).mean().backward()
            mine.step()
        """,
        [1, 1, 1, 1],
    ),
    "a closure": (
        """
        lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=3)
        def closure():
            lbfgs.zero_grad()
            loss = (net(x) - y).square().mean()
            loss.backward()
            return loss
        for _ in range(2):
            lbfgs.step(closure)
        """,
        [3, 3],
    ),
    "by hand": (
        """
        for _ in range(3):
            (net(x) - y).square().mean().backward()
            with torch.no_grad():
                for each in net.parameters():
                    each -= 0.1 * each.grad
                    each.grad = None
        """,
        [1, 1, 1],
    ),
    "without updates": ("for _ in range(3):\n    (net(x) - y).square().mean().backward()", [1, 1, 1]),
    "without a backward pass": ("for _ in range(3):\n    print(net(x).sum())", [0]),
    "reentrant": (
        """
        from torch.utils.checkpoint import checkpoint
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        x.requires_grad_()
        for _ in range(2):
            sgd.zero_grad()
            (checkpoint(net, x, use_reentrant=True) - y.detach()).square().mean().backward()
            sgd.step()
        """,
        [1, 1],
    ),
}


def recorded(folder: Path, text: str, name: str = "run") -> Log:
    script = folder / f"{name}.py"
    script.write_text(text)
    with gs.record(folder / f"{name}.gscope"):
        exec(compile(text, str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / f"{name}.gscope")


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_hold_the_passes_that_belong_together(name: str, tmp_path: Path) -> None:
    text, passes = PROGRAMS[name]
    log = recorded(tmp_path, BEGIN + textwrap.dedent(text))
    found = steps(log)
    assert [len(each.passes) for each in found] == passes
    assert [(each.start, each.stop) for each in found] == list(
        zip(
            [log.first, *(each.stop for each in found[:-1])],
            [*(each.start for each in found[1:]), log.end],
            strict=True,
        )
    )
    for each in found:
        parts = [each.rows(part) for part in ("forward", "backward", "update")]
        assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(each.start, each.stop))
        assert all(each.part(int(row)) == "backward" for row in parts[1])
        assert step_of(log, each.stop - 1) is each


@pytest.mark.parametrize("name", ["plain", "two optimizers that step together", "by hand"])
def test_updates_of_parameters_belong_to_the_update(name: str, tmp_path: Path) -> None:
    log = recorded(tmp_path, BEGIN + textwrap.dedent(PROGRAMS[name][0]))
    first, second, *_ = steps(log)
    ahead, behind = (parameters(log, each.stop) for each in (first, second))
    assert set(ahead) == set(behind)
    assert len(ahead) == 4
    for tensor, row in behind.items():
        assert row in second
        assert ahead[tensor] in first
        assert second.part(row) == "update"
        assert (Graph(log).node(row).value != Graph(log).node(ahead[tensor]).value).any()


def test_a_log_without_events_has_no_steps(tmp_path: Path) -> None:
    with gs.record(tmp_path / "empty.gscope"):
        pass
    log = gs.load(tmp_path / "empty.gscope")
    assert sum(each.stop - each.start for each in steps(log)) == len(log)
    assert not parameters(log, 0)
