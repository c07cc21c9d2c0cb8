"""JAX programs: the values and gradients that are recorded are those that JAX computes without us."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import graphscope as gs

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

X = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
W = {"dense": {"kernel": jnp.linspace(0.1, 0.6, 6).reshape(3, 2), "bias": jnp.array([0.1, -0.2])}}


def loss(params, x):
    h = jnp.tanh(x @ params["dense"]["kernel"] + params["dense"]["bias"])
    return jnp.sum(h * h)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_values_and_gradients_of_both_passes_are_those_of_jax(compiled: bool) -> None:
    step = jax.value_and_grad(loss)
    step = jax.jit(step) if compiled else step
    bare_value, bare = step(W, X)
    with gs.record() as log:
        value, gradients = step(W, X)
    np.testing.assert_allclose(value, bare_value, rtol=1e-6)
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-5), gradients, bare)
    graph = log.graph
    (tanh,) = graph.select("op:tanh forward")
    np.testing.assert_allclose(tanh.value, np.tanh(X @ W["dense"]["kernel"] + W["dense"]["bias"]), rtol=1e-6)
    (rule,) = graph.select("op:tanh backward")
    np.testing.assert_allclose(rule.value, 2 * np.asarray(tanh.value), rtol=1e-6)
    assert rule.forward == tanh
    names = {node.name for node in graph.select("leaf") if node.name.startswith("params")}
    assert names == {"params['dense']['kernel']", "params['dense']['bias']"}


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("differentiated", [False, True])
def test_a_node_is_at_the_line_that_jax_tells_of_its_equation(compiled: bool, differentiated: bool) -> None:
    summarize = pytest.importorskip("jax._src.source_info_util").summarize
    told = {each.primitive.name: summarize(each.source_info) for each in jax.make_jaxpr(loss)(W, X).eqns}
    step = jax.grad(loss) if differentiated else loss
    with gs.record() as log:
        (jax.jit(step) if compiled else step)(W, X)
    for primitive, op in {"tanh": "tanh", "dot_general": "matmul", "reduce_sum": "sum"}.items():
        (node,) = log.graph.select(f"op:{op} forward")
        assert told[primitive].startswith(f"{node.site.file}:{node.site.line}:")


@pytest.mark.slow
def test_a_recording_holds_no_array_of_the_steps_that_have_ended() -> None:
    params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}

    def alive() -> int:
        jax.grad(lambda params: jnp.sum((params["w"] * params["w"] + params["b"]) ** 2))(params)
        gc.collect()
        return len(jax.live_arrays())

    with gs.record():
        after_first = alive()
        for _ in range(3):
            assert alive() == after_first


def test_nothing_of_jax_is_changed_when_a_recording_has_ended() -> None:
    core = pytest.importorskip("jax._src.core")
    before = core.EvalTrace.process_primitive, jax.vjp
    with gs.record():
        assert (core.EvalTrace.process_primitive, jax.vjp) != before
    assert (core.EvalTrace.process_primitive, jax.vjp) == before


@pytest.mark.slow
def test_an_update_of_optax_is_the_next_version_of_each_parameter_and_ends_a_step() -> None:
    optax = pytest.importorskip("optax")
    optimizer = optax.sgd(0.1)

    @jax.jit
    def step(params, state):
        gradients = jax.grad(loss)(params, X)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    params, state = W, optimizer.init(W)
    with gs.record() as log:
        for _ in range(2):
            params, state = step(params, state)
    updates = log.graph.select("op:apply_updates forward")
    assert {node.name for node in updates} == {"params['dense']['kernel']", "params['dense']['bias']"}
    assert len(updates) == 4
    assert len(log.graph.select("op:copy_")) == 0
    (last,) = [node for node in updates[2:] if node.name.endswith("['bias']")]
    np.testing.assert_array_equal(last.value, params["dense"]["bias"])
