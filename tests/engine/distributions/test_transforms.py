"""Transforms, and distributions made of others, against PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(2).standard_normal((2, 3))

TRANSFORMS = [
    "d.ExpTransform()", "d.SigmoidTransform()", "d.TanhTransform()", "d.TanhTransform(cache_size=1)",
    "d.AffineTransform(0.5, -2.0)",
    "d.AffineTransform(t.ones(3), t.arange(1.0, 4), event_dim=1)",
    "d.ComposeTransform([d.ExpTransform(), d.SigmoidTransform()])",
    "d.SigmoidTransform().inv.inv",
    "d.IndependentTransform(d.ExpTransform(), 1)", "d.ExpTransform().with_cache()", "d.identity_transform",
    "d.ComposeTransform([d.TanhTransform(), d.AffineTransform(1.0, 0.1, event_dim=1)])",
]  # fmt: skip


@pytest.mark.parametrize("text", TRANSFORMS)
def test_a_transform_and_its_inverse(text):
    found = []
    for t in (gs, torch):
        transform = eval(text, {"t": t, "d": t.distributions})
        x = t.tensor(NUMBERS, requires_grad=True)
        y = transform(x)
        back = transform.inv(y * 1)
        stretch = transform.log_abs_det_jacobian(x, y)
        inverse = transform.inv.log_abs_det_jacobian(y, x)
        (y.sin().sum() + stretch.sum() + back.sum()).backward()
        arrays = [part.detach().numpy() for part in (y, back, stretch, inverse, x.grad)]
        told = (transform.bijective, transform.domain.event_dim, transform.codomain.event_dim)
        shapes = tuple(transform.forward_shape((2, 3))), tuple(transform.inverse_shape(tuple(y.shape)))
        found.append((arrays, told, shapes))
    for mine, theirs in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10)
    assert found[0][1:] == found[1][1:]


def test_how_much_may_be_cached():
    for t in (gs, torch):
        with pytest.raises(ValueError, match="cache_size"):
            t.distributions.ExpTransform(cache_size=2)


def test_a_cached_inverse_is_exact():
    x = gs.tensor([30.0])
    for size, exact in ((1, True), (0, False)):
        transform = gs.distributions.TanhTransform(cache_size=size)
        assert bool(transform.inv(transform(x)) == x) == exact


DISTRIBUTIONS = {
    "a log-normal": ("d.TransformedDistribution(d.Normal(a, b), d.ExpTransform())", [0.5, 1.0, 2.0]),
    "an action": (
        "d.TransformedDistribution(d.Normal(a, b), [d.TanhTransform(), d.AffineTransform(1.0, 2.0)])", [0.5, 1.0, 2.0]
    ),
    "a falling one": (
        "d.TransformedDistribution(d.Uniform(a, a + b), d.AffineTransform(0.0, -1.0))", [-0.5, -1.8, -2.5]
    ),
    "a logistic one": (
        "d.TransformedDistribution(d.Uniform(b * 0, b / b), [d.SigmoidTransform().inv, d.AffineTransform(a, b)])",
        [0.5, 1.0, 2.0],
    ),
    "vectors": (
        "d.TransformedDistribution(d.Independent(d.Normal(a, b), 1), [d.ExpTransform(), d.AffineTransform(0.0, b)])",
        [0.5, 1.0, 2.0],
    ),
}  # fmt: skip


def answer(it, what, given):
    """What a distribution says, as an array; None where it has no answer."""
    try:
        found = getattr(it, what)
        return (found if given is None else found(*given)).detach().numpy()
    except NotImplementedError:
        return None


@pytest.mark.parametrize(("text", "value"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_distributions_made_of_others(text, value):
    found = []
    for t in (gs, torch):
        a, b = (t.tensor(given, dtype=t.float64, requires_grad=True) for given in ([0.4, 1.3, 2.0], [0.7, 2.2, 1.1]))
        it = eval(text, {"t": t, "d": t.distributions, "a": a, "b": b})
        x = t.tensor(value, dtype=t.float64)
        density = it.log_prob(x)
        density.sum().backward()
        questions = {"cdf": (x,), "icdf": (t.tensor(0.3, dtype=t.float64),), "mean": None, "variance": None}
        answers = [answer(it, what, given) for what, given in questions.items()]
        gradients = [0 if p.grad is None else p.grad.numpy() for p in (a, b)]
        shapes = (tuple(it.batch_shape), tuple(it.event_shape), tuple(it.sample((2, 5)).shape), it.has_rsample)
        found.append(([density.detach().numpy(), *gradients], answers, shapes))
    (mine, ours, shape), (other, theirs, expected) = found
    assert shape == expected
    for one, two in zip(mine, other, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-10)
    for one, two in zip(ours, theirs, strict=True):
        assert (one is None) == (two is None)
        if one is not None:
            np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-8)


def test_samples_of_distributions_made_of_others():
    gs.manual_seed(3)
    d = gs.distributions
    a = gs.tensor([0.4, 1.3, 2.0], requires_grad=True)
    action = d.TransformedDistribution(d.Normal(a, gs.ones(3)), [d.TanhTransform(cache_size=1)])
    action.log_prob(action.rsample((4,))).sum().backward()
    assert a.grad.isfinite().all()
    assert not action.sample().requires_grad
    wide = d.TransformedDistribution(d.Normal(gs.zeros(1), gs.ones(1)), d.ExpTransform()).expand((4, 2))
    assert (tuple(wide.batch_shape), tuple(wide.sample((3,)).shape)) == ((4, 2), (3, 4, 2))


@pytest.mark.parametrize("t", [gs, torch], ids=["graphscope", "torch"])
def test_what_does_not_fit_is_refused(t):
    d = t.distributions
    with pytest.raises(ValueError, match="within the support"):
        d.TransformedDistribution(d.Normal(t.zeros(1), t.ones(1)), d.ExpTransform()).log_prob(t.tensor([-1.0]))
