"""Mixed precision: nothing changes but the factor of the loss, which is found as in PyTorch."""

from __future__ import annotations

import math

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]


@pytest.mark.parametrize("given", [[1.0, 2.0, 3.0, 4.0], [1.0, math.inf, 3.0, math.nan, 5.0]])
def test_steps_and_factors_are_those_of_torch(given):
    found = []
    for t in (gs, torch):
        weight = t.tensor([2.0], requires_grad=True)
        optimizer = t.optim.SGD([weight], lr=0.125)
        scaler = t.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
        told = []
        for number in given:
            optimizer.zero_grad()
            with t.amp.autocast("cpu", enabled=False):
                loss = (weight * number).sum()
            scaler.scale(loss).backward()
            if number == 3.0:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            told.append((scaler.get_scale(), weight.item()))
        found.append((told, scaler.state_dict()))
    assert found[0] == found[1]


@pytest.mark.parametrize("scaler", [lambda t: t.amp.GradScaler(enabled=False), lambda t: t.amp.GradScaler("cuda")])
def test_of_a_device_that_is_not_here_it_does_nothing(scaler):
    for t in (gs, torch):
        it = scaler(t)
        loss = t.tensor(2.0)
        assert it.scale(loss) is loss
        assert (it.is_enabled(), it.get_scale(), it.state_dict()) == (False, 1.0, {})


def test_older_names_and_dtypes_that_are_only_named():
    from graphscope.cuda.amp import GradScaler, autocast

    assert not GradScaler().is_enabled()

    @autocast(dtype=gs.bfloat16)
    def product(x):
        return x @ x

    assert product(gs.ones(2, 2)).dtype == gs.float32
