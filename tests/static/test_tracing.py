"""Traced functions: they give and differentiate as the function does, and say what they took for granted."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope import jit
from graphscope.errors import StaticError


def branching(x: gs.Tensor, count: int) -> tuple[gs.Tensor, dict[str, gs.Tensor]]:
    y = x * 2
    if y.sum() > 0:
        y = y.exp()
    for _ in range(count):
        y = y.tanh() + gs.ones(3)
    return y, {"total": (2 - y).sum()}


def both(x: gs.Tensor, f: object) -> tuple[np.ndarray, np.ndarray]:
    x = x.clone().requires_grad_()
    y, parts = f(x, 2)
    (parts["total"] + (y * y).sum()).backward()
    return y.array, x.grad.array


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_values_structure_and_gradients(sign: float) -> None:
    x = gs.tensor([0.5, 0.25, 0.125]) * sign
    traced = jit.trace(branching, x, 2)
    for found, wanted in zip(both(x, traced), both(x, branching), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("weight", [None, gs.tensor([1.0, 2.0, 0.5])])
def test_an_argument_that_was_left_out_is_left_out_of_the_way_back(weight: gs.Tensor | None) -> None:
    scores = gs.tensor([[0.5, 1.0, -1.0], [2.0, 0.0, 0.25]])

    def loss(x: gs.Tensor) -> gs.Tensor:
        return gs.nn.functional.cross_entropy(x, gs.tensor([2, 0]), weight)

    traced = jit.trace(loss, scores)
    found, wanted = (gs.func.grad(each)(scores).array for each in (traced, loss))
    np.testing.assert_array_equal(found, wanted)


def test_the_account_tells_branches_arguments_shapes_and_constants_with_their_lines() -> None:
    traced = jit.trace(branching, gs.ones(3), 2)
    kinds = [frozen.what for frozen in traced.frozen]
    assert kinds.count("branch") == 1
    assert {"shape", "argument", "branch", "constant"} <= set(kinds)
    text = traced.account()
    assert "gt was True; the other way was not taken" in text
    assert "if y.sum() > 0:" in text
    assert f"{__file__}:{branching.__code__.co_firstlineno + 2}" in text
    assert "count is 2" in text


def test_another_way_shape_or_argument_is_traced_anew() -> None:
    traced = jit.trace(branching, gs.ones(3), 2)
    for x, count in ((-gs.ones(3), 2), (gs.ones(2, 3), 2), (gs.ones(3), 3), (gs.ones(3), 2)):
        np.testing.assert_array_equal(traced(x, count)[0].array, branching(x, count)[0].array)
    assert len(traced.traces) == 4


def test_or_it_is_refused() -> None:
    traced = jit.trace(branching, gs.ones(3), 2, on_change="refuse")
    with pytest.raises(jit.GuardError, match=r"test_tracing.py:\d+ read True when it was traced, and would read False"):
        traced(-gs.ones(3), 2)
    with pytest.raises(
        jit.GuardError, match=r"was traced for \(float32\[3\]\), and is called with \(float32\[2, 3\]\)"
    ):
        traced(gs.ones(2, 3), 2)


def test_pytorch_gives_its_examples_in_a_tuple() -> None:
    traced = jit.trace(lambda x, y: x @ y, (gs.ones(2, 3), gs.ones(3)))
    assert traced(gs.ones(2, 3), gs.ones(3)).tolist() == [3.0, 3.0]


def test_a_module_is_read_at_each_run_and_its_parameters_get_gradients() -> None:
    gs.manual_seed(0)
    model = gs.nn.Sequential(gs.nn.Linear(3, 4), gs.nn.ReLU(), gs.nn.Linear(4, 2))
    x = gs.randn(5, 3)
    traced = jit.trace(model, x)
    traced(x).sum().backward()
    found = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    for one, parameter in zip(found, model.parameters(), strict=True):
        np.testing.assert_array_equal(one.array, parameter.grad.array)
    with gs.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.5)
    np.testing.assert_array_equal(traced(x).array, model(x).array)


weight = gs.ones(3, 3, requires_grad=True)


def test_what_is_used_from_around_bears_its_name_and_not_its_numbers() -> None:
    bias = gs.zeros(3)
    traced = jit.trace(lambda x: weight @ x + bias, gs.ones(3))
    assert "    weight = variable(tensor=<float32[3, 3]>): float32[3, 3]\n" in str(traced.graph)
    outside = [frozen.text for frozen in traced.frozen if frozen.what == "outside"]
    assert outside == ["weight (float32[3, 3]) is read at each run", "bias (float32[3]) is read at each run"]


def test_writes_in_place_become_values() -> None:
    def f(x: gs.Tensor) -> gs.Tensor:
        y = x * 1
        rows = y[0]
        rows.mul_(3)
        y[1, :] = 0.5
        y += rows
        return y * rows

    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    traced = jit.trace(f, x)
    for call in (traced, f):
        out = call(x)
        out.sum().backward()
    np.testing.assert_array_equal(traced(x).array, f(x).array)
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    one = x.grad.array / 2
    x.grad = None
    f(x).sum().backward()
    np.testing.assert_array_equal(x.grad.array, one)


def test_numbers_read_off_tensors_are_guarded() -> None:
    def f(x: gs.Tensor) -> gs.Tensor:
        return x * x.max().item()

    traced = jit.trace(f, gs.tensor([1.0, 3.0]), on_change="refuse")
    assert "was read: 3.0" in traced.account()
    with pytest.raises(jit.GuardError, match=r"read 3.0 when it was traced, and would read 4.0"):
        traced(gs.tensor([1.0, 4.0]))


def test_random_numbers_are_told() -> None:
    traced = jit.trace(lambda x: x + gs.randn(3), gs.zeros(3))
    assert any(frozen.what == "random" and "randn" in frozen.text for frozen in traced.frozen)


def test_what_no_graph_can_do_is_refused_in_one_message() -> None:
    w = gs.ones(3, requires_grad=True)

    def f(x: gs.Tensor) -> gs.Tensor:
        (x * w).sum().backward()
        return x * 2

    with pytest.raises(StaticError, match="a backward pass ran inside the function"):
        jit.trace(f, gs.ones(3))
    assert (w * 2).sum().item() == 6.0  # and the engine goes on


def test_an_error_of_the_function_stays_what_it_is() -> None:
    def f(x: gs.Tensor) -> gs.Tensor:
        return x.sum(3)

    with pytest.raises(IndexError, match="out of range"):
        jit.trace(f, gs.ones(3))


def test_tracing_while_recording_leaves_the_recording_alone() -> None:
    x = gs.ones(3)
    with gs.record() as log:
        before = x * 2
        traced = jit.trace(lambda x: x.sin(), x)
        after = before + 1
        traced(after)
    names = [node.op for node in log.graph.nodes if node.op in ("mul", "add", "exp", "sin", "sum")]
    assert names == ["mul", "add", "sin"]


@pytest.mark.slow
def test_ten_thousand_nodes() -> None:
    def f(x: gs.Tensor) -> gs.Tensor:
        for _ in range(10_000):
            x = x * 0.9999
        return x

    x = gs.ones(1, requires_grad=True)
    traced = jit.trace(f, x)
    traced(x).sum().backward()
    np.testing.assert_allclose(x.grad.array, 0.9999**10_000, rtol=1e-3)
