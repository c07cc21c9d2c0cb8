"""Every scheduler against PyTorch's: the same learning rates and momenta, epoch by epoch."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CASES = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch),
    "LambdaLR each": lambda s, o: s.LambdaLR(o, [lambda epoch: 1 / (1 + epoch), lambda epoch: 0.5**epoch]),
    "StepLR": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9]),
    "ConstantLR": lambda s, o: s.ConstantLR(o, factor=0.5, total_iters=4),
    "LinearLR": lambda s, o: s.LinearLR(o, start_factor=0.25, end_factor=0.75, total_iters=6),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5, eta_min=0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.001),
    "CosineAnnealingWarmRestarts 1": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=20),
    "OneCycleLR linear": lambda s, o: s.OneCycleLR(
        o, [1.0, 2.0], epochs=4, steps_per_epoch=5, anneal_strategy="linear", three_phase=True, pct_start=0.4
    ),
    "OneCycleLR still": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=20, cycle_momentum=False),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.CosineAnnealingLR(o, 10)], milestones=[4]
    ),
    "SequentialLR 3": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9), s.StepLR(o, 2)], milestones=[3, 8]
    ),
}


def optimizer_of(t, kind):
    w, b = t.ones(2, requires_grad=True), t.ones(1, requires_grad=True)
    groups = [{"params": [w]}, {"params": [b], "lr": 0.3}]
    return t.optim.Adam(groups, lr=0.7) if kind == "Adam" else t.optim.SGD(groups, lr=0.7, momentum=0.9)


def sequence(t, make, kind, epochs=16):
    optimizer = optimizer_of(t, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own: a scheduler within one steps before the optimizer
        scheduler = make(t.optim.lr_scheduler, optimizer)
        found = []
        for _ in range(epochs):
            groups = optimizer.param_groups
            momenta = [group["betas"][0] if kind == "Adam" else group["momentum"] for group in groups]
            found.append([*(group["lr"] for group in groups), *scheduler.get_last_lr(), *momenta])
            optimizer.step()
            scheduler.step()
    return np.array(found)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("make", CASES.values(), ids=CASES.keys())
def test_learning_rates_are_those_of_torch(make, kind):
    np.testing.assert_allclose(sequence(gs, make, kind), sequence(torch, make, kind), rtol=1e-12)


@pytest.mark.parametrize("make", CASES.values(), ids=CASES.keys())
def test_a_saved_scheduler_goes_on(make):
    whole = sequence(gs, make, "SGD")
    optimizer = optimizer_of(gs, "SGD")
    scheduler = make(gs.optim.lr_scheduler, optimizer)
    for _ in range(5):
        optimizer.step()
        scheduler.step()
    other = optimizer_of(gs, "SGD")
    again = make(gs.optim.lr_scheduler, other)
    again.load_state_dict(scheduler.state_dict())
    other.load_state_dict(optimizer.state_dict())
    for row in whole[5:8]:
        np.testing.assert_allclose([group["lr"] for group in other.param_groups], row[:2])
        other.step()
        again.step()


@pytest.mark.parametrize(
    "settings",
    [
        {"patience": 1},
        {"patience": 0, "cooldown": 2, "factor": 0.5},
        {"mode": "max", "patience": 1, "threshold": 0.1},
        {"mode": "max", "patience": 1, "threshold": 0.1, "threshold_mode": "abs"},
        {"patience": 0, "threshold_mode": "abs", "min_lr": [0.05, 0.2]},
    ],
    ids=str,
)
def test_plateaus_are_those_of_torch(settings):
    numbers = np.random.default_rng(1).random(30)
    found = []
    for t in (gs, torch):
        optimizer = optimizer_of(t, "SGD")
        scheduler = t.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **settings)
        rates = []
        for number in numbers:
            scheduler.step(t.tensor(number))
            rates.append([*scheduler.get_last_lr(), scheduler.num_bad_epochs])
        found.append(rates)
    assert found[0] == found[1]


def test_the_wrong_order_is_warned_of():
    for t in (gs, torch):
        scheduler = t.optim.lr_scheduler.StepLR(optimizer_of(t, "SGD"), 3)
        with pytest.warns(UserWarning, match="before `optimizer.step"):
            scheduler.step()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda s, o: s.StepLR(3, 1), TypeError, "int is not an Optimizer"),
        (lambda s, o: s.StepLR(o, 1, last_epoch=3), KeyError, "initial_lr"),
        (lambda s, o: s.LambdaLR(o, [abs]), ValueError, "Expected 2 lr_lambdas"),
        (lambda s, o: s.ConstantLR(o, 2), ValueError, "between 0 and 1"),
        (lambda s, o: s.LinearLR(o, 0), ValueError, "greater than 0"),
        (lambda s, o: s.LinearLR(o, 0.5, 2), ValueError, "between 0 and 1"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), ValueError, "positive integer T_0"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 0.5), ValueError, "integer T_mult"),
        (lambda s, o: s.OneCycleLR(o, 1.0), ValueError, "total_steps OR"),
        (lambda s, o: s.OneCycleLR(o, 1.0, total_steps=0), ValueError, "positive integer total_steps"),
        (lambda s, o: s.OneCycleLR(o, [1.0], total_steps=9), ValueError, "max_lr"),
        (lambda s, o: s.OneCycleLR(o, 1.0, total_steps=9, anneal_strategy="x"), ValueError, "anneal_strategy"),
        (lambda s, o: s.ReduceLROnPlateau(o, "x"), ValueError, "mode x is unknown"),
        (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be < 1.0"),
        (lambda s, o: s.SequentialLR(o, [], []), ValueError, "at least one scheduler"),
        (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]), ValueError, "milestone"),
        (lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []), ValueError, "does not support"),
    ],
)
def test_both_refuse_what_makes_no_sense(make, error, message):
    for t in (gs, torch):
        with pytest.raises(error, match=message):
            make(t.optim.lr_scheduler, optimizer_of(t, "SGD"))
