"""Which variable or attribute of a program holds the graphs of past steps, and silence where none does."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import runpy
from pathlib import Path
from textwrap import dedent, indent
from typing import Final

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.diagnose import Finding, every
from graphscope.graph import Graph

pytestmark = pytest.mark.torch

BEGIN: Final = """\
import collections
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train():
    loss = model(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


"""


def found_in(tmp_path: Path, text: str) -> list[Finding]:
    """What is found of kept graphs in a program, recorded as it runs."""
    program = tmp_path / "train.py"
    program.write_text(BEGIN + dedent(text))
    with gs.record(memory=True, values="none") as log:
        runpy.run_path(str(program))
    log.refresh()
    return list(every()["graph_kept"].findings(Graph(log)))


LEAKS: Final = {
    "a list of losses": (
        """
        losses = []  # made
        for step in range(16):
            loss = train()
            losses.append(loss)
        """,
        "the global losses (a list of",
    ),
    "an attribute": (
        """
        class Trainer:
            def __init__(self):
                self.history = collections.deque()  # made
            def step(self):
                self.history.append(train())
        trainer = Trainer()
        for step in range(16):
            trainer.step()
        """,
        "Trainer.history (a deque of",
    ),
    "a dict that a function has": (
        """
        def main():
            results = {}  # made
            for step in range(16):
                loss = train()
                results[step] = {"loss": loss, "step": step}
        main()
        """,
        "results of main (a dict of",
    ),
    "a closure": (
        """
        def make():
            kept = []  # made
            def step():
                kept.append(train())
            return step
        step = make()
        for number in range(16):
            step()
        """,
        "kept, over which make.<locals>.step closes (a list of",
    ),
    "the frame of a generator": (
        """
        def average():
            seen = []  # made
            while True:
                seen.append((yield len(seen)))
        mean = average()
        next(mean)
        for number in range(16):
            mean.send(train())
        """,
        "seen of the generator average (a list of",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS)
def test_the_holder_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    text, words = LEAKS[name]
    (finding,) = found_in(tmp_path, text)
    lines = (BEGIN + dedent(text)).splitlines()
    made = next(number for number, line in enumerate(lines, 1) if "# made" in line)
    assert f"is held by {words} train.py:{made})" in finding.verdict
    assert finding.file.endswith("train.py")
    assert finding.line


HEALTHY: Final = {
    "numbers": "losses.append(train().item())",
    "detached": "losses.append(train().detach())",
    "the newest alone": "losses[:] = [train()]",
    "the newest two": "last.append(train())",
    "an attribute that is set anew": "model.loss = train()",
    "outputs without gradients": "train()\nwith torch.no_grad():\n    losses.append(model(torch.randn(8, 4)))",
    "copies of weights": "train()\nlosses.append({k: v.clone() for k, v in model.state_dict().items()})",
    "a moving average": "mean = 0.9 * mean + 0.1 * train().detach()",
    "data": "train()\nlosses.append(torch.randn(8, 4))",
    "a graph that is kept for a second pass": "loss = train()\nloss = model(torch.ones(1, 4)).sum()\n"
    "loss.backward(retain_graph=True)\nloss.backward()",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_said_of_what_holds_no_graph(name: str, tmp_path: Path) -> None:
    begin = "losses, last, mean = [], collections.deque(maxlen=2), 0.0\nfor number in range(16):\n"
    assert found_in(tmp_path, begin + indent(HEALTHY[name], "    ")) == []
