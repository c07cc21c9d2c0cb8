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


def symmetric(t):
    class Symmetric(t.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, a):
            return a.triu()

    return t.nn.utils.parametrize.register_parametrization(linear(t, (4, 4)), "weight", Symmetric())


def rank_one(t):
    class RankOne(t.nn.Module):
        def forward(self, x, y):
            return x.unsqueeze(-1) @ y.unsqueeze(-2)

        def right_inverse(self, z):
            return z[:, 0].clone(), z[0].clone()

    return t.nn.utils.parametrize.register_parametrization(linear(t), "weight", RankOne())


def twice(t):
    class Double(t.nn.Module):
        def forward(self, x):
            return x * 2

        def right_inverse(self, x):
            return x / 2

    module = linear(t)
    for _ in range(2):
        t.nn.utils.parametrize.register_parametrization(module, "weight", Double())
    return module


def spectral(t):
    module = t.nn.utils.parametrizations.spectral_norm(linear(t))
    part = module.parametrizations.weight[0]
    part._u.copy_(t.ones(3) / 3**0.5)
    part._v.copy_(t.ones(4) / 2)
    return module


def older_spectral(t):
    module = t.nn.utils.spectral_norm(linear(t))
    module.weight_u.copy_(t.ones(3) / 3**0.5)
    module.weight_v.copy_(t.ones(4) / 2)
    return module


def orthogonal(kind, shape, **options):
    def make(t):
        module = t.nn.utils.parametrizations.orthogonal(linear(t, shape), orthogonal_map=kind, **options)
        with t.no_grad():
            module.parametrizations.weight.original.add_(t.tensor(numbers(shape)) * 0.1)
        part = module.parametrizations.weight[0]
        if options.get("use_trivialization", True):
            size = max(shape)
            part.base = t.eye(size)
        return module

    return make


MADE = {
    "weight_norm": lambda t: t.nn.utils.parametrizations.weight_norm(linear(t)),
    "weight_norm of columns": lambda t: t.nn.utils.parametrizations.weight_norm(linear(t), dim=1),
    "weight_norm of all": lambda t: t.nn.utils.parametrizations.weight_norm(linear(t), dim=None),
    "weight_norm of a convolution": lambda t: t.nn.utils.parametrizations.weight_norm(convolution(t)),
    "spectral_norm": spectral,
    "symmetric": symmetric,
    "rank one": rank_one,
    "twice": twice,
    "matrix_exp": orthogonal("matrix_exp", (4, 4)),
    "cayley": orthogonal("cayley", (4, 4)),
    "cayley, wide": orthogonal("cayley", (3, 4)),
    "householder": orthogonal("householder", (6, 4)),
    "householder alone": orthogonal("householder", (6, 4), use_trivialization=False),
    "older weight_norm": lambda t: t.nn.utils.weight_norm(linear(t)),
    "older weight_norm of all": lambda t: t.nn.utils.weight_norm(linear(t), dim=None),
    "older spectral_norm": older_spectral,
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


@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm", "symmetric", "twice", "rank one"])
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


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_older_norms_are_removed(t):
    for put, take in (("weight_norm", "remove_weight_norm"), ("spectral_norm", "remove_spectral_norm")):
        module = getattr(t.nn.utils, put)(linear(t))
        module(t.tensor(X))
        weight = module.weight.detach().clone()
        getattr(t.nn.utils, take)(module)
        np.testing.assert_allclose(module.weight.detach().numpy(), weight.numpy(), rtol=1e-3)
        assert sorted(name for name, _ in module.named_parameters()) == ["bias", "weight"]
        with pytest.raises(ValueError, match="not found"):
            getattr(t.nn.utils, take)(module)


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_a_parametrized_weight_is_assigned(t):
    module = symmetric(t)
    a = t.tensor(np.arange(16.0).reshape(4, 4).astype("float32"))
    module.weight = a + a.T
    assert t.equal(module.weight, a + a.T)
    assert t.equal(module.parametrizations.weight.original, (a + a.T).triu())
    with pytest.raises(ValueError, match="does not have a parameter"):
        t.nn.utils.parametrize.register_parametrization(module, "weigth", t.nn.Identity())
    with pytest.raises(ValueError, match="may not change the shape"):
        t.nn.utils.parametrize.register_parametrization(linear(t), "weight", t.nn.Flatten(0))


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_within_cached_a_weight_is_computed_once(t):
    module = symmetric(t)
    with t.nn.utils.parametrize.cached():
        assert module.weight is module.weight
    assert module.weight is not module.weight


def test_orthogonal_weights_are_orthogonal():
    for shape in ((4, 4), (6, 4), (3, 4)):
        for kind in ("matrix_exp", "cayley", "householder"):
            module = gs.nn.utils.parametrizations.orthogonal(linear(gs, shape), orthogonal_map=kind)
            weight = module.weight if shape[0] < shape[1] else module.weight.T
            np.testing.assert_allclose((weight @ weight.T).detach().numpy(), np.eye(min(shape)), atol=1e-5)


def test_old_state_is_loaded():
    old = gs.nn.utils.weight_norm(linear(gs))
    new = gs.nn.utils.parametrizations.weight_norm(gs.nn.Linear(4, 3))
    new.load_state_dict(old.state_dict())
    np.testing.assert_allclose(new.weight.detach().numpy(), old.weight.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("kind", ["conv", "transposed", "linear"])
def test_a_layer_takes_in_the_normalization_behind_it(kind):
    found = []
    statistics = [np.random.default_rng(place).uniform(0.5, 1.5, 3).astype("float32") for place in range(4)]
    for t in (gs, torch):
        layer = linear(t) if kind == "linear" else convolution(t)
        if kind == "transposed":
            layer = t.nn.ConvTranspose1d(2, 3, 2)
            with t.no_grad():
                layer.weight.copy_(t.tensor(W.reshape(2, 3, 2)))
                layer.bias.copy_(t.tensor(B))
        bn = t.nn.BatchNorm1d(3)
        with t.no_grad():
            for part, value in zip((bn.weight, bn.bias, bn.running_mean, bn.running_var), statistics, strict=True):
                part.copy_(t.tensor(value))
        layer.eval(), bn.eval()
        x = t.tensor(X if kind == "linear" else X[:, :2, None].repeat(3, 2))
        utils = t.nn.utils
        fused = (
            utils.fuse_linear_bn_eval(layer, bn)
            if kind == "linear"
            else utils.fuse_conv_bn_eval(layer, bn, kind == "transposed")
        )
        np.testing.assert_allclose(fused(x).detach().numpy(), bn(layer(x)).detach().numpy(), rtol=1e-4, atol=1e-5)
        found.append(fused(x).detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)
