"""Variances of nearly equal numbers of single precision, held to NumPy in double."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core import layer_loops, moments
from graphscope.engine.ops import statistics

BOTH = pytest.mark.parametrize("compiled", [True, False])
LAYOUTS = [((50_000, 3), 1), ((3, 5_000), 0), ((40, 3, 50), 1), ((40, 3, 50), (0, 2)), ((7, 3, 2, 5), (0, 2)),
           ((5, 4097), -1), ((4097, 5), 0), ((6, 50), None), ((4, 3, 50), (2, 1))]  # fmt: skip


def within(compiled, monkeypatch):
    if compiled and layer_loops._layers is None:
        pytest.skip("there was no compiler")
    if not compiled:
        monkeypatch.setattr(moments, "moments_along", lambda *_: None)
        monkeypatch.setattr(statistics, "distances", lambda *_: None)


def near_one(shape, by=1e-5):
    return (1 + np.random.default_rng(2).standard_normal(shape) * by).astype(np.float32)


def tolerance(compiled):
    return 3e-7 if compiled else 3e-6


def relative(found, exact):
    """How far numbers are off, of the largest that is right among those of their row."""
    return np.abs(found - exact).max() / np.abs(exact).max()


@BOTH
@pytest.mark.parametrize(("shape", "dim"), LAYOUTS)
@pytest.mark.parametrize("op", ["var", "std"])
def test_nearly_equal_numbers(op, shape, dim, compiled, monkeypatch):
    within(compiled, monkeypatch)
    x = near_one(shape)
    exact = getattr(np, op)(x.astype(np.float64), axis=dim, ddof=1)
    np.testing.assert_allclose(getattr(gs.from_numpy(x), op)(dim).numpy(), exact, rtol=tolerance(compiled))


@BOTH
@pytest.mark.parametrize(("shape", "dim"), LAYOUTS)
def test_gradients_of_nearly_equal_numbers(shape, dim, compiled, monkeypatch):
    within(compiled, monkeypatch)
    x = gs.from_numpy(near_one(shape)).requires_grad_()
    x.var(dim).sum().backward()
    wide = x.detach().numpy().astype(np.float64)
    axes = tuple(range(wide.ndim)) if dim is None else dim
    count = wide.size // np.sum(wide, axis=axes).size
    exact = 2 / (count - 1) * (wide - wide.mean(axis=axes, keepdims=True))
    assert relative(x.grad.numpy(), exact) < tolerance(compiled)


@BOTH
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e20])
@pytest.mark.parametrize("shape", [(3,), (7,), (1000,), (2000, 3)])
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_equal_numbers_have_none(shape, value, dtype, compiled, monkeypatch):
    within(compiled, monkeypatch)
    x = gs.full(shape, value, dtype=dtype)
    assert x.var().item() == 0
    assert x.std(0).abs().max().item() == 0


@BOTH
def test_statistics_of_a_batch(compiled, monkeypatch):
    within(compiled, monkeypatch)
    for shape in ((1000, 5), (20, 5, 90), (3, 300, 1)):
        x = near_one(shape)
        layer = gs.nn.BatchNorm1d(shape[1], momentum=1.0)
        layer(gs.from_numpy(x))
        exact = x.astype(np.float64).var(axis=(0, 2)[: x.ndim - 1], ddof=1)
        np.testing.assert_allclose(layer.running_var.numpy(), exact, rtol=tolerance(compiled))


@pytest.mark.skipif(layer_loops._layers is None, reason="there was no compiler")
@pytest.mark.parametrize("name", ["layer_norm", "group_norm", "instance_norm"])
def test_normalized_rows_have_a_deviation_of_1(name):
    x = near_one((300, 300), 1e-6)
    call = {
        "layer_norm": lambda t: gs.nn.functional.layer_norm(t, (300,), eps=0.0),
        "group_norm": lambda t: gs.nn.functional.group_norm(t, 3, eps=0.0),
        "instance_norm": lambda t: gs.nn.functional.instance_norm(t[None], eps=0.0)[0],
    }[name]
    out = call(gs.from_numpy(x)).numpy().astype(np.float64)
    rows = out.reshape(900, 100) if name == "group_norm" else out
    np.testing.assert_allclose(rows.std(axis=1), 1, rtol=1e-6)


def test_large_numbers_have_a_deviation():
    assert gs.tensor([1e30, -1e30]).std().item() == pytest.approx(2**0.5 * 1e30)
