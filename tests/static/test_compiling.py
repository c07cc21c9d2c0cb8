"""Compiled functions, on either back end: values and gradients are those of the function, memory is never mixed up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphscope as gs
from benchmarks.engines import convert, single
from benchmarks.workloads import WORKLOADS
from graphscope import jit
from graphscope.engine import OPS
from graphscope.errors import StaticError
from graphscope.static.graphs.graph import Graph
from graphscope.static.machine.library import available
from graphscope.static.passes import ORDER, PASSES, changes, history, optimise
from graphscope.static.plans.plan import Plan
from graphscope.static.tracing.compiled import BACKENDS, plan_of


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if request.param == "machine" and not available():
        pytest.skip("llvmlite is not installed")
    return str(request.param)


def workload(name: str) -> tuple[Any, list[gs.Tensor]]:
    """A workload as a function of its parameters, and those."""
    program = WORKLOADS[name]
    values = convert(program.data(), lambda x: gs.tensor(single(x)))
    parameters = [values[each].requires_grad_() for each in program.parameters]

    def loss(*given: gs.Tensor) -> gs.Tensor:
        return program.tensors(gs, {**values, **dict(zip(program.parameters, given, strict=True))})

    return loss, parameters


LONG = [pytest.param(name, marks=pytest.mark.slow) if name in ("W2", "W3", "W4") else name for name in WORKLOADS]


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_loss_and_gradients_of_the_workloads_at_once(name: str, backend: str) -> None:
    loss, parameters = workload(name)
    step = jit.value_and_grad(loss, *parameters, argnums=range(len(parameters)), backend=backend)
    value, found = step(*parameters)
    expected = WORKLOADS[name].hand(WORKLOADS[name].data())
    np.testing.assert_allclose(value.array, loss(*parameters).array, rtol=1e-4)
    for gradient, each in zip(found, WORKLOADS[name].parameters, strict=True):
        wanted = np.asarray(expected[each])
        np.testing.assert_allclose(gradient.array, wanted, rtol=1e-3, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["W1", pytest.param("W3", marks=pytest.mark.slow), "W5"])
def test_compiled_functions_are_differentiated_like_any(name: str, backend: str) -> None:
    loss, parameters = workload(name)
    compiled = jit.compile(loss, *parameters, backend=backend)
    for call in (compiled, loss):
        for parameter in parameters:
            kept, parameter.grad = parameter.grad, None
            parameter.kept = kept
        (call(*parameters) * 2).backward()
    for parameter in parameters:
        scale = float(np.abs(parameter.grad.array).max())
        np.testing.assert_allclose(parameter.kept.array, parameter.grad.array, rtol=1e-4, atol=1e-5 * scale)


def test_what_was_written_since_has_no_gradient_of_another_run(backend: str) -> None:
    w = gs.ones(3, requires_grad=True)
    step = jit.compile(lambda x: (x * w).exp(), gs.ones(3), backend=backend)
    out = step(gs.ones(3))
    with gs.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    total = jit.compile(lambda x: (x * w).exp().sum(), gs.ones(3), backend=backend)
    out = total(gs.ones(3))
    with gs.no_grad():
        w.mul_(0)
    out.backward()
    np.testing.assert_allclose(w.grad.array, np.exp(np.full(3, 2.0)), rtol=1e-6)


def test_results_of_earlier_runs_stay_what_they_were(backend: str) -> None:
    step = jit.compile(lambda x: (x * 2, (x * 2).t(), x.sum()), gs.ones(200, 300), backend=backend)
    with gs.no_grad():
        first = [out.clone() for out in step(gs.ones(200, 300))]
        kept = step(gs.ones(200, 300))
        step(gs.zeros(200, 300))
        step(gs.full((200, 300), 7.0))
    for one, other in zip(first, kept, strict=True):
        np.testing.assert_array_equal(one.array, other.array)


def test_other_arrays_and_other_layouts(backend: str) -> None:
    step = jit.compile(lambda x, y: (x @ y + 1).relu().sum(0), gs.ones(4, 5), gs.ones(5, 3), backend=backend)
    numbers = np.random.default_rng(0)
    with gs.no_grad():
        for _ in range(3):
            x, y = numbers.standard_normal((5, 4)).astype("f4"), numbers.standard_normal((5, 3)).astype("f4")
            found = step(gs.from_numpy(x).t(), gs.from_numpy(y))
            np.testing.assert_allclose(found.array, np.maximum(x.T @ y + 1, 0).sum(0), rtol=1e-5)
            x *= 2  # the same array with other numbers
            found = step(gs.from_numpy(x).t(), gs.from_numpy(y))
            np.testing.assert_allclose(found.array, np.maximum(x.T @ y + 1, 0).sum(0), rtol=1e-5)


def test_arrays_of_other_types_are_refused(backend: str) -> None:
    graph = jit.trace(lambda x: x * 2, gs.ones(3)).graph
    plan = plan_of(graph, backend)
    for wrong in (np.ones(4, np.float32), np.ones(3)):
        with pytest.raises(StaticError, match="planned was float32 of shape"):
            plan([wrong])


def test_functions_that_give_what_they_are_given_keep_no_memory(backend: str) -> None:
    def f(x: gs.Tensor, y: gs.Tensor) -> tuple[gs.Tensor, gs.Tensor]:
        same = OPS["selected"].call(x * 2, gs.tensor([0]), 0, ())  # of no dims: what it was given
        return same, (y * 3).exp() * (y + 1).exp()

    step = jit.compile(f, gs.tensor(1.5), gs.tensor(0.0), backend=backend)
    same, other = step(gs.tensor(1.5), gs.tensor(0.0))
    assert (same.item(), other.item()) == (3.0, pytest.approx(np.e))


def test_branches_are_guarded_in_plans_too(backend: str) -> None:
    def f(x: gs.Tensor) -> gs.Tensor:
        return x * 2 if x.sum() > 0 else x * 3

    step = jit.compile(f, gs.ones(2), backend=backend)
    assert [step(gs.ones(2) * sign).tolist() for sign in (1, -1, 1)] == [[2.0, 2.0], [-3.0, -3.0], [2.0, 2.0]]
    assert len(step.traces) == 2


def test_while_it_is_recorded_all_nodes_are_seen(backend: str) -> None:
    step = jit.compile(lambda x: x.exp().sin().sum(), gs.ones(2), backend=backend)
    with gs.record() as log:
        step(gs.ones(2))
    assert [node.op for node in log.graph.nodes if node.op in ("mul", "add", "exp", "sin", "sum")] == [
        "exp",
        "sin",
        "sum",
    ]


def test_an_unknown_backend() -> None:
    with pytest.raises(StaticError, match="there is no backend 'cuda'"):
        jit.compile(lambda x: x, gs.ones(1), backend="cuda")


# Passes ---------------------------------------------------------------------------------------------------------------


def unrolled(count: int = 6) -> tuple[Graph, list[np.ndarray]]:
    def f(w: gs.Tensor, v: gs.Tensor, h: gs.Tensor) -> gs.Tensor:
        for number in range(count):
            h = (w @ h + v @ (gs.ones(3, 1) * (number + 1))).tanh()
        return h.sum()

    numbers = np.random.default_rng(0)
    arrays = [numbers.standard_normal((3, 3)).astype("f4") * 0.4 for _ in range(2)] + [np.full((3, 1), 0.1, "f4")]
    step = jit.value_and_grad(f, *map(gs.from_numpy, arrays), argnums=(0, 1, 2))
    return step.graph, arrays


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
def test_a_pass_changes_no_value(name: str) -> None:
    graph, arrays = unrolled()
    before = Plan(graph)(arrays)
    after = PASSES[name].run(graph)
    after.validate()
    for one, other in zip(Plan(after)(arrays), before, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert str(graph) == str(unrolled()[0])  # the graph itself stays as it is


def test_all_passes_one_after_the_other() -> None:
    graph, arrays = unrolled()
    steps = optimise(graph)
    assert [name for name, _ in steps] == list(ORDER)
    for one, other in zip(Plan(steps[-1][1])(arrays), Plan(graph)(arrays), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    known = {node.name for node in graph.nodes}
    assert all(set(node.origins) <= known for node in steps[-1][1].nodes)


def small(build: Any) -> Graph:
    graph = Graph("small")
    x = graph.input("x", (4, 3), "float32")
    graph.outputs = list(build(graph, x))
    return graph


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes if node.op not in ("input", "constant")]


def test_what_each_pass_does() -> None:
    dead = small(lambda g, x: (g.add("exp", (x,)), g.add("sin", (x,)))[:1])
    assert ops(PASSES["prune"].run(dead)) == ["exp"]
    twice = small(lambda g, x: (g.add("add", (g.add("exp", (x,)), g.add("exp", (x,)))),))
    assert ops(PASSES["merge"].run(twice)) == ["exp", "add"]
    one = small(lambda g, x: (g.add("mul", (g.add("add", (x, 0)), 1)),))
    assert ops(PASSES["simplify"].run(one)) == []
    twisted = small(lambda g, x: (g.add("t", (g.add("t", (x,)),)),))
    assert twisted.outputs != PASSES["simplify"].run(twisted).inputs
    assert ops(PASSES["prune"].run(PASSES["simplify"].run(twisted))) == []
    constant = small(
        lambda g, x: (g.add("mul", (x, g.add("exp", (g.add("constant", attributes={"value": np.ones(3, "f4")}),)))),)
    )
    assert ops(PASSES["prune"].run(PASSES["fold"].run(constant))) == ["mul"]


def test_products_with_one_matrix_become_one_product() -> None:
    graph, _ = unrolled()
    before = ops(graph).count("matmul")
    after = ops(optimise(graph)[-1][1]).count("matmul")
    assert (before, after) == (30, 1 + 6 + 6 + 2)


def test_what_a_pass_did_is_shown() -> None:
    graph = small(lambda g, x: (g.add("mul", (x, 1)), g.add("exp", (x,)))[:1])
    text = changes(graph, PASSES["prune"].run(graph))
    assert text == "- exp = exp(x): float32[4, 3]"
    told = history(graph, ["prune", "fold", "simplify"])
    assert [line for line in told.splitlines() if "nodes ->" in line] == [
        "prune: 3 nodes -> 2. Leave out nodes that no output needs and that do nothing else.",
        f"simplify: 2 nodes -> 1. {PASSES['simplify'].doc}",
    ]


def test_stacks_that_share_a_row_do_not_share_the_others(backend: str) -> None:
    graph = Graph()
    a, b, c, d = (graph.input(name, (2,), np.dtype("f4")) for name in "abcd")
    shared = graph.add("exp", (a,))
    one = graph.add("stack", (b, c, shared, b), attributes={"dim": 0})
    other = graph.add("stack", (c, d, shared, d), attributes={"dim": 0})
    graph.outputs = [graph.add("mul", (one, other))]
    (found,) = plan_of(graph, backend)([np.full(2, number, np.float32) for number in (0, 1, 2, 3)])
    np.testing.assert_allclose(found[:, 0], [1 * 2, 2 * 3, 1 * 1, 1 * 3])


def test_memory_is_used_again() -> None:
    graph = jit.trace(lambda x: x.exp().sin().cos().tanh().sum(), gs.ones(1000)).graph
    plan = Plan(graph)
    assert plan.memory.size < 2 * 4096
    assert plan.memory.unshared >= 4 * 4000
    assert len(plan.memory.in_place) == 3


def test_rows_of_a_stack_are_put_behind_each_other_at_once() -> None:
    graph, arrays = unrolled()
    plan = plan_of(graph, "numpy")
    assert plan.source.count("stack((") == 0
    plan(arrays)


def test_parts_of_a_value_keep_its_memory_from_being_used_again(backend: str) -> None:
    def loss(x: Any) -> Any:
        whole = x * 2.0
        (part,) = whole.unbind(1)
        return whole.tanh().square().sum() + part.square().sum()

    x = gs.tensor([[1.0], [2.0]])
    np.testing.assert_allclose(jit.compile(loss, x, backend=backend)(x).array, loss(x).array, rtol=1e-6)
