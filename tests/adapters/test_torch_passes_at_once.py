"""Passes that run while others do, within them or in other threads, and what is told of each."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.utils.checkpoint import checkpoint

import graphscope as gs
from graphscope.adapters.torch import compiled
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.torch


class Between(torch.autograd.Function):
    """The same tensor; on the way back something else happens first."""

    @staticmethod
    def forward(ctx: Any, x: Any, happens: Callable[[], Any]) -> Any:
        ctx.happens = happens
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        ctx.happens()
        return gradient, None


def at_once(works: Sequence[Callable[[], Any]]) -> None:
    workers = [threading.Thread(target=work, name=f"worker {number}") for number, work in enumerate(works)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def events_of(log: Any, kind: Kind) -> list[Any]:
    return [event for event in map(log.event, range(log.first, log.end)) if event.kind is kind]


def gathered(log: Any, leaf: int) -> Any:
    """What the rows of contributions to a leaf come to."""
    return sum(log.value(event.row) for event in events_of(log, Kind.ACCUMULATE) if event.forward == leaf)


@pytest.fixture(params=["compiled", "Python"])
def entry(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "Python":
        monkeypatch.setattr(compiled, "Entry", None)
        monkeypatch.setattr(compiled, "Handler", None)


@pytest.mark.usefixtures("entry")
@pytest.mark.parametrize("uses", [1, 2])
def test_a_pass_within_a_pass_takes_no_contribution_from_it(uses: int) -> None:
    w = torch.full((3,), 2.0, requires_grad=True)
    with gs.record() as log:
        for _ in range(3):
            x = torch.ones(3) * w
            y = checkpoint(lambda x: x * w, x, use_reentrant=True)
            (y * w if uses == 2 else y * 3).sum().backward()
    log.refresh()
    np.testing.assert_array_equal(gathered(log, events_of(log, Kind.LEAF)[1].row), w.grad.numpy())


@pytest.mark.usefixtures("entry")
@pytest.mark.parametrize("last", [0, 1])
def test_threads_that_share_a_parameter_have_their_own_contributions(last: int) -> None:
    w = torch.ones(3, requires_grad=True)
    barrier, first_is_done = threading.Barrier(2), threading.Event()

    def train(number: int) -> None:
        def meet() -> None:
            barrier.wait(10)
            if number == last:
                first_is_done.wait(10)

        Between.apply(w * (number + 2), meet).sum().backward()
        if number != last:
            first_is_done.set()

    with gs.record() as log:
        (w * 1).sum().backward()
        for _ in range(2):
            first_is_done.clear()
            at_once([lambda: train(0), lambda: train(1)])
    log.refresh()
    np.testing.assert_array_equal(gathered(log, events_of(log, Kind.LEAF)[0].row), w.grad.numpy())
    added = events_of(log, Kind.ACCUMULATE)
    sources = [log.event(event.inputs[0][0]) for event in added]
    assert [event.thread for event in added] == [event.thread for event in sources]
    for event, source in zip(added, sources, strict=True):
        factor = log.value(log.event(source.forward).row)[0]  # of w, which is 1
        assert log.value(event.row).tolist() == [factor] * 3


@pytest.mark.usefixtures("entry")
def test_threads_that_go_back_through_one_graph_are_told_apart() -> None:
    w = torch.ones(3, requires_grad=True)
    barrier = threading.Barrier(2)
    with gs.record() as log:
        x = w * 2
        y = Between.apply(x * x + x, lambda: barrier.wait(10)).sum()
        at_once([partial(y.backward, torch.tensor(factor), retain_graph=True) for factor in (1.0, 10.0)])
    log.refresh()
    np.testing.assert_array_equal(gathered(log, events_of(log, Kind.LEAF)[0].row), w.grad.numpy())
    for kind in (Kind.GRAD, Kind.ACCUMULATE):
        for event in events_of(log, kind):
            assert [log.event(row).thread for row, _ in event.inputs] == [event.thread] * len(event.inputs)
    of_x = [event for event in events_of(log, Kind.GRAD) if log.op(event.op).name == "mul" and len(event.inputs) > 1]
    assert sorted(log.value(event.row)[0] for event in of_x) == [5, 50]


@pytest.mark.usefixtures("entry")
def test_the_rows_of_a_pass_are_of_the_thread_that_began_it() -> None:
    w = torch.ones(3, requires_grad=True)
    sums: list[Any] = []
    with gs.record() as log:
        (w * 2).sum().backward()
        for _ in range(2):
            at_once([lambda: sums.append((w * 2).sin().chunk(3)[0].sum())])
            at_once([lambda: None, lambda: sums[-1].backward()])
    log.refresh()
    begins, rows = events_of(log, Kind.BACKWARD_BEGIN), [*map(log.event, range(log.first, log.end))]
    names = [log.thread(begin.thread)["name"] for begin in begins]
    assert names == ["MainThread", "worker 1", "worker 1"]
    for begin, end in zip(begins, events_of(log, Kind.BACKWARD_END), strict=True):
        within = [event for event in rows if begin.row < event.row < end.row]
        assert within
        assert {event.thread for event in within} == {begin.thread}
