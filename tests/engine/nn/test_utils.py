"""Clipping of gradients, and parameters as one vector, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

GRADIENTS = [np.random.default_rng(0).standard_normal(shape).astype(np.float32) * 3 for shape in ((3, 2), (4,), ())]


def parameters(t, gradients=GRADIENTS):
    found = []
    for gradient in gradients:
        parameter = t.ones(*gradient.shape, requires_grad=True) if gradient.shape else t.tensor(1.0, requires_grad=True)
        parameter.grad = t.tensor(gradient)
        found.append(parameter)
    return [*found, t.ones(2, requires_grad=True)]


@pytest.mark.parametrize(
    "clip",
    [
        lambda u, p: u.clip_grad_norm_(p, 1.0),
        lambda u, p: u.clip_grad_norm_(p, 100.0),
        lambda u, p: u.clip_grad_norm_(p, 0.5, norm_type=1),
        lambda u, p: u.clip_grad_norm_(p, 0.5, norm_type=float("inf")),
        lambda u, p: u.clip_grad_norm_(p[0], 0.5),
        lambda u, p: u.clip_grad_norm_(iter(p), 0.5),
        lambda u, p: u.clip_grad_norm_([], 0.5),
        lambda u, p: u.clip_grad_value_(p, 0.7),
        lambda u, p: u.clip_grads_with_norm_(p, 1.0, u.get_total_norm([x.grad for x in p[:3]])),
    ],
)
def test_clipping(clip):
    found = []
    for t in (gs, torch):
        given = parameters(t)
        norm = clip(t.nn.utils, given)
        found.append([0.0 if norm is None else float(norm), *(p.grad.numpy() for p in given[:3]), given[3].grad])
    for mine, other in zip(*found, strict=True):
        if other is None:
            assert mine is None
        else:
            np.testing.assert_allclose(mine, other, rtol=1e-6)


def test_norms_that_are_not_finite():
    for t in (gs, torch):
        given = parameters(t, [np.array([np.nan, 1.0], np.float32)])
        with pytest.raises(RuntimeError, match="non-finite"):
            t.nn.utils.clip_grad_norm_(given, 1.0, error_if_nonfinite=True)
        assert np.isnan(float(t.nn.utils.clip_grad_norm_(given, 1.0)))


def test_parameters_as_a_vector_and_back():
    for t in (gs, torch):
        layer = t.nn.Linear(2, 3)
        vector = t.nn.utils.parameters_to_vector(layer.parameters())
        assert vector.shape == (9,)
        assert vector.requires_grad
        t.nn.utils.vector_to_parameters(t.arange(9.0), layer.parameters())
        assert layer.weight.tolist() == [[0, 1], [2, 3], [4, 5]]
        assert layer.bias.tolist() == [6, 7, 8]
        with pytest.raises(TypeError, match="expected torch"):
            t.nn.utils.vector_to_parameters([1.0], layer.parameters())
