"""Distributions against PyTorch's: what they say of values, of themselves and of each other; and their samples."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

A, B = [0.4, 1.3, 2.0], [0.7, 2.2, 1.1]
P, Q = [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]], [[0.3, 0.3, 0.4], [0.2, 0.7, 0.1]]
UNIT = [0.2, 0.5, 0.9]

KINDS = {
    "Normal": [({"loc": A, "scale": B}, [0.1, -2.0, 3.0]), ({"loc": B, "scale": A}, [0.3, 0.3, 0.3])],
    "LogNormal": [({"loc": A, "scale": B}, [0.1, 2.0, 3.0])],
    "Uniform": [({"low": [0.0, -1.0], "high": [2.0, 1.0]}, [0.5, 0.5]), ({"low": -3.0, "high": 3.0}, 0.1)],
    "Laplace": [({"loc": A, "scale": B}, [0.1, -2.0, 3.0]), ({"loc": B, "scale": A}, [0.0, 1.0, 2.0])],
    "Exponential": [({"rate": A}, [0.1, 2.0, 3.0]), ({"rate": B}, [0.1, 2.0, 3.0])],
    "Gamma": [({"concentration": A, "rate": B}, [0.1, 2.0, 3.0]), ({"concentration": B, "rate": A}, [1.0, 2.0, 3.0])],
    "Beta": [({"concentration1": A, "concentration0": B}, UNIT), ({"concentration1": B, "concentration0": A}, UNIT)],
    "Bernoulli": [({"probs": UNIT}, [0.0, 1.0, 1.0]), ({"logits": A}, [0.0, 1.0, 0.0])],
    "Poisson": [({"rate": A}, [0.0, 3.0, 1.0]), ({"rate": B}, [0.0, 3.0, 1.0])],
    "Categorical": [({"probs": P}, [0, 2]), ({"logits": Q}, [1, 1])],
}  # fmt: skip
EACH = [(name, given, value) for name, cases in KINDS.items() for given, value in cases]
NO_DIVERGENCE = {
    "Binomial", "Geometric", "StudentT", "NegativeBinomial", "Multinomial", "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
}  # fmt: skip
TOLD = ("mean", "variance", "stddev", "mode", "probs", "logits")


def made(t, name, given, *, requires_grad=False):
    parameters = {
        key: t.tensor(value, dtype=t.float64, requires_grad=requires_grad) if isinstance(value, list) else value
        for key, value in given.items()
    }
    return getattr(t.distributions, name)(**parameters), parameters


def told(call):
    """What a call gives as an array, or that it is not to be had."""
    try:
        return call().detach().numpy()
    except (NotImplementedError, AttributeError):
        return None


@pytest.mark.parametrize(("name", "given", "value"), EACH, ids=str)
def test_what_a_distribution_says(name, given, value):
    found = []
    for t in (gs, torch):
        it, parameters = made(t, name, given, requires_grad=True)
        text = repr(it)  # PyTorch's tells more when more was asked for
        x = t.tensor(value, dtype=t.float64)
        density = it.log_prob(x)
        if density.requires_grad:
            density.sum().backward()
        answers = {what: told(lambda what=what, it=it: getattr(it, what)) for what in TOLD}
        answers["entropy"] = told(it.entropy)
        answers["all"] = told(it.enumerate_support)
        if name not in ("Gamma", "Chi2", "Beta", "Categorical", "Bernoulli"):
            answers["cdf"] = told(lambda it=it, x=x: it.cdf(x))
            answers["icdf"] = told(lambda it=it, t=t: it.icdf(t.tensor(0.3, dtype=t.float64)))
        gradients = [p.grad.numpy() for p in parameters.values() if hasattr(p, "grad") and p.grad is not None]
        shapes = (tuple(it.batch_shape), tuple(it.event_shape), tuple(it.sample((2, 3)).shape), it.has_rsample)
        found.append((density.detach().numpy(), gradients, answers, shapes, text))
    mine, other = found
    np.testing.assert_allclose(mine[0], other[0], rtol=1e-6, atol=1e-7)
    for ours, theirs in zip(mine[1], other[1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)
    for what, theirs in other[2].items():
        if theirs is not None and mine[2][what] is not None:
            np.testing.assert_allclose(mine[2][what], theirs, rtol=1e-6, atol=1e-7, err_msg=what)
        assert theirs is not None or mine[2][what] is None, what
    assert mine[3][:3] == other[3][:3]
    assert mine[3][3] <= other[3][3]
    assert mine[4] == other[4] or other[4] == f"{name}()"  # some hide what they hold


@pytest.mark.parametrize("name", KINDS)
def test_how_far_they_are_apart(name):
    cases = KINDS[name]
    if len(cases) < 2 or name in NO_DIVERGENCE:
        pytest.skip("one of its kind")
    found = []
    for t in (gs, torch):
        first, second = (made(t, name, given, requires_grad=True) for given, _ in cases[:2])
        apart = t.distributions.kl_divergence(first[0], second[0])
        if apart.isfinite().all():
            apart.sum().backward()
        grads = [p.grad.numpy() for p in (first[1] | second[1]).values() if getattr(p, "grad", None) is not None]
        found.append([apart.detach().numpy(), *grads])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("name", "given", "value"), EACH, ids=str)
def test_samples_have_the_moments_that_are_told(name, given, value):
    gs.manual_seed(7)
    it, _ = made(gs, name, given)
    drawn = it.sample((20_000,))
    if name.startswith("Relaxed"):
        held_to_choices(it, drawn)
        return
    if name in ("Cauchy", "HalfCauchy", "StudentT", "Pareto", "Weibull", "HalfNormal", "Gumbel"):
        held_to_shares(name, given, it, drawn)
        return
    if name == "Categorical":
        drawn, mean = gs.nn.functional.one_hot(drawn, 3).double(), it.probs
        variance = it.probs * (1 - it.probs)
    else:
        mean, variance = it.mean, it.variance
        it.log_prob(drawn)  # each is one of its values
    if name == "LogNormal":
        drawn, mean, variance = drawn.log(), it.loc, it.scale**2
    error = (drawn.mean(0) - mean) / (variance / 20_000).sqrt()
    assert float(error.abs().max()) < 5
    np.testing.assert_allclose(drawn.var(0).numpy(), variance.numpy(), rtol=0.15)


def held_to_choices(it, drawn):
    """See that the classes that are nearest come as often as their probabilities say."""
    it.log_prob(drawn)
    single = not it.event_shape
    chosen = (drawn > 0.5).double() if single else gs.nn.functional.one_hot(drawn.argmax(-1), 3).double()
    np.testing.assert_allclose(chosen.mean(0).numpy(), it.probs.numpy(), atol=0.015)


def held_to_shares(name, given, it, drawn):
    """See that as many samples are below each quantile as there should be: some of these have no moments."""
    it.log_prob(drawn)
    reference = made(torch, name, given)[0]
    if name == "StudentT":
        pytest.importorskip("scipy")
        from scipy.stats import t as students

        cuts = [students.ppf(share, np.array(it.df), np.array(it.loc), np.array(it.scale)) for share in (0.1, 0.5, 0.9)]
    else:
        cuts = [reference.icdf(torch.tensor(share, dtype=torch.float64)).numpy() for share in (0.1, 0.5, 0.9)]
    for share, cut in zip((0.1, 0.5, 0.9), cuts, strict=True):
        np.testing.assert_allclose((drawn.numpy() < cut).mean(0), share, atol=0.015)


def test_gradients_flow_through_samples():
    for name, given, _ in EACH:
        it, parameters = made(gs, name, given, requires_grad=True)
        assert not it.sample().requires_grad
        if it.has_rsample and any(isinstance(value, list) for value in given.values()):
            it.rsample((4,)).sum().backward()
            assert all(p.grad is not None for p in parameters.values() if hasattr(p, "grad"))


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_independent_dims_and_expanded_batches(t):
    d = t.distributions
    normal = d.Normal(t.zeros(2, 3), t.ones(2, 3))
    joint = d.Independent(normal, 1)
    assert (tuple(joint.batch_shape), tuple(joint.event_shape)) == ((2,), (3,))
    assert repr(joint) == "Independent(Normal(loc: torch.Size([2, 3]), scale: torch.Size([2, 3])), 1)"
    np.testing.assert_allclose(joint.log_prob(t.ones(2, 3)).numpy(), normal.log_prob(t.ones(2, 3)).sum(-1).numpy())
    assert float(d.kl_divergence(joint, joint).sum()) == 0
    wide = d.Normal(0.0, 1.0).expand((4, 2))
    assert (tuple(wide.sample().shape), tuple(wide.log_prob(t.tensor(1.0)).shape)) == ((4, 2), (4, 2))
    assert tuple(joint.expand((5, 2)).sample().shape) == (5, 2, 3)


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_what_is_wrong_is_said(t, monkeypatch):
    d = t.distributions
    # PyTorch's compiler, once it was used in this process, has turned the checks of its distributions off.
    monkeypatch.setattr(d.Distribution, "_validate_args", True)
    with pytest.raises(ValueError, match=r"parameter scale .*GreaterThan\(lower_bound=0.0\)"):
        d.Normal(t.zeros(1), -t.ones(1))
    with pytest.raises(ValueError, match="within the support"):
        d.Categorical(t.ones(3)).log_prob(t.tensor(3))
    with pytest.raises(ValueError, match="Either `probs` or `logits`"):
        d.Bernoulli()
    with pytest.raises(ValueError, match="Uniform"):
        d.Uniform(1.0, 0.0)
    with pytest.raises(NotImplementedError):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Categorical(t.ones(2)))
    assert np.isnan(d.Normal(t.zeros(1), -t.ones(1), validate_args=False).log_prob(t.zeros(1)).numpy())
