"""Layers that few programs use, against PyTorch: the same weights, the same values and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(0)


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


def agree(call):
    found = [[np.asarray(part.detach().numpy()) for part in call(t)] for t in (gs, torch)]
    for mine, other in zip(*found, strict=True):
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"include_last_offset": True}], ids=str)
def test_bags(mode, options):
    def call(t):
        table = t.tensor(numbers(5, 3), requires_grad=True)
        given = t.tensor([0, 1, 4, 4, 2, 1])
        offsets = t.tensor([0, 2, 2, 6] if options.get("include_last_offset") else [0, 2, 2])
        out = t.nn.functional.embedding_bag(given, table, offsets, mode=mode, **options)
        (out * out).sum().backward()
        return out, table.grad

    agree(call)


def test_weights_of_bags():
    agree(
        lambda t: [
            t.nn.functional.embedding_bag(
                t.tensor([[0, 1], [2, 2]]), t.tensor(numbers(5, 3)), mode="sum",
                per_sample_weights=t.tensor([[0.5, 1.0], [2.0, -1.0]]),
            )
        ]
    )  # fmt: skip


def test_other_layers():
    agree(lambda t: [t.nn.LazyInstanceNorm2d(affine=True)(t.tensor(numbers(2, 3, 4, 4)))])
    agree(lambda t: t.nn.functional.max_pool2d_with_indices(t.tensor(numbers(1, 2, 4, 4)), 2))
    agree(lambda t: t.nn.functional.adaptive_max_pool1d_with_indices(t.tensor(numbers(1, 2, 5)), 2))
