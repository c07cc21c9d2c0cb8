"""Pictures of PyTorch programs, laid out by a real Graphviz."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_two_steps_of_layers_in_a_row_are_drawn(tmp_path: Path) -> None:
    with gs.record() as log:
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.randn(8, 3)
        for _ in range(2):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
    gs.export(log, tmp_path / "model.svg")

    text = (tmp_path / "model.svg").read_text(encoding="utf-8")
    assert text.count("LinearBackward") >= 4
    assert text.count("TBackward") >= 4
