"""Layers that learn their input's size from the first input, against PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")]

LAYERS = [
    ("LazyLinear(3)", (2, 4)),
    ("LazyLinear(3, bias=False)", (2, 4)),
    ("LazyConv2d(6, 3, groups=2, padding=1)", (2, 4, 5, 5)),
    ("LazyConvTranspose1d(4, 3)", (2, 4, 5)),
    ("LazyBatchNorm2d(eps=1e-3)", (2, 4, 5, 5)),
]


@pytest.mark.parametrize(("code", "shape"), LAYERS)
def test_lazy_layers_become_ordinary_ones(code, shape):
    layers, texts = [], []
    for t in (gs, torch):
        layer = eval("n." + code, {"n": t.nn})
        texts.append([repr(layer)])
        parameters = list(layer.parameters())
        layer(t.ones(*shape))
        texts[-1].append(repr(layer))
        assert all(one is other for one, other in zip(parameters, layer.parameters(), strict=True))
        layers.append(layer)
    assert texts[0] == texts[1]
    mine, theirs = layers
    mine.load_state_dict({key: gs.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    found = mine(gs.tensor(x)).detach().numpy(), theirs(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)
