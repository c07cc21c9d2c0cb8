"""SGD against PyTorch's, and what the log sees of it."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.schema import Flag, Kind


@pytest.mark.torch
@pytest.mark.parametrize(
    "settings",
    [
        {"lr": 0.1},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True},
        {"lr": 0.1, "weight_decay": 0.01},
        {"lr": 0.1, "momentum": 0.8, "weight_decay": 0.1, "nesterov": True},
    ],
    ids=str,
)
def test_steps_are_those_of_torch(settings):
    torch = pytest.importorskip("torch")
    start = np.random.default_rng(0).standard_normal((3, 4))
    found = []
    for t in (gs, torch):
        w = t.tensor(start, requires_grad=True)
        b = t.tensor(np.float64(0.5), requires_grad=True)
        unused = t.tensor(7.0, requires_grad=True)
        optimizer = t.optim.SGD([w, b, unused], **settings)
        for step in range(5):
            optimizer.zero_grad()
            ((w * w).sum() * b + b * b * step).backward()
            optimizer.step()
            if step == 2:
                optimizer.param_groups[0]["lr"] = 0.02
        found.append((w.detach().numpy(), b.item(), unused.item()))
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)


def test_groups_have_settings_of_their_own():
    w, b = gs.ones(1, requires_grad=True), gs.ones(1, requires_grad=True)
    optimizer = gs.optim.SGD([{"params": [w]}, {"params": [b], "lr": 1.0}], lr=0.5)
    (w + b).backward()
    optimizer.step()
    assert (w.item(), b.item()) == (0.5, 0.0)


def test_zero_grad():
    w = gs.ones(2, requires_grad=True)
    optimizer = gs.optim.SGD([w], lr=0.1)
    w.sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert w.grad is None
    optimizer.step()
    assert w.tolist() == [1.0, 1.0]


def test_a_step_leaves_leaves_and_gradients_alone():
    w = gs.ones(2, requires_grad=True)
    memory = w.array
    optimizer = gs.optim.SGD([w], lr=0.1, momentum=0.9)
    for _ in range(3):
        (w * 2).sum().backward()
        before = w.grad.tolist()
        optimizer.step()
        assert w.grad.tolist() == before
    assert w.is_leaf
    assert w.requires_grad
    assert w.array is memory
    assert w._version == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gs.optim.SGD([], lr=0.1), "empty parameter list"),
        (lambda: gs.optim.SGD([gs.ones(1)], lr=-1), "Invalid learning rate: -1"),
        (lambda: gs.optim.SGD([gs.ones(1)], lr=1, nesterov=True), "Nesterov"),
        (lambda: gs.optim.SGD([gs.ones(1, requires_grad=True) * 2], lr=1), "non-leaf Tensor"),
    ],
)
def test_settings_that_make_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_log_sees_every_update_and_the_end_of_the_step(tmp_path):
    w = gs.ones(2, requires_grad=True)
    optimizer = gs.optim.SGD([w], lr=0.5)
    with gs.record(tmp_path / "run.gscope"):
        for _ in range(3):
            optimizer.zero_grad()
            (w * 2).sum().backward()
            optimizer.step()
    log = gs.load(tmp_path / "run.gscope")
    events = [log.event(row) for row in range(log.first, log.end)]
    updates = [e for e in events if e.kind == Kind.OP and log.op(e.op).name == "add_"]
    assert [e.version for e in updates] == [1, 2, 3]
    assert len({e.tensor for e in updates}) == 1
    assert all(e.flags & Flag.IN_PLACE for e in updates)
    assert log.arguments(updates[0].row).attributes == {"alpha": -0.5}
    for update in updates:
        gradient = events[update.inputs[1][0]]
        assert gradient.kind == Kind.ACCUMULATE
        assert gradient.flags & Flag.FRESH
    assert [e.kind for e in events].count(Kind.STEP) == 3
    assert events[updates[0].tensor].kind == Kind.LEAF
    assert events[updates[0].tensor].flags & Flag.PARAMETER
    np.testing.assert_array_equal(log.value(updates[0].row), [0.0, 0.0])


def test_gradients_that_were_added_up_are_written_once_more(tmp_path):
    w = gs.ones(2, requires_grad=True)
    optimizer = gs.optim.SGD([w], lr=0.5)
    with gs.record(tmp_path / "run.gscope"):
        (w * 2).sum().backward()
        (w * 3).sum().backward()
        optimizer.step()
    log = gs.load(tmp_path / "run.gscope")
    (update,) = (e for e in map(log.event, range(log.first, log.end)) if e.flags & Flag.IN_PLACE)
    np.testing.assert_array_equal(log.value(update.inputs[1][0]), [5.0, 5.0])
    np.testing.assert_array_equal(log.value(update.row), w.array)
