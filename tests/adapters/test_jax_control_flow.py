"""Loops, branches and transformations of JAX: gradients are those of JAX, and each turn has nodes of its own."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

W = jnp.float32(0.5)
XS = jnp.arange(4.0) / 3


def loss(w, xs, flag=1):
    def cell(h, x):
        h = jnp.tanh(w * h + x)
        return h, h * 2

    h, ys = jax.lax.scan(cell, jnp.float32(0.1), xs)
    z = jax.lax.cond(flag > 0, lambda a: jnp.sin(a) * w, lambda a: a * a, h)
    z = jax.lax.fori_loop(0, 3, lambda i, v: v * w + 0.1, z)
    return z + ys.sum()


TRANSFORMED = {
    "grad": jax.grad(loss, argnums=(0, 1)),
    "jit of grad": jax.jit(jax.grad(loss, argnums=(0, 1))),
    "grad of jit": jax.grad(jax.jit(loss)),
    "remat": jax.grad(jax.checkpoint(loss)),
    "vmap of grad": lambda w, xs: jax.vmap(jax.grad(loss), in_axes=(None, 0))(w, jnp.stack([xs, 2 * xs])),
    "grad of vmap": jax.grad(lambda w, xs: jax.vmap(loss, in_axes=(None, 0))(w, jnp.stack([xs, 2 * xs])).sum()),
    "grad of grad": jax.grad(jax.grad(loss)),
    "hessian": jax.jit(jax.hessian(loss, argnums=1)),
    "jacrev": jax.jacrev(lambda w, xs: jnp.outer(jnp.sin(w * xs), xs)),
    "jacfwd": jax.jacfwd(lambda w, xs: jnp.outer(jnp.sin(w * xs), xs)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformed_functions_compute_what_jax_computes(name: str) -> None:
    bare = TRANSFORMED[name](W, XS)
    with gs.record() as log:
        recorded = TRANSFORMED[name](W, XS)
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6), recorded, bare)
    backward = [node for node in log.graph.select("backward") if node.kind == "grad"]
    assert len(log.graph.select("forward")) > 10
    assert (name == "jacfwd") is (not backward)
    assert all(node.forward is not None for node in backward)


@pytest.mark.slow
def test_each_turn_of_a_loop_has_nodes_in_both_passes() -> None:
    with gs.record() as log:
        jax.jit(jax.grad(loss))(W, XS)
    forward, backward = log.graph.select("op:tanh forward"), log.graph.select("op:tanh backward")
    assert [node.forward for node in backward] == forward[::-1]
    assert len(forward) == len(XS)
    scan = next(eqn for eqn in jax.make_jaxpr(loss)(W, XS).eqns if eqn.primitive.name == "scan")
    of_body = "cell" if scan.params["jaxpr"].jaxpr.debug_info else "scan"  # JAX 0.4 does not tell who is scanned
    assert all(of_body in node.scope for node in forward)
    h = 0.1
    for node, x in zip(forward, XS, strict=True):
        h = np.tanh(0.5 * h + x)
        np.testing.assert_allclose(node.value, h, rtol=1e-6)


NUMBERS = {
    "jit": lambda: jax.jit(lambda x: (x, 0, 1.5, True, np.ones(2)))(2.0),
    "jit in jit": lambda: jax.jit(lambda x: jax.jit(lambda y: (y, 1))(x))(2.0),
    "jit in grad": lambda: jax.grad(lambda x: x * jax.jit(lambda y: (y, 3))(x)[1].astype(float))(2.0),
    "cond": lambda: jax.lax.cond(True, lambda: 1.0, lambda: 2.0),
    "while": lambda: jax.lax.while_loop(lambda count: count > 3, lambda count: count + 1, 0),
}
"""Functions that return what was written down as a number."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_a_traced_function_returns_are_arrays(name: str) -> None:
    def described() -> list[tuple[bool, np.dtype, bool, object]]:
        found = jax.tree.leaves(NUMBERS[name]())
        return [(isinstance(each, jax.Array), each.dtype, each.weak_type, each.tolist()) for each in found]

    bare = described()
    with gs.record():
        recorded = described()
    assert recorded == bare


@pytest.mark.slow
def test_a_level_that_leaves_compiled_functions_alone_is_not_had(capsys: pytest.CaptureFixture[str]) -> None:
    with gs.record(capture="compiled") as log:
        jax.jit(jnp.tanh)(1.0)
    assert "JAX has no level `compiled`: what it compiles is recorded call by call" in capsys.readouterr().err
    assert [node.op for node in log.graph.nodes] == ["tanh"]


@pytest.mark.slow
def test_a_function_may_decide_by_what_it_computes() -> None:
    def choosing(x):
        return x * x if x > 1 else -x

    with gs.record():
        assert jax.grad(choosing)(3.0) == 6
        assert jax.grad(choosing)(0.5) == -1
