"""Gradients that vanish or explode from layer to layer are told where no values were kept, at the same line."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Finding

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PROGRAM = """
import torch
from torch import nn

class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.entry = nn.Linear(8, 32)
        self.layers = nn.ModuleList([nn.Linear(32, 32, bias={bias}) for _ in range(10)])
        self.norms = nn.ModuleList([{norm} for _ in range(10)])
        self.exit = nn.Linear(32, 1)

    def forward(self, x):
        x = {activation}(self.entry(x))
        for layer, norm in zip(self.layers, self.norms):
            x = layer(x)
            x = {activation}(norm(x)){residual}
        return self.exit(x)

torch.manual_seed(0)
net = Deep()
for layer in net.layers:
    nn.init.normal_(layer.weight, std={std})
x = torch.randn(256, 8) * {scale}
y = torch.sin(x.sum(1, keepdim=True))
optimizer = torch.optim.SGD(net.parameters(), lr={rate})
for _ in range(20):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
"""
PLAIN = {
    "bias": True, "norm": "nn.Identity()", "activation": "torch.relu", "residual": "", "std": 0.25, "scale": 1.0,
    "rate": 0.01,
}  # fmt: skip
LAYER, SLOPE = 16, 17
"""The lines of the layers, and of what lies between them."""


def found(values: str, folder: Path, **settings: object) -> list[Finding]:
    (folder / values).mkdir()
    script = folder / values / "deep.py"
    script.write_text(textwrap.dedent(PROGRAM.format(**PLAIN | settings)))
    with gs.record(folder / values / "run.gscope", values=values):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    return list(gs.doctor(folder / values / "run.gscope").findings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "line", "settings"),
    [
        ("vanishing_gradient", SLOPE, {"activation": "torch.sigmoid"}),
        ("vanishing_gradient", LAYER, {"activation": "torch.tanh", "std": 0.03}),
        ("vanishing_gradient", LAYER, {"std": 0.03}),
        ("exploding_gradient", LAYER, {"std": 2.0, "rate": 1e-20}),
    ],
)
def test_the_same_is_found_at_the_same_line(kind: str, line: int, settings: dict[str, object], tmp_path: Path) -> None:
    (with_values,), (without,) = (
        [each for each in found(values, tmp_path, **settings) if each.kind == kind] for values in ("full", "none")
    )
    assert (without.kind, without.line, without.names) == (with_values.kind, line, with_values.names)
    assert with_values.line == line
    sizes = [abs(each.evidence["factor"]) for each in (with_values, without)]
    assert max(sizes) < 1e4 * min(sizes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"activation": "torch.tanh"},
        {"std": 0.03, "residual": " + x"},
        {"norm": "nn.LayerNorm(32)", "std": 2.0},
        {"norm": "nn.BatchNorm1d(32)", "std": 0.03},
        {"norm": "nn.BatchNorm1d(32)", "activation": "torch.tanh", "std": 2.0},
        {"std": 0.03, "bias": False, "norm": "nn.LayerNorm(32)"},
    ],
    ids=str,
)
def test_nothing_is_told_of_healthy_layers(settings: dict[str, object], tmp_path: Path) -> None:
    kinds = {"vanishing_gradient", "exploding_gradient"}
    assert [each for each in found("none", tmp_path, **settings) if each.kind in kinds] == []


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_small_and_large_inputs_alone_are_neither(scale: float, tmp_path: Path) -> None:
    kinds = {"vanishing_gradient", "exploding_gradient"}
    told = found("none", tmp_path, scale=scale, rate=0.01 if scale < 1 else 1e-20)
    assert [each for each in told if each.kind in kinds] == []
