"""Loops in the compiled part do what the same ops do in NumPy alone: values, gradients, corners."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core import along, loops

pytestmark = pytest.mark.skipif(find_spec("graphscope.engine.core._loops") is None, reason="there was no compiler")

CORNERS = [0.5, np.nan, 0.5, np.inf, np.inf, np.nan, -np.inf, -0.0, 0.0]


def numbers(dtype, *shape):
    x = np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)
    if shape[-1] >= 2 * len(CORNERS):
        x[..., -len(CORNERS) :] = CORNERS
    return x


def places(*shape, below):
    return gs.from_numpy(np.random.default_rng(1).integers(0, below, shape))


CALLS = {
    "cumsum": lambda x: x.cumsum(-1),
    "cumsum of columns": lambda x: x.t().cumsum(-1),
    "cumprod": lambda x: x.cumprod(1),
    "cummax": lambda x: x.cummax(1),
    "cummax of columns": lambda x: x.cummax(0),
    "cummin": lambda x: x.cummin(1),
    "max": lambda x: x.max(1),
    "max of columns": lambda x: x.max(0),
    "max in the middle": lambda x: x.reshape(4, 50, 41).max(1, keepdim=True),
    "min": lambda x: x[0].min(0, keepdim=True),
    "min of columns": lambda x: x.min(-2, keepdim=True),
    "prod of rows": lambda x: x.prod(1),
    "prod": lambda x: x.prod(),
    "scatter_add": lambda x: gs.zeros(200, 50, dtype=x.dtype).scatter_add(1, places(200, 41, below=50), x),
    "scatter_add down": lambda x: gs.zeros(50, 41, dtype=x.dtype).scatter_add(0, places(200, 41, below=50), x),
    "gather": lambda x: x.gather(1, places(200, 90, below=41)),
    "gather in the middle": lambda x: x.reshape(4, 50, 41).gather(-2, places(4, 7, 41, below=50)),
    "gather of a part": lambda x: x.gather(0, places(20, 40, below=200)),
    "gather, repeated": lambda x: x.gather(1, places(5, below=41).expand(200, 5)),
    "index_add": lambda x: gs.zeros(9, 41, dtype=x.dtype).index_add(0, places(200, below=9), x),
    "taken": lambda x: x[places(30, below=200), places(30, below=41)],
    "elu": lambda x: gs.nn.functional.elu(x, 0.5),
    "leaky_relu": lambda x: gs.nn.functional.leaky_relu(x, 0.1),
    "gelu": lambda x: gs.nn.functional.gelu(x),
    "gelu of columns": lambda x: gs.nn.functional.gelu(x.t()),
    "convolution": lambda x: gs.nn.functional.conv2d(
        x[:, :36].reshape(20, 10, 6, 6), x[:10, :9].reshape(10, 1, 3, 3), padding=1, stride=2, groups=10
    ),
    "convolution of one dim": lambda x: gs.nn.functional.conv1d(
        x[:, :36].reshape(20, 10, 36), x[:10, :4].reshape(10, 1, 4), dilation=2, groups=10
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_both_ways_agree(name, dtype, monkeypatch):
    given = numbers(dtype, 200, 41)
    if name in ("prod", "convolution", "convolution of one dim"):
        given = np.nan_to_num(given, posinf=2, neginf=-2)
    found = []
    for way in ("compiled", "NumPy"):
        if way == "NumPy":
            monkeypatch.setattr(loops, "_loops", None)
            for function in ("picked", "added", "extremes", "running", "within"):
                monkeypatch.setattr(along, function, lambda *_: None)
        x = gs.tensor(given.copy(), requires_grad=True)
        outs = CALLS[name](x)
        outs = outs if isinstance(outs, tuple) else (outs,)
        weights = gs.linspace(0.5, 1.5, outs[0].numel(), dtype=x.dtype).reshape(outs[0].shape)
        (outs[0] * weights).sum().backward()
        found.append([out.detach().numpy() for out in outs] + [x.grad.numpy()])
    close = {"rtol": 2e-4, "atol": 2e-5} if dtype == "float32" else {"rtol": 1e-10, "atol": 1e-11}
    for mine, other in zip(*found, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, **close)


def test_a_place_that_does_not_exist_is_refused():
    with pytest.raises(IndexError, match="place 7 does not exist: there are 5"):
        loops.add_at(np.zeros(5), np.array([0, 7]), np.ones(2))


@pytest.mark.parametrize("size", [1, 511, 512, 1300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_added_is_scaled_and_rounded_as_numpy_rounds_it(dtype, size):
    out, values = numbers(dtype, 2, size)
    with np.errstate(invalid="ignore"):
        expected = out + values * dtype(-0.003)
    x = gs.from_numpy(out)
    assert x.add_(gs.from_numpy(values), alpha=-0.003) is x
    np.testing.assert_array_equal(out, expected)


def test_what_is_added_to_its_own_memory_is_looked_at_as_it_was():
    for part in (slice(1, None), slice(None, -1), slice(None)):
        out = np.arange(2000.0)
        there = out[:-1] if part.start else out[1:] if part.stop else out
        expected = there + out[part] * 0.25
        gs.from_numpy(there).add_(gs.from_numpy(out[part]), alpha=0.25)
        np.testing.assert_array_equal(there, expected)


def test_what_the_compiled_part_does_not_take_is_left():
    x, index = np.arange(12.0).reshape(3, 4), np.array([[0, 3], [1, 1], [2, 0]])
    for other in (index + 2, index - 1, index[:2], index[0], index.astype(float), index.astype(bool), index[:0]):
        assert along.picked(x, other, 1) is None
        assert along.added(x[: len(other), : other.shape[-1]], other, 1, (3, 3)) is None
    for other in (x[:, ::2], x.T, x[0, 0], x[:0], x.astype(np.float16), x.tolist()):
        assert along.picked(other, index, 1) is None
        assert along.added(other, index, 1, (3, 4)) is None
        assert along.extremes(other, 0, along.LARGEST, True) is None
        assert along.running(other, along.LARGEST) is None
    assert along.extremes(x, 2, along.LARGEST, False) is None
    assert along.extremes(x[0].copy(), 0, along.LARGEST, False) is None
    assert along.added(x[:, :2].copy(), index, 1, x.astype(np.float32)) is None
    assert along.within(index, 4) is True
    assert along.within(index, 3) is along.within(index - 1, 4) is False
