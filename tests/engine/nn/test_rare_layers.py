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


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("size", [{"output_size": 3}, {"output_ratio": 0.6}, {"output_size": 1}], ids=str)
@pytest.mark.parametrize("batch", [(2,), ()], ids=str)
def test_fractional_pooling(rank, size, batch):
    samples = np.random.default_rng(1).random((*(batch or (1,)), 3, rank)).astype("float32")

    def call(t):
        x = t.tensor(numbers(*batch, 3, *range(6, 6 + rank)), requires_grad=True)
        layer = getattr(t.nn, f"FractionalMaxPool{rank}d")(
            2, return_indices=True, _random_samples=t.tensor(samples), **size
        )
        out, indices = layer(x)
        (out * out).sum().backward()
        return out, indices, x.grad

    agree(call)


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_fractional_pooling_at_random(t):
    out = t.nn.FractionalMaxPool2d(3, output_ratio=(0.5, 0.5))(t.ones(1, 2, 10, 12))
    assert tuple(out.shape) == (1, 2, 5, 6)
    with pytest.raises(ValueError, match="either"):
        t.nn.FractionalMaxPool2d(3)
    with pytest.raises(ValueError, match="between 0 and 1"):
        t.nn.FractionalMaxPool2d(3, output_ratio=2)
    with pytest.raises(RuntimeError):
        t.nn.functional.fractional_max_pool2d(t.ones(1, 1, 4, 4), 3, 3)


@pytest.mark.parametrize("targets", [[0, 5, 9, 3, 1, 7], [0, 1, 0, 1, 0, 1], 6])
def test_adaptive_softmax(targets):
    def call(t):
        layer = t.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 6], div_value=2.0, head_bias=True)
        with t.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(t.tensor(numbers(*parameter.shape)))
        x = t.tensor(numbers(6, 8) if isinstance(targets, list) else numbers(8), requires_grad=True)
        found = layer(x, t.tensor(targets))
        found.loss.backward()
        rows = x if x.ndim == 2 else x[None]
        gradients = [t.zeros(1) if p.grad is None else p.grad for p in layer.parameters()]
        return *found, x.grad, layer.log_prob(rows), layer.predict(rows), *gradients

    agree(call)


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_adaptive_softmax_says_what_is_wrong(t):
    with pytest.raises(ValueError, match="unique, positive"):
        t.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [6, 2])
    with pytest.raises(RuntimeError, match=r"should be in \[0, 9\]"):
        t.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2])(t.ones(1, 8), t.tensor([10]))


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
    agree(lambda t: [t.nn.LPPool3d(2, 2)(t.tensor(numbers(1, 2, 4, 4, 4)))])
    agree(lambda t: [t.nn.LazyInstanceNorm2d(affine=True)(t.tensor(numbers(2, 3, 4, 4)))])
    agree(lambda t: t.nn.functional.max_pool2d_with_indices(t.tensor(numbers(1, 2, 4, 4)), 2))
    agree(lambda t: t.nn.functional.adaptive_max_pool1d_with_indices(t.tensor(numbers(1, 2, 5)), 2))
