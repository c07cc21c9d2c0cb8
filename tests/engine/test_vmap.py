"""Functions over batches, and modules called with other weights, against PyTorch's `torch.func`."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(0)
X, Y, W = (NUMBERS.standard_normal(shape) for shape in ((4, 3), (4, 3), (3, 5)))


def leaves(found):
    if isinstance(found, dict):
        found = list(found.values())
    return [leaf for part in found for leaf in leaves(part)] if isinstance(found, tuple | list) else [found]


CALLS = {
    "dot": lambda t, x, y, w: t.vmap(t.dot)(x, y),
    "one batch": lambda t, x, y, w: t.vmap(t.mv, in_dims=(None, 0))(w.T, x),
    "other dims": lambda t, x, y, w: t.vmap(t.mul, in_dims=(1, 1), out_dims=1)(x, y),
    "trees": lambda t, x, y, w: t.vmap(lambda d, z: {"s": d["a"] + z, "p": (d["b"] * z, z.sum())})({"a": x, "b": y}, x),
    "keywords": lambda t, x, y, w: t.vmap(lambda a, *, b: a * b)(x, b=y),
    "nested": lambda t, x, y, w: t.vmap(t.vmap(t.mul, in_dims=(0, None)), in_dims=(None, 0))(x[0], y[:, 0]),
    "gradients": lambda t, x, y, w: t.func.vmap(t.func.grad(lambda v, u: (v * u).sin().sum()))(x, y),
    "a matrix of slopes": lambda t, x, y, w: t.vmap(t.func.jacrev(lambda v: (v @ w).tanh()))(x),
    "constant": lambda t, x, y, w: t.vmap(lambda a: (a, a.sum()), out_dims=(0, 0))(x),
}


SLOW = ("gradients", "a matrix of slopes")
"""With these PyTorch loads its compiler."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CALLS])
def test_what_is_mapped(name):
    found = []
    for t in (gs, torch):
        given = [t.tensor(array, requires_grad=True) for array in (X, Y, W)]
        outs = leaves(CALLS[name](t, *given))
        outs = [out for out in outs if out.requires_grad] or outs
        if outs[0].requires_grad:
            sum((out * out).sum() for out in outs).backward()
        found.append([out.detach().numpy() for out in outs] + [x.grad.numpy() for x in given if x.grad is not None])
    assert len(found[0]) == len(found[1])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_what_can_not_be_mapped_is_said(t):
    with pytest.raises(ValueError, match="same size"):
        t.vmap(t.add)(t.ones(2), t.ones(3))
    with pytest.raises(ValueError):
        t.vmap(t.add, in_dims=None)(t.ones(2), t.ones(2))
    with pytest.raises(ValueError):
        t.vmap(t.add, in_dims=(0,))(t.ones(2), t.ones(2))


def test_modules_are_called_with_other_weights():
    found = []
    for t in (gs, torch):
        model = t.nn.Sequential(t.nn.Linear(3, 2), t.nn.BatchNorm1d(2))
        before = model[0].weight
        other = {"0.weight": t.tensor(W[:, :2].T.astype("float32"), requires_grad=True), "0.bias": t.zeros(2)}
        out = t.func.functional_call(model, other, (t.tensor(X.astype("float32")),))
        (out * out * out).sum().backward()
        assert model[0].weight is before
        assert before.grad is None
        found.append([out.detach().numpy(), other["0.weight"].grad.numpy()])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_an_ensemble_is_one_function(t):
    models = [t.nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = t.func.stack_module_state(models)

    def call(held, x):
        return t.func.functional_call(models[0], (held, buffers), (x,))

    out = t.vmap(call, in_dims=(0, None))(parameters, t.ones(5, 3))
    assert tuple(out.shape) == (4, 5, 2)
    np.testing.assert_allclose(out[2].detach().numpy(), models[2](t.ones(5, 3)).detach().numpy(), rtol=1e-5)
    out.sum().backward()
    assert tuple(parameters["weight"].grad.shape) == (4, 2, 3)
