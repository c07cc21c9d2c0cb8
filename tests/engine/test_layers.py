"""Layers in the compiled part do what they do in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core import layer_loops as layers
from graphscope.engine.ops import normalization

pytestmark = pytest.mark.skipif(layers.lstm_step is None, reason="there was no compiler")

CLOSE = {"float32": {"rtol": 1e-4, "atol": 1e-5}, "float64": {"rtol": 1e-10, "atol": 1e-11}}


def in_numpy(monkeypatch):
    for function in ("lstm_step", "lstm_step_back"):
        monkeypatch.setattr(layers, function, None)
    for function in ("normalized", "normalized_rule"):
        monkeypatch.setattr(normalization, function, lambda *_: None)


def lstm(x):
    gs.manual_seed(0)
    layer = gs.nn.LSTM(17, 13, num_layers=2, bidirectional=True, dtype=x.dtype)
    out, (_, cell) = layer(x.reshape(6, 5, 17))
    return [out, cell], list(layer.parameters())


def normalized(x, *parameters, shape=(17,)):
    given = [gs.linspace(0.5, 2, 17, dtype=x.dtype).requires_grad_() if each else None for each in parameters]
    return [gs.nn.functional.layer_norm(x.reshape(30, *shape), shape, *given)], [
        each for each in given if each is not None
    ]


CALLS = {
    "lstm": lstm,
    "layer_norm": lambda x: normalized(x, False, False),
    "layer_norm with a weight": lambda x: normalized(x, True, False),
    "layer_norm with a bias": lambda x: normalized(x, False, True),
    "layer_norm with both": lambda x: normalized(x, True, True),
    "layer_norm of columns": lambda x: normalized(x.t().reshape(17, 30).t(), True, True),
    "layer_norm of two dims": lambda x: normalized(x, shape=(1, 17)),
    "layer_norm of numbers far from 0": lambda x: normalized(x + 1000.0, True, True),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_both_ways_agree(name, dtype, monkeypatch):
    found = []
    for way in (lambda _: None, in_numpy):
        way(monkeypatch)
        x = gs.tensor(np.random.default_rng(0).standard_normal((30, 17)).astype(dtype), requires_grad=True)
        outs, parameters = CALLS[name](x)
        sum(
            (out * gs.linspace(0.5, 1.5, out.numel(), dtype=x.dtype).reshape(out.shape)).sum() for out in outs
        ).backward()
        found.append([each.detach().numpy() for each in outs] + [each.grad.numpy() for each in (x, *parameters)])
    close = {"rtol": 2e-3, "atol": 2e-2} if "far" in name and dtype == "float32" else CLOSE[dtype]
    for mine, other in zip(*found, strict=True):
        assert mine.dtype == other.dtype == np.dtype(dtype)
        np.testing.assert_allclose(mine, other, **close)


def test_arrays_that_do_not_fit_are_refused():
    state = np.zeros((2, 3))
    gates, sums = np.zeros((5, 2, 3)), np.zeros((2, 12))
    for given in (
        (gates[:4], state, state, sums, sums, state),
        (gates, state, state, sums, sums.T, state),
        (gates, state, state.astype(np.float32), sums, sums, state),
        (gates, state, state, sums, sums, state.reshape(-1)),
    ):
        with pytest.raises(ValueError, match="does not fit its state"):
            layers.lstm_step(*given)
    with pytest.raises(ValueError, match=r"argument 4 of an LSTM.s step does not fit"):
        layers.lstm_step_back(sums, state, state, state, gates[:3], state)
    with pytest.raises(TypeError, match="lstm_step"):
        layers.lstm_step(gates)
