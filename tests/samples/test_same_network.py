"""The network in four frameworks: each way gives the loss and the gradient that NumPy and differences tell."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

sample = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "samples/same_network.py")))
FOREIGN = ("torch", "tensorflow", "jax")


def loss(h_weights: Any) -> float:
    """The loss in double precision."""
    h = np.zeros((sample.HIDDEN, 1))
    for x in sample.SEQUENCE:
        h = np.tanh(h_weights @ h + sample.W_x @ x)
    return float((h * h).sum())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize(
    ("framework", "make"),
    [
        pytest.param(name, make, marks=[pytest.mark.slow, getattr(pytest.mark, name)] if name in FOREIGN else ())
        for name, _, make in sample.WAYS
    ],
    ids=[make.__name__ for _, _, make in sample.WAYS],
)
def test_each_way_computes_the_same(framework: str, make: Any) -> None:
    pytest.importorskip(framework)
    step = make()
    for _ in range(3):  # compilers are at work in the first calls
        value, gradient = step()
    weights = sample.W_h.astype(np.float64)
    assert value == pytest.approx(loss(weights), rel=1e-4)
    for place in ((0, 0), (3, 5), (31, 31)):
        shift = np.zeros_like(weights)
        shift[place] = 1e-5
        slope = (loss(weights + shift) - loss(weights - shift)) / 2e-5
        assert np.asarray(gradient)[place] == pytest.approx(slope, rel=1e-2, abs=1e-4)
