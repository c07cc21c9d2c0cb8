"""The loss of a classifier in a plan: what the formula gives, for classes that count, those left out and wrong ones."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope import jit


def loss_and_gradient(x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Mean over the samples that count of -ln softmax, and its gradient, in float64."""
    x = x.astype(np.float64)
    counts = y >= 0
    shares = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    chosen = shares[np.arange(len(y)), np.where(counts, y, 0)]
    ones = np.eye(x.shape[1])[np.where(counts, y, 0)]
    return -(np.log(chosen) * counts).sum() / counts.sum(), (shares - ones) * counts[:, None] / counts.sum()


def test_classes_that_change_from_run_to_run() -> None:
    numbers = np.random.default_rng(0)
    x = numbers.standard_normal((6, 5)).astype("f4")
    y = gs.from_numpy(np.arange(6) % 5)
    step = jit.value_and_grad(lambda x: gs.nn.functional.cross_entropy(x, y), gs.from_numpy(x))
    for classes in ([0, 1, 2, 3, 4, 0], [4, 4, 0, 0, 1, 2], [0, -100, 2, 3, -100, 1], [1, 1, 1, 1, 1, 1]):
        y.array[...] = classes
        value, (found,) = step(gs.from_numpy(x))
        wanted, gradient = loss_and_gradient(x, np.array(classes))
        np.testing.assert_allclose(value.array, wanted, rtol=1e-6)
        np.testing.assert_allclose(found.array, gradient, rtol=1e-5, atol=1e-7)
    for wrong in (5, -1):
        y.array[2] = wrong
        with pytest.raises(IndexError, match=f"target {wrong} is out of bounds"):
            step(gs.from_numpy(x))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_logarithms_of_large_numbers(dim: int) -> None:
    x = np.array([[1e4, 0.0, -1e4], [3.0, 3.0, 3.0]], np.float32)
    step = jit.compile(lambda x: gs.nn.functional.log_softmax(x, dim) * 1, gs.from_numpy(x))
    wide = x.astype(np.float64) - x.max(dim, keepdims=True)
    wanted = wide - np.log(np.exp(wide).sum(dim, keepdims=True))
    for _ in range(2):
        np.testing.assert_allclose(step(gs.from_numpy(x)).array, wanted, rtol=1e-6)


def test_sums_that_keep_their_dim() -> None:
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    step = jit.compile(lambda x: ((x * 2).sum(0, True) * 1, (x * 2).sum(1, True) * 1), gs.from_numpy(x))
    for found, dim in zip(step(gs.from_numpy(x)), (0, 1), strict=True):
        np.testing.assert_array_equal(found.array, 2 * x.sum(dim, keepdims=True))
