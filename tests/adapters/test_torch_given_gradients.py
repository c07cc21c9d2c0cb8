"""The gradient that a program gives to `backward` is known as the value of the log that it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.diagnose import examined
from graphscope.eventlog.reader import Log
from graphscope.graph import Graph, Node
from graphscope.graph.begun_with import begun_with

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch


def begun(log: Log) -> list[Node]:
    """What passes of a log began with, in its order."""
    log.refresh()
    nodes = Graph(log).nodes
    return [given for node in nodes if (given := begun_with(node)) is not None]


def arrays(nodes: list[Node]) -> list[Any]:
    """What they hold, as the program prints it."""
    return [None if node.value is None else node.value.tolist() for node in nodes]


def test_it_is_the_newest_version_of_the_tensor_that_was_given() -> None:
    with gs.record() as log:
        x = torch.ones(3, requires_grad=True)
        for step in range(2):
            g = torch.tensor([1.0, 2.0, 3.0]) * (step + 1)
            g[0] = 7.0
            (x * 2).backward(g)
            g.zero_()
    assert arrays(begun(log)) == [[7.0, 2.0, 3.0], [7.0, 4.0, 6.0]]


def test_what_was_written_to_it_through_its_base_is_seen() -> None:
    with gs.record() as log:
        x = torch.ones(3, requires_grad=True)
        whole = torch.zeros(2, 3)
        g = whole[1]
        whole.add_(4.0)
        (x * 2).backward(g)
    assert arrays(begun(log)) == [[4.0, 4.0, 4.0]]


@pytest.mark.parametrize("ask", ["backward", "grad"])
def test_each_root_has_its_own(ask: str) -> None:
    with gs.record() as log:
        x = torch.ones(2, requires_grad=True)
        roots, given = [x * 2, x.exp(), x.sin()], [torch.ones(2) * 5, torch.tensor([1.0, 2.0]), torch.ones(2)]
        if ask == "backward":
            torch.autograd.backward(roots, given)
        else:
            torch.autograd.grad(roots, [x], given)
    log.refresh()
    found = {node.op: arrays([each]) for node in Graph(log).nodes if (each := begun_with(node)) is not None}
    assert found == {"mul": [[5.0, 5.0]], "exp": [[1.0, 2.0]], "sin": [[1.0, 1.0]]}


def test_a_root_that_another_feeds_and_a_leaf() -> None:
    with gs.record() as log:
        x = torch.ones(2, requires_grad=True)
        g = torch.ones(2) * 5
        half = x * 2
        torch.autograd.backward([half, half.exp()], [g, g + 1])
        x.backward(g - 1)
    assert sorted(arrays(begun(log))) == [[4.0, 4.0], [5.0, 5.0], [6.0, 6.0]]


def test_a_pass_that_begins_with_ones_tells_of_none() -> None:
    with gs.record() as log:
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
    assert begun(log) == []


def test_a_gradient_of_another_recording_is_none_of_this_one() -> None:
    x = torch.ones(2, requires_grad=True)
    with gs.record():
        g = torch.ones(2) * 5
    with gs.record() as log:
        own = torch.ones(2) * 3
        (x * 2).backward(g)
        (x * 2).backward(own)
    assert arrays(begun(log)) == [[3.0, 3.0]]


def test_what_is_not_finite_is_blamed_on_what_made_the_gradient() -> None:
    with gs.record() as log:
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        g = torch.log(torch.tensor([1.0, 0.0, 2.0]))
        y.backward(g)
    log.refresh()
    (found,) = examined(Graph(log))
    assert (found.kind, found.cause) == ("nan", "log of zero")
    assert Path(__file__).read_text(encoding="utf-8").splitlines()[found.line - 1].strip().startswith("g = torch.log")
