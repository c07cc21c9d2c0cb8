"""A recorded run to step through: two modules, a loop, a gradient."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.debugger import tensor_filters
from graphscope.debugger.debugger import Debugger

PROGRAM = """\
import graphscope as torch
from graphscope import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 4)
        self.fc2 = nn.Linear(4, 2)

    def forward(self, x):
        h = self.fc1(x).tanh()
        return self.fc2(h)


net = Net()
x = torch.ones(5, 3)
for step in range(2):
    out = net(x)
    loss = (out * out).sum()
    loss.backward()
    torch.step()
"""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    script = folder / "net.py"
    script.write_text(textwrap.dedent(PROGRAM))
    with gs.record(folder / "net.gscope"):
        exec(compile(PROGRAM, str(script), "exec"), {"__name__": "__main__"})
    return folder / "net.gscope"


@pytest.fixture
def dbg(recorded: Path) -> Debugger:
    return Debugger(gs.load(recorded))


@pytest.fixture
def filters() -> Iterator[None]:
    """The table of filters as it was before the test."""
    known = dict(tensor_filters.FILTERS)
    yield
    tensor_filters.FILTERS.clear()
    tensor_filters.FILTERS.update(known)
