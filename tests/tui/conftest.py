"""Logs of small programs, recorded once."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from graphscope.eventlog.record import record
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer
from tests.tui.terminal import Terminal

for late in ("graph.compilation", "graph.memory", "graph.modules", "tui.inspector.module_text"):
    # The screen loads these when they are needed. Here pytest makes a syntax tree of each that is loaded, and beside a
    # thread that makes one, too, that fails (see `graphscope.eventlog.syntax_trees`).
    import_module(f"graphscope.{late}")

PRODUCT = """\
import graphscope as torch

a = torch.tensor(15.0, requires_grad=True)
b = torch.tensor(20.0, requires_grad=True)
c = a * b
c.backward()
"""

TRAINING = """\
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


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Record source text; the folder of the log comes back."""

    def run(name: str, source: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        script = folder / f"{name}.py"
        script.write_text(source, encoding="utf-8")
        with record(folder / f"{name}.gscope"):
            exec(compile(source, str(script), "exec"), {"__name__": "__main__"})
        return folder / f"{name}.gscope"

    return run


@pytest.fixture(scope="session")
def product(recorded: Callable[[str, str], Path]) -> Path:
    return recorded("product", PRODUCT)


@pytest.fixture(scope="session")
def training(recorded: Callable[[str, str], Path]) -> Path:
    return recorded("training", TRAINING)


@pytest.fixture(scope="session")
def write_long() -> Callable[[Path, int], Path]:
    """Write a log of so many rows: a long chain of additions, each with a value."""

    def write(path: Path, rows: int) -> Path:
        writer = Writer(path)
        op = writer.intern("ops", "add", {"name": "add", "formula": "out = x + y", "inputs": ["x", "y"]})
        value = np.float32(1.0)
        leaf = writer.template(Kind.LEAF, shape=(), dtype=np.dtype("f4"))
        add = writer.template(Kind.OP, op=op, shape=(), dtype=np.dtype("f4"), input_count=2)
        writer.append(leaf, value)
        append = writer.append
        for row in range(1, rows):
            append(add, value, 0, 0, 0, row - 1, max(row - 3, 0))
        writer.close()
        return path

    return write


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux here")
    with Terminal(tmp_path) as made:
        yield made
