"""Functions of JAX that are mapped over devices: each is one node, and computes what it does alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.graph.series.every_step import every_step

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

if not hasattr(jax, "shard_map"):
    pytest.skip("this JAX maps functions otherwise", allow_module_level=True)

STEPS = 14


def data(number: int) -> tuple[jax.Array, jax.Array]:
    x = jnp.asarray(np.random.default_rng(number).normal(size=(8, 3)), jnp.float32)
    return x, x[:, :1] - x[:, 1:2]


def loss_of(weight, x, y):
    return jnp.mean((jnp.tanh(x @ weight) - y) ** 2)


def mapped(steps: int) -> Iterator[float]:
    @jax.pmap
    def step(weight, x, y):
        loss, gradient = jax.value_and_grad(loss_of)(weight, x, y)
        return weight - 0.1 * gradient, loss

    weight = jnp.full((1, 3, 1), 0.3)
    for number in range(steps):
        x, y = data(number)
        weight, loss = step(weight, x[None], y[None])
        yield float(loss[0])
    yield from np.asarray(weight).ravel().tolist()


def sharded(steps: int) -> Iterator[float]:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("devices",))
    whole, split = jax.sharding.PartitionSpec(), jax.sharding.PartitionSpec("devices")

    def inner(weight, x, y):
        return jax.lax.pmean(loss_of(weight, x, y), "devices")

    loss_over_all = jax.shard_map(inner, mesh=mesh, in_specs=(whole, split, split), out_specs=whole)

    @jax.jit
    def step(weight, x, y):
        loss, gradient = jax.value_and_grad(loss_over_all)(weight, x, y)
        return weight - 0.1 * gradient, loss

    weight = jnp.full((3, 1), 0.3)
    for number in range(steps):
        weight, loss = step(weight, *data(number))
        yield float(loss)
    yield from np.asarray(weight).ravel().tolist()


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("program", [mapped, sharded])
def test_it_computes_what_it_does_alone(
    program: Callable[[int], Iterator[float]], every: int, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    with gs.record(tmp_path / "run.gscope", every=every) as log:
        found = list(program(STEPS))
    log.refresh()
    np.testing.assert_allclose(found, list(program(STEPS)), rtol=1e-4)
    assert not [each for each in recwarn if "graphscope" in str(each.message)]
    assert "shard_map" in {node.op for node in log.graph.nodes}


def test_steps_of_what_is_sharded_are_counted(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", every=5) as log:
        list(sharded(STEPS))
    log.refresh()
    assert every_step(log)["step"].tolist() == list(range(1, STEPS + 1))
