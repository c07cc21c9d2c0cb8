"""Losses and activations against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(3)
LOGITS = NUMBERS.standard_normal((6, 4))
PROBABILITIES = np.abs(NUMBERS.standard_normal((6, 4)))
CLASSES = NUMBERS.integers(0, 4, 6)


def compare(program, *data):
    found = []
    for t in (gs, torch):
        given = [t.tensor(value, requires_grad=value.dtype.kind == "f") for value in data]
        out = program(t.nn.functional, *given)
        (out * out).sum().backward()
        found.append([out.detach().numpy(), *(value.grad.numpy() for value in given if value.requires_grad)])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction):
    compare(lambda f, x, y: f.cross_entropy(x, y, reduction=reduction), LOGITS, CLASSES)
    compare(lambda f, x, y: f.cross_entropy(x, y, reduction=reduction), LOGITS, PROBABILITIES)
    compare(lambda f, x, y: f.nll_loss(x, y, reduction=reduction), LOGITS, CLASSES)
    compare(lambda f, x, y: f.mse_loss(x, y, reduction=reduction), LOGITS, PROBABILITIES)
    compare(lambda f, x, y: f.l1_loss(x, y, reduction=reduction), LOGITS, PROBABILITIES)


def test_a_single_sample_and_images():
    compare(lambda f, x, y: f.cross_entropy(x, y), LOGITS[0], CLASSES[0])
    compare(
        lambda f, x, y: f.cross_entropy(x, y), NUMBERS.standard_normal((2, 3, 4, 5)), NUMBERS.integers(0, 3, (2, 4, 5))
    )


def test_extreme_logits():
    compare(
        lambda f, x, y: f.cross_entropy(x, y), np.array([[1e4, -1e4, 0.0], [800.0, 801.0, 802.0]]), np.array([1, 0])
    )


@pytest.mark.parametrize("name", ["relu", "tanh", "sigmoid"])
def test_activations(name):
    compare(lambda f, x: getattr(f, name)(x), LOGITS)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_along_a_dim(name, dim):
    compare(lambda f, x: getattr(f, name)(x, dim), LOGITS)


@pytest.mark.parametrize("shape", [(4,), (6, 4), (2, 3, 4)])
def test_linear(shape):
    weight, bias = NUMBERS.standard_normal((5, 4)), NUMBERS.standard_normal(5)
    compare(lambda f, x, w, b: f.linear(x, w, b), NUMBERS.standard_normal(shape), weight, bias)
    compare(lambda f, x, w: f.linear(x, w), NUMBERS.standard_normal(shape), weight)
