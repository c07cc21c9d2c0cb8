"""Gradients that programs clear by hand, in all the ways in which people do: no step goes on with old ones."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.diagnose import examined
from graphscope.diagnose.ranks.comparison import compared
from graphscope.diagnose.ranks.reading import read
from graphscope.eventlog.reader import load
from graphscope.graph import Graph
from tests.diagnose import two_ranks
from tests.diagnose.clearing import BY_HAND, STATEMENTS, STEPS, WAYS

torch = two_ranks.torch

pytestmark = pytest.mark.torch


def found(path: Path) -> list[str]:
    """What the doctor finds in a log."""
    return [each.kind for each in examined(Graph(load(path)))]


def train(folder: Path, way: str, values: str = "full") -> Path:
    """The log of a program that clears in such a way."""
    with gs.record(folder / "run.gscope", values=values):
        exec(compile(STEPS.replace("AVERAGE", "pass"), "train.py", "exec"), {"torch": torch, "WAY": way, "rank": 0})
    return folder / "run.gscope"


@pytest.mark.parametrize("values", ["full", "none"])
@pytest.mark.parametrize("way", STATEMENTS)
def test_no_way_to_clear_by_hand_is_taken_for_none(way: str, values: str, tmp_path: Path) -> None:
    assert found(train(tmp_path, way, values)) == []


UNSEEN = "for p in model.parameters(): p.grad is not None and p.grad.numpy().fill(0)"


def test_gradients_cleared_through_numpy_are_known_by_what_steps_were_made_with(tmp_path: Path) -> None:
    assert found(train(tmp_path, UNSEEN)) == []


@pytest.mark.parametrize("values", ["full", "summary"])
def test_gradients_cleared_through_numpy_are_known_where_steps_change_them(values: str, tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", values=values):
        for _ in of_two_passes("pass", "p.grad.numpy().fill(0)", "p.grad /= 2"):
            pass
    assert found(tmp_path / "run.gscope") == []


@pytest.mark.parametrize("way", ["pass", "[p.grad.norm() for p in model.parameters() if p.grad is not None]"])
def test_what_does_not_clear_is_told(way: str, tmp_path: Path) -> None:
    assert found(train(tmp_path, way)) == ["zero_grad"]


def of_two_passes(between: str, behind: str = "pass", ahead: str = "pass") -> Iterator[Any]:
    """Five steps of two passes each, with something done to the gradients behind a pass, and around a step."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _step in range(5):
        for _part in range(2):
            model(torch.randn(5, 4)).square().mean().backward()
            for p in model.parameters():
                exec(between, {"torch": torch}, {"p": p})
        for p in model.parameters():
            exec(ahead, {"torch": torch}, {"p": p})
        optimizer.step()
        for p in model.parameters():
            exec(behind, {"torch": torch}, {"p": p})
        yield optimizer


@pytest.mark.parametrize(
    ("between", "values"),
    [("p.grad /= 2", "full"), ("p.grad /= 2", "none"), ("p.grad.mul_(0.5)", "full"), ("p.grad = p.grad / 2", "full")],
)
def test_to_make_a_mean_of_passes_clears_nothing(between: str, values: str, tmp_path: Path) -> None:
    for name, behind in (("kept", "pass"), ("cleared", "p.grad = torch.zeros_like(p)")):
        with gs.record(tmp_path / f"{name}.gscope", values=values):
            list(of_two_passes(between, behind))
    assert found(tmp_path / "kept.gscope") == ["zero_grad"]
    assert found(tmp_path / "cleared.gscope") == []


@pytest.mark.parametrize("way", ["p.grad = torch.zeros_like(p)", "p.grad *= 0", "p.grad.copy_(torch.zeros_like(p))"])
def test_adversaries_that_clear_what_the_other_left_are_let_be(way: str, tmp_path: Path) -> None:
    """The loss of the first leaves gradients in the second, which clears them ahead of its own pass, behind that."""
    torch.manual_seed(0)
    maker, judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.01) for each in (maker, judge)]
    with gs.record(tmp_path / "run.gscope"):
        for _step in range(6):
            for p in judge.parameters():
                if p.grad is not None:
                    exec(way, {"torch": torch, "p": p})
            (judge(torch.randn(8, 2)) - judge(maker(torch.randn(8, 2)).detach())).square().mean().backward()
            optimizers[1].step()
            optimizers[0].zero_grad()
            judge(maker(torch.randn(8, 2))).square().mean().backward()
            optimizers[0].step()
    assert found(tmp_path / "run.gscope") == []


@pytest.mark.parametrize(("way", "kinds"), [*((each, []) for each in WAYS), ("pass", ["zero_grad"])])
def test_updates_by_hand_clear_in_the_same_ways(way: str, kinds: list[str], tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope"):
        exec(compile(BY_HAND.replace("WAY", way), "train.py", "exec"), {"torch": torch})
    assert found(tmp_path / "run.gscope") == kinds


RANKS = """\
import torch, torch.distributed as dist
import graphscope as gs

dist.init_process_group("gloo")
rank = dist.get_rank()
for number, pair in enumerate(PAIRS):
    WAY = pair[rank]
    with gs.record(f"{number}.gscope"):
        STEPS
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_a_rank_that_clears_in_another_way_is_let_be(tmp_path: Path) -> None:
    """Rank 1 clears in each way, where rank 0 calls zero_grad(); last it does not, and is told with rank 0's line."""
    pairs = [("optimizer.zero_grad()", way) for way in STATEMENTS]
    pairs += [(STATEMENTS[0], "pass"), ("pass", "for p in model.parameters(): p.grad is not None and p.grad.zero_()")]
    average = "for p in model.parameters(): dist.all_reduce(p.grad); p.grad /= 2"
    steps = textwrap.indent(STEPS.replace("AVERAGE", average), " " * 8).strip()
    two_ranks.run(tmp_path, RANKS.replace("STEPS", steps).replace("PAIRS", repr(pairs)))
    told = [
        compared(str(number), [read((tmp_path / f"{number}-rank{rank}.gscope", f"rank {rank}")) for rank in (0, 1)])
        for number in range(len(pairs))
    ]
    assert [each.report.findings for each in told[:-2]] == [()] * len(STATEMENTS)
    for each, (clearing, keeping) in zip(told[-2:], ((0, 1), (1, 0)), strict=True):
        (finding,) = each.report.findings
        assert finding.verdict.startswith(f"rank {keeping} adds to gradients that a step has used already")
        assert f"where rank {clearing} clears them at <string>:1" in finding.verdict
