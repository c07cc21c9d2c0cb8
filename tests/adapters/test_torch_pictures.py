"""Pictures of PyTorch programs, laid out by a real Graphviz."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.slow
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


@pytest.mark.slow
def test_two_steps_through_one_layer_again_and_again_are_drawn(tmp_path: Path) -> None:
    torch.manual_seed(0)
    with gs.record() as log:
        layer, head = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), torch.nn.Linear(16, 20)
        optimizer = torch.optim.AdamW([*layer.parameters(), *head.parameters()])
        for _ in range(2):
            optimizer.zero_grad()
            hidden = torch.randn(2, 6, 16)
            for _ in range(4):
                hidden = layer(hidden)
            torch.nn.functional.cross_entropy(head(hidden).flatten(0, 1), torch.randint(0, 20, (12,))).backward()
            optimizer.step()
    for shown in (None, "backward"):
        gs.export(log, tmp_path / "model.svg", fold="repeats", graph_pass=shown)
        assert "LayerNormBackward" in (tmp_path / "model.svg").read_text(encoding="utf-8")
