"""What a program makes anew in each step is gone when the program lets go of it, though it was recorded."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.torch

X: Final = torch.ones(3, requires_grad=True)


class Payload:
    """What is held by what is made."""


def function(held: Payload) -> None:
    class Implicit(torch.autograd.Function):
        payload = held

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 if held else g

    Implicit.apply(X).sum().backward()


def subclass(held: Payload) -> None:
    class Own(torch.Tensor):
        payload = held

    (X.detach().as_subclass(Own) * 2 + 1).sum()


def argument(held: Payload) -> None:
    class Own(torch.Tensor):
        payload = held

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return torch.ones(())

    torch.add(torch.ones(3).as_subclass(Own), 1)


def module(held: Payload) -> None:
    class Net(torch.nn.Module):
        payload = held

        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())

        def forward(self, x: Any) -> Any:
            return self.inner(x)

    Net()(X).sum().backward()


def thread(held: Payload) -> None:
    each = threading.Thread(target=lambda: (X * 2 if held else X).sum().backward())
    each.start()
    each.join()


def patched(held: Payload) -> None:
    original = torch.nn.functional.relu
    torch.nn.functional.relu = lambda x: original(x) if held else x
    torch.nn.functional.relu(X)
    torch.nn.functional.relu = original


def written(held: Payload) -> None:
    """A program of its own, which is read anew."""
    exec("def f(x):\n    return (x.sin() * x).sum()\nf(X).backward()", {"X": X, "held": held})


MAKERS: Final[list[Callable[[Payload], None]]] = [function, subclass, argument, module, thread, patched, written]


@pytest.mark.slow
@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_what_is_made_in_a_step_is_freed(make: Any, capture: str) -> None:
    alive = []
    with gs.record(capture=capture):
        for _ in range(8):
            held = Payload()
            alive.append(weakref.ref(held))
            make(held)
            del held
        gc.collect()
        assert [each() for each in alive] == [None] * 8


@pytest.mark.slow
@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
def test_code_that_is_written_anew_is_freed_and_its_lines_are_its_own(capture: str) -> None:
    alive = []
    with gs.record(capture=capture) as log:
        for line in range(1, 30):  # one often lies where the one before it lay
            code = compile("\n" * (line - 1) + "(X * 2).sum().backward()", "<written>", "exec")
            exec(code, {"X": X})
            alive.append(weakref.ref(code))
            del code
        gc.collect()
        assert [each() for each in alive] == [None] * len(alive)
    log.refresh()
    for op, kind in (("mul", "op"), ("sum", "op"), ("mul", "grad")):
        made = [node for node in log.graph.nodes if (node.op, node.kind) == (op, kind) and node.site is not None]
        told = [node.site.line for node in made if node.graph_pass == "forward" or kind == "grad"]
        assert told == list(range(1, 30))
    begins = [log.event(row) for row in log.rare().tolist()]
    places = [log.site(event.site) for event in begins if event.kind == Kind.BACKWARD_BEGIN]
    assert [place.line for place in places if place is not None] == list(range(1, 30))


@pytest.mark.slow
@pytest.mark.parametrize("make", [module, thread, subclass, written], ids=lambda make: make.__name__)
def test_what_the_recorder_knows_of_it_does_not_grow(make: Any) -> None:
    counts = []
    with gs.record(values="none"):
        for _ in range(12):
            for _ in range(256):
                make(Payload())
            gc.collect()
            counts.append(len(gc.get_objects()))
    # What is bounded grows and is forgotten again within six rounds; each that is made has hundreds of objects.
    assert min(counts[6:]) - min(counts[:6]) < 256 * 20
