"""Adapters in processes of their own, and small programs for them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dap.talking import ROOT, Client

CHAIN = """\
import graphscope as torch


def layer(x, weight):
    scaled = x * weight
    return scaled.tanh()


x = torch.tensor([1.0, 2.0, 3.0])
w = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
for step in range(3):
    h = layer(x, w)
    y = h * h
    loss = y.sum()
    w.grad = None
    loss.backward()
    print("done", loss.item(), w.grad.numpy().tolist())
"""


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client whose adapter is a thread of this process: it need not be started."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    made = Client(inside=True)
    yield made
    made.close()


@pytest.fixture
def far_client() -> Iterator[Client]:
    """A client whose adapter is `graphscope dap`, over its standard streams."""
    made = Client()
    yield made
    made.close()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write a program, and return its path."""

    def written(text: str) -> Path:
        path = tmp_path / "prog.py"
        path.write_text(textwrap.dedent(text))
        return path

    return written


@pytest.fixture
def chain(write: Callable[[str], Path]) -> Path:
    return write(CHAIN)
