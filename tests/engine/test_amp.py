"""Mixed precision: what programs ask for is accepted, and nothing changes."""

from __future__ import annotations

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]


def test_a_step_is_that_of_the_optimizer():
    weight = gs.tensor([2.0], requires_grad=True)
    optimizer = gs.optim.SGD([weight], lr=0.125)
    scaler = gs.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    with gs.amp.autocast("cpu"):
        loss = (weight * 3).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    assert weight.grad.item() == 3.0
    scaler.step(optimizer)
    scaler.update()
    scaler.load_state_dict(scaler.state_dict())
    assert weight.item() == 1.625


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
