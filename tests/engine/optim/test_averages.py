"""Averages of weights (`optim.swa_utils`) against PyTorch's, from the same weights and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

MODELS = {
    "mean": lambda s, m: s.AveragedModel(m),
    "own mean": lambda s, m: s.AveragedModel(m, avg_fn=lambda old, new, count: old + (new - old) / (count + 1)),
    "exponential": lambda s, m: s.AveragedModel(m, multi_avg_fn=s.get_ema_multi_avg_fn(0.9), use_buffers=True),
    "exponential, one by one": lambda s, m: s.AveragedModel(m, avg_fn=s.get_ema_avg_fn(0.8)),
    "with buffers": lambda s, m: s.AveragedModel(m, use_buffers=True),
}


def network(t):
    net = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4), t.nn.Linear(4, 1))
    numbers = np.random.default_rng(0)
    with t.no_grad():
        for parameter in net.parameters():
            parameter.copy_(t.tensor(numbers.normal(size=tuple(parameter.shape)), dtype=t.float32))
    return net


def trained(t, make, steps=4):
    net = network(t)
    averaged = make(t.optim.swa_utils, net)
    optimizer = t.optim.SGD(net.parameters(), lr=0.1)
    numbers = np.random.default_rng(1)
    batches = [t.tensor(numbers.normal(size=(5, 3)), dtype=t.float32) for _ in range(steps)]
    for batch in batches:
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()
        averaged.update_parameters(net)
    return averaged, batches


def state(module):
    return {name: np.asarray(value.detach()) for name, value in module.state_dict().items()}


def same(ours, theirs):
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_averages_are_those_of_torch(make):
    ours, theirs = (state(trained(t, make)[0]) for t in (gs, torch))
    same(ours, theirs)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda t, s: s.get_ema_avg_fn(1.5),
        lambda t, s: s.get_ema_multi_avg_fn(-1),
        lambda t, s: s.AveragedModel(t.nn.Identity(), avg_fn=s.get_ema_avg_fn(), multi_avg_fn=s.get_ema_multi_avg_fn()),
    ],
)
def test_wrong_settings_are_refused(wrong):
    for t in (torch, gs):
        with pytest.raises((ValueError, AssertionError)):
            wrong(t, t.optim.swa_utils)
