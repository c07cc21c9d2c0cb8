"""Constants among the operands of a call: traced, compiled, replayed and checked right with inputs that were not seen.

Random programs of tensors and constants (left, right, in lists, by keyword, left out; in tuples of dims, slices and
arrays of indices) are recorded or traced at some inputs; what they say of others is held to the eager engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
from graphscope.nn import functional as F
from graphscope.static.replay import gradient_checks, slices
from graphscope.static.replay.recorded_calls import call_of

Step = Callable[[Any, Any, Any], Any]

STEPS: Final[dict[str, Step]] = {
    "left of minus": lambda x, y, n: n - x,
    "right of minus": lambda x, y, n: x - n,
    "left of over": lambda x, y, n: n / (x * x + 1),
    "left of times": lambda x, y, n: n * x + y,
    "right of over": lambda x, y, n: x / (n * n + 1),
    "base": lambda x, y, n: (n * n + 1) ** gs.tanh(x),
    "function's base": lambda x, y, n: gs.pow(2.0, gs.tanh(x) + n),
    "exponent": lambda x, y, n: (gs.tanh(x) + 2) ** n,
    "reversed with a keyword": lambda x, y, n: gs.rsub(x, n, alpha=2),
    "scaled by a keyword": lambda x, y, n: gs.add(x, y, alpha=n),
    "keyword of three": lambda x, y, n: gs.addcmul(x, y, gs.tanh(x), value=n),
    "number of an index": lambda x, y, n: x + (x[..., 0] - 3)[:, None] * n,
    "negative index": lambda x, y, n: x * (n - x[-1, 1]),
    "slices": lambda x, y, n: gs.cat([x[:, 1:], n - x[:, :1]], 1),
    "list of an index": lambda x, y, n: x[[1, 0]] - n,
    "array of an index": lambda x, y, n: n - x[:, np.array([2, 0, 0])],
    "arrays of an index": lambda x, y, n: x + x[[0, 1], [2, 1]][:, None],
    "new dim": lambda x, y, n: n - x[None, 0:2, ...][0],
    "written at an index": lambda x, y, n: written(x, n),
    "written by a tensor": lambda x, y, n: written(x, y[0, 1] * n),
    "in place": lambda x, y, n: (x * 1).add_(n).mul_(y).sub_(y, alpha=n),
    "condition left": lambda x, y, n: gs.where(x > y, n, x),
    "condition right": lambda x, y, n: gs.where(x > n, x, y),
    "lower bound": lambda x, y, n: gs.clamp(x, min=n),
    "upper bound": lambda x, y, n: gs.clamp(x, None, n + 0.5),
    "tuple of dims": lambda x, y, n: x - x.mean((0, 1), keepdim=True) * n,
    "a dim": lambda x, y, n: n - x.sum(dim=-1, keepdim=True) + y,
    "a shape": lambda x, y, n: x.reshape(3, 2).t().reshape((2, 3)) - n,
    "list of tensors": lambda x, y, n: gs.stack([y, x, y])[1] - n,
    "two lists": lambda x, y, n: gs.cat([gs.cat([x, y]), x], 0)[1:3] - n,
    "no weight": lambda x, y, n: F.layer_norm(x, (3,), None, y[0]) * n,
    "no bias": lambda x, y, n: F.linear(x, gs.stack([y[0], x[1], y[1]]), None) - n,
    "padding": lambda x, y, n: F.pad(x, (1, 2), value=n)[:, 1:4] - n,
    "slope": lambda x, y, n: F.leaky_relu(x - n, 0.25),
    "threshold": lambda x, y, n: F.threshold(x, 0.1, n),
}  # fmt: skip
"""What may be done with two tensors of shape (2, 3) and a number; gives another such tensor."""


def written(x: Any, value: Any) -> Any:
    made = x * 1
    made[..., 1] = value
    return made


def program(steps: list[tuple[str, Any]]) -> Callable[[Any, Any], Any]:
    def run(x: Any, y: Any) -> Any:
        found = x
        for name, number in steps:
            found = gs.tanh(STEPS[name](found, y, number)) * 2
        return found

    return run


def tensors(seed: int) -> list[Any]:
    numbers = np.random.default_rng(seed)
    return [gs.tensor(numbers.uniform(-1, 1, (2, 3)), dtype=gs.float64, requires_grad=True) for _ in range(2)]


def eager(run: Callable[[Any, Any], Any], given: list[Any]) -> tuple[Any, list[Any]]:
    x, y = (each.detach().clone().requires_grad_() for each in given)
    out = run(x, y)
    out.sum().backward()
    return out.detach().numpy(), [np.zeros((2, 3)) if each.grad is None else each.grad.numpy() for each in (x, y)]


def agree(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-9)


def row_of(graph: Any, tensor: Any) -> int | None:
    """The leaf that a tensor is; None where the program made no use of it."""
    array = tensor.detach().numpy()
    return next((each.row for each in graph.nodes if each.kind == "leaf" and np.array_equal(each.value, array)), None)


def holds(steps: list[tuple[str, Any]], kinked: Sequence[str] = ()) -> None:
    run, seen, other = program(steps), tensors(0), tensors(1)
    expected, gradients = eager(run, other)
    for made in (gs.jit.trace(run, *seen, on_change="refuse"), gs.jit.compile(run, *seen, on_change="refuse")):
        found, found_gradients = eager(made, other)
        agree(found, expected)
        for gradient, wanted in zip(found_gradients, gradients, strict=True):
            agree(gradient, wanted)
    with gs.record() as log:
        run(*seen).sum().backward()
    graph = log.graph.at(log.end - 1)
    total = graph.select("op:sum forward")[-1]
    rows = [row_of(graph, each) for each in seen]
    changes = {row: each.detach().numpy() for row, each in zip(rows, other, strict=True) if row is not None}
    replayed = slices.forward(graph, total, changes)
    agree(replayed.get((total.row, 0), total.value), expected.sum())
    backward = slices.backward(graph, total, changes=changes)
    for row, wanted in zip(rows, gradients, strict=True):
        agree(backward.get(row, 0), wanted)
    for node in graph.nodes:
        if node.kind == "op" and node.graph_pass == "forward" and node.op not in kinked:
            for finding in gradient_checks.rules(call_of(node)):
                assert finding.size is None or finding.gap < 1e-3, node


NUMBERS = st.sampled_from([-2, -1.5, -0.5, 0, 0.0, 0.25, 1, 1.0, 2, 3])


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_constants_stand_where_they_stood(name: str) -> None:
    holds([(name, 1), (name, 0.75)])


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), NUMBERS), min_size=1, max_size=6))
def test_mixes_of_constants_and_operands(steps: list[tuple[str, Any]]) -> None:
    holds(steps, kinked=("clamp", "leaky_relu", "threshold"))  # whose bounds a program may meet: there is no slope
