"""Random tensors: their distributions by large samples, and that a seed or a state brings the numbers back."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

MANY = 40_000


@pytest.fixture(autouse=True)
def _seeded():
    gs.manual_seed(7)


def drawn(name, *args, dtype=gs.float64, **kwargs):
    return getattr(gs.zeros(MANY, dtype=dtype), name)(*args, **kwargs).numpy()


DISTRIBUTIONS = {
    "rand": (lambda: gs.rand(MANY).numpy(), 0.5, 1 / 12),
    "randn": (lambda: gs.randn(MANY).numpy(), 0, 1),
    "randint": (lambda: gs.randint(10, (MANY,)).numpy(), 4.5, 99 / 12),
    "randint between": (lambda: gs.randint(-5, 5, (MANY,)).numpy(), -0.5, 99 / 12),
    "randn_like": (lambda: gs.randn_like(gs.zeros(MANY)).numpy(), 0, 1),
    "randint_like": (lambda: gs.randint_like(gs.zeros(MANY), 4).numpy(), 1.5, 15 / 12),
    "normal": (lambda: gs.normal(2.0, 3.0, (MANY,)).numpy(), 2, 9),
    "normal of tensors": (lambda: gs.normal(gs.full((MANY,), 1.0), gs.full((MANY,), 0.5)).numpy(), 1, 0.25),
    "bernoulli": (lambda: gs.bernoulli(gs.full((MANY,), 0.2)).numpy(), 0.2, 0.16),
    "bernoulli_": (lambda: drawn("bernoulli_", 0.3), 0.3, 0.21),
    "poisson": (lambda: gs.poisson(gs.full((MANY,), 3.0)).numpy(), 3, 3),
    "uniform_": (lambda: drawn("uniform_", -1, 3), 1, 16 / 12),
    "normal_": (lambda: drawn("normal_", std=2), 0, 4),
    "exponential_": (lambda: drawn("exponential_", 2), 0.5, 0.25),
    "random_": (lambda: drawn("random_", 10), 4.5, 99 / 12),
}


@pytest.mark.parametrize(("draw", "mean", "variance"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_mean_and_variance(draw, mean, variance):
    sample = draw()
    assert abs(sample.mean() - mean) < 5 * np.sqrt(variance / MANY)
    assert abs(sample.var() - variance) < 0.1 * variance


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_draws_by_weight(replacement):
    weights = gs.tensor([[1.0, 0.0, 3.0], [0.0, 5.0, 5.0]])
    found = gs.cat([gs.multinomial(weights, 1, replacement) for _ in range(4000)], 1).numpy()
    shares = np.array([np.bincount(row, minlength=3) for row in found]) / 4000
    np.testing.assert_allclose(shares, [[0.25, 0, 0.75], [0, 0.5, 0.5]], atol=0.04)


def test_multinomial_without_replacement_draws_each_once():
    assert sorted(gs.multinomial(gs.tensor([1.0, 2.0, 3.0, 0.0]), 3).tolist()) == [0, 1, 2]
    with pytest.raises(RuntimeError, match="fewer than 4"):
        gs.multinomial(gs.tensor([1.0, 2.0, 3.0, 0.0]), 4)


def test_randperm_is_a_permutation():
    assert sorted(gs.randperm(100).tolist()) == list(range(100))
    assert gs.randperm(5, dtype=gs.int32).dtype == gs.int32


def test_a_seed_and_a_state_bring_the_numbers_back():
    first = gs.rand(3).tolist()
    state = gs.get_rng_state()
    second = gs.rand(3).tolist()
    gs.set_rng_state(state)
    assert gs.rand(3).tolist() == second
    gs.manual_seed(7)
    assert gs.rand(3).tolist() == first
    assert gs.initial_seed() == 7
    with pytest.raises(RuntimeError, match="no state"):
        gs.set_rng_state(gs.zeros(3))


def test_generators_are_apart():
    one, other = gs.Generator().manual_seed(1), gs.Generator("cpu").manual_seed(1)
    before = gs.get_rng_state()
    assert gs.rand(2, generator=one).tolist() == gs.rand(2, generator=other).tolist()
    assert gs.randn(2, generator=one).tolist() == gs.randn(2, generator=other).tolist()
    assert gs.zeros(2).normal_(generator=one).tolist() == gs.zeros(2).normal_(generator=other).tolist()
    assert gs.randperm(9, generator=one).tolist() == gs.randperm(9, generator=other).tolist()
    assert gs.get_rng_state().tolist() == before.tolist()
    assert one.initial_seed() == 1
    assert one.seed() != one.seed()


def test_fork_rng_leaves_no_trace():
    state = gs.get_rng_state().tolist()
    with gs.random.fork_rng():
        gs.rand(3)
    assert gs.get_rng_state().tolist() == state


def test_a_tensor_overwritten_with_random_numbers_has_no_gradient():
    weight = gs.ones(3, requires_grad=True)
    (weight * 2).uniform_().sum().backward()
    assert weight.grad.tolist() == [0, 0, 0]
