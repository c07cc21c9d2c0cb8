"""The lines that led to a call, and the files of a program that no op stands in, are in the log."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import graphscope as gs
from graphscope.graph.callers import callers

pytestmark = pytest.mark.torch

FILES = {
    "net.py": """
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2))

            def forward(self, x):
                return self.inner(x).tanh()  # tanh
        """,
    "choices.py": "RATE = 0.5\n",
    "train.py": """
        import torch
        from choices import RATE
        from net import Net

        def evaluate(net, x):
            with torch.no_grad():
                return net(x)  # evaluated

        def train():
            net = Net()
            optimizer = torch.optim.SGD(net.parameters(), lr=RATE)
            for _ in range(3):
                net(torch.ones(1, 2)).sum().backward()  # trained
                optimizer.step()
            evaluate(net, torch.ones(1, 2))

        train()
        """,
}


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> gs.Log:
    pytest.importorskip("torch")
    for name, text in FILES.items():
        (tmp_path / name).write_text(dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in FILES:
        monkeypatch.delitem(sys.modules, name.removesuffix(".py"), raising=False)
    with gs.record(tmp_path / "run.gscope"):
        runpy.run_path(str(tmp_path / "train.py"), run_name="__main__")
    return gs.load(tmp_path / "run.gscope")


def line(log: gs.Log, site: object) -> str:
    text = log.source(site.file).splitlines()[site.line - 1]
    return text.partition("# ")[2] or text.strip()


def test_an_op_knows_what_called_the_functions_around_it(log: gs.Log) -> None:
    first, *_, last = (node.row for node in log.graph.nodes if node.op == "tanh" and node.kind == "op")
    for row, calling in ((first, "trained"), (last, "evaluated")):
        found = callers(log, row)
        assert line(log, found.lines[0]) == "tanh"
        assert line(log, found.outermost) == calling
        assert line(log, found.lines[-1]) == "train()"
    assert [line(log, each) for each in callers(log, last).lines][2] == "evaluate(net, torch.ones(1, 2))"


def test_what_runs_in_no_module_stands_outside_of_all(log: gs.Log) -> None:
    row = next(node.row for node in log.graph.nodes if node.op == "sum" and node.kind == "op")
    assert line(log, callers(log, row).outermost) == "trained"


def test_the_files_of_a_training_are_kept_also_where_no_op_stands(log: gs.Log) -> None:
    files = {Path(entry["file"]).name for entry in log.table("sources")}
    assert files == set(FILES)
