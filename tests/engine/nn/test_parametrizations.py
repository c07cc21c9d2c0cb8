"""Weights that are computed when they are read, against PyTorch: values, gradients, state dicts, text, and back."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*deprecated")]

NUMBERS = np.random.default_rng(0)
X = NUMBERS.standard_normal((5, 4)).astype("float32")
W, B = NUMBERS.standard_normal((3, 4)).astype("float32"), NUMBERS.standard_normal(3).astype("float32")


def numbers(shape):
    return np.random.default_rng(1).standard_normal(shape).astype("float32")


def linear(t, shape=(3, 4)):
    module = t.nn.Linear(shape[1], shape[0])
    with t.no_grad():
        module.weight.copy_(t.tensor(numbers(shape)))
        module.bias.copy_(t.tensor(np.resize(B, shape[0])))
    return module


def convolution(t):
    module = t.nn.Conv1d(2, 3, 2)
    with t.no_grad():
        module.weight.copy_(t.tensor(W.reshape(3, 2, 2)))
        module.bias.copy_(t.tensor(B))
    return module


def spectral(t):
    module = t.nn.utils.parametrizations.spectral_norm(linear(t))
    part = module.parametrizations.weight[0]
    part._u.copy_(t.ones(3) / 3**0.5)
    part._v.copy_(t.ones(4) / 2)
    return module


def older_spectral(t):
    module = t.nn.utils.spectral_norm(linear(t))
    part = module.parametrizations.weight[0] if t is gs else module
    for name, size in (("u", 3), ("v", 4)):
        getattr(part, f"_{name}" if t is gs else f"weight_{name}").copy_(t.ones(size) / size**0.5)
    return module


MADE = {
    "weight_norm": lambda t: t.nn.utils.parametrizations.weight_norm(linear(t)),
    "weight_norm of columns": lambda t: t.nn.utils.parametrizations.weight_norm(linear(t), dim=1),
    "weight_norm of all": lambda t: t.nn.utils.parametrizations.weight_norm(linear(t), dim=None),
    "weight_norm of a convolution": lambda t: t.nn.utils.parametrizations.weight_norm(convolution(t)),
    "spectral_norm": spectral,
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_values_gradients_and_state(make):
    found = []
    for t in (gs, torch):
        module = make(t)
        x = t.tensor(X if "Conv" not in type(module).__name__ else X[:, :2].repeat(2, 1).reshape(5, 2, 2))
        for _ in range(2):
            out = module(x)
            (out * out).sum().backward()
        gradients = {name: parameter.grad.numpy() for name, parameter in module.named_parameters()}
        state = {name: value.numpy() for name, value in module.state_dict().items()}
        module.eval()
        found.append((out.detach().numpy(), gradients, state, module.weight.detach().numpy(), repr(module)))
    mine, other = found
    np.testing.assert_allclose(mine[0], other[0], rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(mine[3], other[3], rtol=2e-5, atol=2e-6)
    for ours, theirs in zip(mine[1:3], other[1:3], strict=True):
        assert list(ours) == list(theirs)
        for name in theirs:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-5, err_msg=name)
    assert mine[4] == other[4]


@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
def test_what_was_removed_is_an_ordinary_parameter(name):
    found = []
    for t in (gs, torch):
        module = MADE[name](t)
        module.eval()
        before = module.weight.detach().clone()
        t.nn.utils.parametrize.remove_parametrizations(module, "weight")
        assert type(module) is t.nn.Linear
        assert t.equal(module.weight, before)
        found.append([name for name, _ in module.named_parameters()])
        assert isinstance(module.weight, t.nn.Parameter)
    assert sorted(found[0]) == sorted(found[1])


def test_a_weight_is_computed_once_and_by_its_name():
    module = linear(gs)
    with pytest.raises(ValueError, match="no parameter or buffer with name 'weigth'"):
        gs.nn.utils.spectral_norm(module, "weigth")
    gs.nn.utils.parametrizations.weight_norm(module)
    assert gs.nn.utils.parametrize.is_parametrized(module, "weight")
    assert not gs.nn.utils.parametrize.is_parametrized(module, "bias")
    with pytest.raises(ValueError, match="has no parameter with name 'weight'"):
        gs.nn.utils.parametrizations.weight_norm(module)
    with pytest.raises(ValueError, match="does not have a parametrization on bias"):
        gs.nn.utils.parametrize.remove_parametrizations(module, "bias")


def test_old_state_is_loaded():
    old = gs.nn.utils.weight_norm(linear(gs))
    new = gs.nn.utils.parametrizations.weight_norm(gs.nn.Linear(4, 3))
    new.load_state_dict(old.state_dict())
    np.testing.assert_allclose(new.weight.detach().numpy(), old.weight.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "make", [lambda t: t.nn.utils.weight_norm(linear(t)), older_spectral], ids=["weight", "spectral"]
)
def test_the_older_functions_compute_the_same_and_are_undone(make):
    ours, theirs = make(gs), make(torch)
    x = [t.tensor(X, requires_grad=True) for t in (gs, torch)]
    for _ in range(50):  # power iteration begins otherwise in the older function, and ends at the same vectors
        out = [module(each) for module, each in zip((ours, theirs), x, strict=True)]
    for each in out:
        (each * each).sum().backward()
    np.testing.assert_allclose(out[0].detach().numpy(), out[1].detach().numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x[0].grad.numpy(), x[1].grad.numpy(), rtol=1e-4, atol=1e-5)
    remove = "remove_weight_norm" if hasattr(theirs, "weight_g") else "remove_spectral_norm"
    for t, module in ((gs, ours), (torch, theirs)):
        getattr(t.nn.utils, remove)(module)
    assert sorted(ours.state_dict()) == sorted(theirs.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(ours.weight.detach().numpy(), theirs.weight.detach().numpy(), rtol=1e-5, atol=1e-6)
