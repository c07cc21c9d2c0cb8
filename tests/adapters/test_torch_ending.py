"""The end of a recording, wherever it comes, and what of the recorder may fail on the way to it."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any, Final

import pytest

torch = pytest.importorskip("torch")

from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import checkpoint

import graphscope as gs
from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.optimizers import Optimizers
from graphscope.eventlog import record as recording

pytestmark = pytest.mark.torch


def stacks() -> tuple[int, int]:
    """How many modes this thread has."""
    return torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()


def forever() -> dict[str, Any]:
    """What a recording changes for as long as it goes on."""
    owners = (
        torch.nn.Module,
        torch.autograd.Function,
        torch.autograd.graph,
        torch.autograd,
        torch.Tensor,
        threading.Thread,
    )
    names = ("__call__", "zero_grad", "apply", "_engine_run_backward", "backward", "_bootstrap_inner")
    return {f"{owner} {name}": vars(owner)[name] for owner in owners for name in names if name in vars(owner)}


def test_all_is_put_back_though_some_of_it_can_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise OSError("it is stuck")

    before, hooks = forever(), stacks()
    monkeypatch.setattr(Optimizers, "register", lambda _: broken)

    def run() -> None:
        with gs.record():
            weight = torch.ones(3, requires_grad=True)
            (weight * 2).sum().backward()
            assert forever() != before

    with pytest.warns(RuntimeWarning, match="leaving PyTorch as it was failed at .*: OSError: it is stuck; start"):
        run()
    assert forever() == before
    assert stacks() == hooks
    assert recording.active() is None
    with pytest.warns(RuntimeWarning, match="stuck"), gs.record() as log:
        torch.ones(3).sin()
    log.refresh()
    assert [node.op for node in log.graph.nodes] == ["ones", "sin"]


def test_ctrl_c_on_the_way_out_waits_until_all_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    before = forever()
    monkeypatch.setattr(Optimizers, "register", lambda _: interrupted)
    with pytest.raises(KeyboardInterrupt), gs.record():
        torch.ones(3)
    assert forever() == before
    assert stacks() == (0, 0)


def in_a_hook(end: Callable[[], None]) -> None:
    weight = torch.ones(3, requires_grad=True)
    product = weight * 2
    product.register_hook(lambda _: end())
    product.sum().backward()
    assert weight.grad.tolist() == [2, 2, 2]


def in_a_thread(end: Callable[[], None]) -> None:
    def work() -> None:
        torch.ones(3).sin()
        end()
        torch.ones(3).cos()
        finished.append(True)

    finished: list[bool] = []
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert finished


ENDS: Final = {each.__name__: each for each in (in_a_hook, in_a_thread)}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("capture", ["calls", "calls+backward", "ops"])
@pytest.mark.parametrize("place", ENDS)
def test_of_a_recording_that_ended_elsewhere_the_next_one_finds_nothing(place: str, capture: str) -> None:
    ended: list[bool] = []
    first = gs.record(capture=capture)
    first.__enter__()

    def end() -> None:
        if not ended:
            ended.append(True)
            first.__exit__(None, None, None)

    ENDS[place](end)
    if place == "in_a_hook" and capture == "calls+backward":
        assert stacks() == (0, 0)  # when the pass is over, at the latest
    with gs.record(capture=capture) as log:
        torch.ones(3).sin()
    assert stacks() == (0, 0)
    log.refresh()
    assert [node.op for node in log.graph.nodes if node.kind == "op"] == ["sin"]


@pytest.mark.filterwarnings("ignore:.*autocast:FutureWarning")  # torch 2.4 says so of its own checkpoint
def test_threads_that_go_back_through_checkpoints_count_their_own_writes() -> None:
    def block(x: Any) -> Any:
        y = x * 1
        for _ in range(100):
            y.add_(1)
        return y.exp()

    with gs.record(values="none") as log:
        losses = [checkpoint(block, torch.ones(4, requires_grad=True), use_reentrant=False).sum() for _ in range(4)]
        workers = [threading.Thread(target=loss.backward) for loss in losses]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    log.refresh()
    again: dict[int, int] = {}
    for event in (log.event(row) for row in range(log.first, log.end)):
        if event.version and log.thread(event.thread)["name"] != "MainThread":
            assert event.version == again.get(event.tensor, 0) + 1
            again[event.tensor] = event.version
            assert log.scope_path(event.scope) == "recompute"
    assert list(again.values()) == [100] * 4


@pytest.mark.slow
@pytest.mark.parametrize("entry", [compiled.Entry, None])
def test_it_may_end_wherever_python_runs_in_a_pass(entry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends it then: a signal handler, another thread, a finalizer; here the collector's callback."""
    monkeypatch.setattr(compiled, "Entry", entry)
    left, thresholds = 0, gc.get_threshold()

    def collected(phase: str, _: Any) -> None:
        nonlocal left
        left -= phase == "stop"
        if left == 0 and phase == "stop":
            recorded.__exit__(None, None, None)

    for after in range(1, 1000, 5):
        w = torch.ones(3, requires_grad=True)
        with (recorded := gs.record()):
            first, second, _ = (w * 2).chunk(3)
            loss = (first * second).sum() + (w * w).sum()
            left = after
            gc.callbacks.append(collected)
            gc.set_threshold(1, 1 << 20)
            try:
                loss.backward()
            finally:
                gc.callbacks.remove(collected)
                gc.set_threshold(*thresholds)
        assert w.grad.tolist() == [6, 6, 2]
        assert stacks() == (0, 0)
        if left > 0:
            break
    assert after > 10


class Passing(TorchFunctionMode):
    """A mode of the program's."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def again(gradient: Any) -> Any:
    """A pass inside of a pass."""
    with torch.enable_grad():
        torch.ones(2, requires_grad=True).sin().sum().backward()
    return gradient


@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
@pytest.mark.parametrize("nested", [False, True])
def test_a_thread_may_be_in_the_middle_of_a_pass(nested: bool, capture: str) -> None:
    inside, over = threading.Event(), threading.Event()
    left: list[Any] = []

    def work() -> None:
        def wait(gradient: Any) -> Any:
            inside.set()
            over.wait()
            return again(gradient) if nested else gradient

        with Passing() as own:
            x = torch.ones(2, requires_grad=True)
            y = x.sin()
            y.register_hook(wait)
            y.cos().sum().backward()
            left.append(own is torch.overrides._get_current_function_mode())
        left.append(x.grad)

    with gs.record(capture=capture):
        thread = threading.Thread(target=work)
        thread.start()
        inside.wait()
    over.set()
    thread.join()
    x = torch.ones(2, requires_grad=True)
    x.sin().cos().sum().backward()
    assert left[0]
    assert torch.equal(left[1], x.grad)  # type: ignore[arg-type]
