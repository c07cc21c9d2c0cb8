"""Numbers of half precision that overflow or get lost where they are added up in half precision, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LARGE = np.array([[300.0, -250.0, 310.0, 5.0], [5.0, 310.0, -250.0, 300.0]], np.float16)
MANY = np.full(5000, 2.0, np.float16)

CALLS = {
    "sum": lambda m, x: x.sum(0),
    "mean of many": lambda m, x: x.repeat(14000, 1).mean(),
    "var": lambda m, x: x.var(1),
    "std of all": lambda m, x: x.std(),
    "norm": lambda m, x: x.norm(),
    "vector_norm of order 3": lambda m, x: m.linalg.vector_norm(x.detach(), 3, 1) + x.sum() * 0,
    "dist of order 4": lambda m, x: m.dist(x, x * 0, 4),
    "normalize": lambda m, x: m.nn.functional.normalize(x, dim=1),
    "cosine_similarity": lambda m, x: m.nn.functional.cosine_similarity(x, x.flip(1), dim=1),
    "cumsum": lambda m, x: x.repeat(1, 600).cumsum(1)[:, -1] / 600,
    "softmax": lambda m, x: m.softmax(x, 1),
    "logsumexp": lambda m, x: m.logsumexp(x, 1),
    "cross_entropy": lambda m, x: m.nn.functional.cross_entropy(x, m.tensor([0, 1])),
    "mse_loss": lambda m, x: m.nn.functional.mse_loss(x, x * 0.5),
    "layer_norm": lambda m, x: m.nn.functional.layer_norm(x, (4,)),
    "rms_norm": lambda m, x: m.nn.functional.rms_norm(x, (4,)),
    "group_norm": lambda m, x: m.nn.functional.group_norm(x, 2),
    "batch_norm": lambda m, x: m.nn.functional.batch_norm(x, None, None, training=True),
    "matmul that cancels": lambda m, x: x @ m.tensor([[300.0], [360.0], [0.0], [0.0]], dtype=m.float16),
    "linear": lambda m, x: m.nn.functional.linear(x, x.flip(0) * 0.01),
    "broadcast sum": lambda m, x: x.repeat(3000, 1) * x[:1] * 1e-4,
}


def run(module, call):
    x = module.tensor(LARGE.copy()).requires_grad_()
    out = call(module, x)
    (out * 0.25).sum().backward()
    return [np.asarray(value.detach().numpy()) for value in (out, x.grad)]


@pytest.mark.parametrize("name", CALLS)
def test_adds_up_as_pytorch_does(name):
    with np.errstate(all="ignore"):
        for ours, theirs in zip(run(gs, CALLS[name]), run(torch, CALLS[name]), strict=True):
            assert ours.dtype == theirs.dtype == np.float16
            known = np.isfinite(theirs)  # some gradients overflow in PyTorch
            assert np.isfinite(ours[known]).all()
            np.testing.assert_allclose(ours[known].astype(float), theirs[known].astype(float), rtol=4e-3, atol=1e-3)


def test_rules_on_tensors_add_up_too():
    x = gs.tensor(LARGE).requires_grad_()
    whole = gs.tensor(LARGE.astype(np.float32)).requires_grad_()
    found = []
    for given in (x, whole):
        y = gs.nn.functional.layer_norm(given, (4,))
        (gradient,) = gs.autograd.grad((y * y * y).sum(), given, create_graph=True)
        found.append(gradient)
    assert found[0].dtype == gs.float16
    assert found[0].requires_grad
    np.testing.assert_allclose(found[0].detach().numpy().astype(float), found[1].detach().numpy(), atol=2e-4)


def test_conversions_keep_the_precision_of_each_side():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    (x.half() * 3).sum().backward()
    assert x.grad.dtype == gs.float32
    y = gs.tensor([1.0, 2.0], dtype=gs.float16, requires_grad=True)
    (y.float() * 3).sum().backward()
    assert y.grad.dtype == gs.float16


@pytest.mark.parametrize("name", ["BatchNorm1d", "InstanceNorm1d", "LayerNorm", "GroupNorm"])
def test_a_layer_of_single_precision_takes_halves(name):
    made = {"GroupNorm": (2, 6), "LayerNorm": (4,)}.get(name, (6,))
    data = (np.arange(72.0).reshape(3, 6, 4) ** 2 - 900).astype(np.float16)
    found = []
    for module in (gs, torch):
        options = {"affine": True, "track_running_stats": True} if name == "InstanceNorm1d" else {}
        layer = getattr(module.nn, name)(*made, **options)
        x = module.tensor(data.copy()).requires_grad_()
        out = layer(x)
        (out * out * out).sum().backward()
        kept = [value.numpy() for value in (getattr(layer, "running_var", None),) if value is not None]
        values = (out, x.grad, layer.weight.grad, layer.bias.grad)
        found.append([value.detach().numpy() for value in values] + kept)
    for ours, theirs in zip(*found, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=1e-2, atol=5e-3)
