"""Steps of JAX programs that are left out: they are counted, their losses are known, and what runs is the program's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.diagnose import examined
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import Kind
from graphscope.graph.series.every_step import every_step

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

if not hasattr(jax, "make_user_context"):
    pytest.skip("this JAX keeps nothing apart of what it has traced", allow_module_level=True)

Program = Callable[[int], Iterator[float]]

EVERY, STEPS = 10, 34
RECORDED = (1, 2, 11, 21, 31)


def data(step: int) -> tuple[jax.Array, jax.Array]:
    x = jnp.asarray(np.random.default_rng(step).normal(size=(8, 3)), jnp.float32)
    return x, x[:, :1] - x[:, 1:2]


def parameters() -> dict[str, jax.Array]:
    drawn = np.random.default_rng(99)
    return {
        "first": jnp.asarray(drawn.normal(size=(3, 4)), jnp.float32),
        "bias": jnp.zeros(4),
        "last": jnp.asarray(drawn.normal(size=(4, 1)), jnp.float32),
    }


def loss_of(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["first"] + params["bias"]) @ params["last"] - y) ** 2)


def descended(params, gradients):
    return jax.tree.map(lambda one, other: one - 0.1 * other, params, gradients)


def in_one_function(steps: int) -> Iterator[float]:
    @jax.jit
    def step(params, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        return descended(params, gradients), loss

    params = parameters()
    for number in range(steps):
        params, loss = step(params, *data(number))
        yield float(loss)


def with_optax(steps: int) -> Iterator[float]:
    optax = pytest.importorskip("optax")
    optimizer = optax.adam(0.01)

    @jax.jit
    def step(params, state, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    params = parameters()
    state = optimizer.init(params)
    for number in range(steps):
        params, state, loss = step(params, state, *data(number))
        yield float(loss)


def with_optax_outside(steps: int) -> Iterator[float]:
    optax = pytest.importorskip("optax")
    optimizer = optax.adam(0.01)
    gradients_of = jax.jit(jax.value_and_grad(loss_of))
    params = parameters()
    state = optimizer.init(params)
    for number in range(steps):
        loss, gradients = gradients_of(params, *data(number))
        updates, state = optimizer.update(gradients, state, params)
        params = optax.apply_updates(params, updates)
        yield float(loss)


def told_by_the_program(steps: int) -> Iterator[float]:
    gradients_of = jax.jit(jax.value_and_grad(loss_of))
    params = parameters()
    for number in range(steps):
        loss, gradients = gradients_of(params, *data(number))
        params = descended(params, gradients)
        gs.step()
        yield float(loss)


def with_an_update_of_its_own(steps: int) -> Iterator[float]:
    gradients_of, descend = jax.jit(jax.value_and_grad(loss_of)), jax.jit(descended)
    params = parameters()
    for number in range(steps):
        loss, gradients = gradients_of(params, *data(number))
        params = descend(params, gradients)
        yield float(loss)


def validated(steps: int) -> Iterator[float]:
    @jax.jit
    def step(params, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        return descended(params, gradients), loss

    evaluate = jax.jit(loss_of)
    params = parameters()
    for number in range(steps):
        x, y = data(number)
        if number == steps - 1:
            x, y = x[:5], y[:5]  # the last batch is smaller
        params, loss = step(params, x, y)
        assert math.isfinite(float(evaluate(params, x, y)))
        yield float(loss)


def of_flax(steps: int) -> Iterator[float]:
    nnx = pytest.importorskip("flax.nnx")
    optax = pytest.importorskip("optax")

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.first, self.last = nnx.Linear(3, 4, rngs=rngs), nnx.Linear(4, 1, rngs=rngs)

        def __call__(self, x):
            return self.last(nnx.relu(self.first(x)))

    model = Model(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.05), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer, x, y):
        loss, gradients = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
        optimizer.update(model, gradients)
        return loss

    for number in range(steps):
        yield float(step(model, optimizer, *data(number)))


def of_equinox(steps: int) -> Iterator[float]:
    equinox = pytest.importorskip("equinox")
    optax = pytest.importorskip("optax")
    model = equinox.nn.MLP(3, 1, 4, 1, key=jax.random.key(0))
    optimizer = optax.sgd(0.05)
    state = optimizer.init(equinox.filter(model, equinox.is_array))

    def loss_of_model(model, x, y):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    @equinox.filter_jit
    def step(model, state, x, y):
        loss, gradients = equinox.filter_value_and_grad(loss_of_model)(model, x, y)
        updates, state = optimizer.update(gradients, state)
        return equinox.apply_updates(model, updates), state, loss

    @equinox.filter_jit
    def evaluate(model, x, y):
        return loss_of_model(model, x, y)

    for number in range(steps):
        model, state, loss = step(model, state, *data(number))
        evaluate(model, *data(number))
        yield float(loss)


def of_flax_linen(steps: int) -> Iterator[float]:
    linen = pytest.importorskip("flax.linen")
    optax = pytest.importorskip("optax")
    train_state = pytest.importorskip("flax.training.train_state")
    model = linen.Dense(1)
    params = model.init(jax.random.key(0), data(0)[0])
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.05))

    @jax.jit
    def step(state, x, y):
        loss, gradients = jax.value_and_grad(lambda params: jnp.mean((state.apply_fn(params, x) - y) ** 2))(
            state.params
        )
        return state.apply_gradients(grads=gradients), loss

    for number in range(steps):
        state, loss = step(state, *data(number))
        yield float(loss)


QUICK = [in_one_function, with_optax_outside, told_by_the_program]
SLOW = [with_an_update_of_its_own, with_optax, validated, of_flax, of_flax_linen, of_equinox]
PROGRAMS = [*QUICK, *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW)]


def sampled(program: Program, folder: Path) -> tuple[Log, list[float]]:
    with gs.record(folder / "run.gscope", every=EVERY, keep_last=3, values="full") as log:
        losses = list(program(STEPS))
    log.refresh()
    return log, losses


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_each_step_is_counted_and_its_loss_is_known(program: Program, tmp_path: Path, capsys: Any) -> None:
    log, losses = sampled(program, tmp_path)
    found = every_step(log)
    assert found["step"].tolist() == list(range(1, STEPS + 1))
    np.testing.assert_allclose(found["loss"], losses, rtol=1e-6)
    begun = log.where(lambda rows: rows["kind"] == Kind.BACKWARD_BEGIN)
    assert len(begun) == len(RECORDED)
    roots = [log.graph.node(log.inputs(int(row))[0][0]).value for row in begun]
    np.testing.assert_allclose(roots, [losses[step - 1] for step in RECORDED], rtol=1e-6)
    assert "all steps" not in capsys.readouterr().err


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_it_computes_what_it_does_alone(program: Program, tmp_path: Path) -> None:
    np.testing.assert_allclose(sampled(program, tmp_path)[1], list(program(STEPS)), rtol=1e-4)


@pytest.mark.slow
def test_a_function_is_traced_once_for_each_way_in_which_it_runs(tmp_path: Path) -> None:
    traced = []

    @jax.jit
    def step(params, x, y):
        traced.append(params)
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        return descended(params, gradients), loss

    def train(steps: int) -> None:
        params = parameters()
        for number in range(steps):
            params, _ = step(params, *data(number))

    train(3)
    assert len(traced) == 1
    for count in (3, 3):  # alone, recorded, left out
        with gs.record(tmp_path / f"{count}{len(traced)}.gscope", every=5):
            train(STEPS)
        train(3)
        assert len(traced) == count


def test_a_loss_that_is_not_finite_is_met_where_steps_are_left_out(tmp_path: Path) -> None:
    @jax.jit
    def step(params, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        return descended(params, gradients), loss

    bad = 14
    with gs.record(tmp_path / "run.gscope", every=1000, keep_last=3, values="summary") as log:
        params = parameters()
        for number in range(1, 25):
            x, y = data(number)
            params, loss = step(params, x * (math.nan if number == bad else 1), y)
            assert math.isfinite(float(loss)) == (number < bad)
    log.refresh()
    found = every_step(log)
    assert found["step"][~np.isfinite(found["loss"])].tolist() == list(range(bad, 25))
    begun = log.where(lambda rows: rows["kind"] == Kind.BACKWARD_BEGIN)
    assert len(begun) == 2 + 3  # of the steps behind it, whole
    (first, *_) = [finding for finding in examined(log.graph) if finding.kind == "nan"]
    assert "number 14" in first.verdict


@pytest.mark.parametrize("jitted", [True, False])
def test_where_nothing_tells_of_the_ends_all_steps_are_recorded(jitted: bool, tmp_path: Path, capsys: Any) -> None:
    gradients_of = jax.value_and_grad(loss_of)
    gradients_of = jax.jit(gradients_of) if jitted else gradients_of
    with gs.record(tmp_path / "run.gscope", every=5, keep_last=3) as log:
        params = parameters()
        for number in range(12):
            params = descended(params, gradients_of(params, *data(number))[1])
    log.refresh()
    assert "all steps are recorded: nothing would tell" in capsys.readouterr().err
    assert len(log.where(lambda rows: rows["kind"] == Kind.BACKWARD_BEGIN)) == 12


@pytest.mark.slow
def test_a_call_that_makes_many_updates_is_a_step(tmp_path: Path) -> None:
    @jax.jit
    def epoch(params, batches):
        def turn(params, batch):
            loss, gradients = jax.value_and_grad(loss_of)(params, *batch)
            return descended(params, gradients), loss

        params, losses = jax.lax.scan(turn, params, batches)
        return params, losses.mean()

    batches = tuple(jnp.stack(each) for each in zip(*map(data, range(4)), strict=True))
    with gs.record(tmp_path / "run.gscope", every=5, keep_last=3) as log:
        params = parameters()
        for _ in range(12):
            params, _ = epoch(params, batches)
    log.refresh()
    steps = every_step(log)["step"].tolist()  # where no loss is returned, not each is looked at
    assert steps == sorted(steps)
    assert {1, 2, 6, 11} <= set(steps) <= set(range(1, 13))
    assert len(log.where(lambda rows: rows["kind"] == Kind.BACKWARD_BEGIN)) == 4 * 4


def test_gradients_that_train_nothing_make_no_steps(tmp_path: Path) -> None:
    @jax.jit
    def step(params, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        return descended(params, gradients), loss

    saliency = jax.jit(jax.grad(loss_of, argnums=1))
    with gs.record(tmp_path / "run.gscope", every=5, keep_last=3) as log:
        params = parameters()
        for number in range(13):
            params, _ = step(params, *data(number))
            saliency(params, *data(number))
    log.refresh()
    assert every_step(log)["step"].tolist() == list(range(1, 14))


def test_an_update_of_one_parameter_a_call_makes_no_step_of_its_own(tmp_path: Path, capsys: Any) -> None:
    gradients_of = jax.jit(jax.grad(loss_of))
    descend = jax.jit(lambda one, other: one - 0.1 * other)
    with gs.record(tmp_path / "run.gscope", every=5, keep_last=3) as log:
        params = parameters()
        for number in range(12):
            params = jax.tree.map(descend, params, gradients_of(params, *data(number)))
    log.refresh()
    assert "all steps are recorded: nothing would tell" in capsys.readouterr().err
    assert len(log.where(lambda rows: rows["kind"] == Kind.BACKWARD_BEGIN)) == 12


def outside_then_inside(steps: int, change: int) -> Iterator[float]:
    optax = pytest.importorskip("optax")
    optimizer = optax.sgd(0.1)
    gradients_of = jax.jit(jax.value_and_grad(loss_of))

    @jax.jit
    def update(params, state, gradients):
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    params = parameters()
    state = optimizer.init(params)
    for number in range(steps):
        loss, gradients = gradients_of(params, *data(number))
        if number < change:
            updates, state = optimizer.update(gradients, state, params)
            params = optax.apply_updates(params, updates)
        else:
            params, state = update(params, state, gradients)
        yield float(loss)


def one_function_then_two(steps: int, change: int) -> Iterator[float]:
    optax = pytest.importorskip("optax")
    optimizer = optax.sgd(0.1)
    later = jax.jit(jax.value_and_grad(lambda *given: 2 * loss_of(*given)))

    @jax.jit
    def warm_up(params, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        return descended(params, gradients), loss

    @jax.jit
    def update(params, state, gradients):
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    params = parameters()
    state = optimizer.init(params)
    for number in range(steps):
        if number < change:
            params, loss = warm_up(params, *data(number))
        else:
            loss, gradients = later(params, *data(number))
            params, state = update(params, state, gradients)
        yield float(loss)


def of_one_line(steps: int, change: int) -> Iterator[float]:
    def made():
        @jax.jit
        def step(several, x, y):
            loss, gradients = jax.value_and_grad(lambda each: sum(loss_of(one, x, y) for one in each))(several)
            return descended(several, gradients), loss

        return step

    several, one = [parameters(), parameters()], [parameters()]
    of_several, of_one = made(), made()
    for number in range(steps):
        if number < change:
            several, loss = of_several(several, *data(number))
        else:
            one, loss = of_one(one, *data(number))
        yield float(loss)


@pytest.mark.parametrize("change", [7])
@pytest.mark.parametrize("program", [outside_then_inside, one_function_then_two, of_one_line])
def test_steps_go_on_where_other_functions_make_them(
    program: Callable[[int, int], Iterator[float]], change: int, tmp_path: Path
) -> None:
    with gs.record(tmp_path / "run.gscope", every=EVERY, keep_last=3) as log:
        losses = list(program(STEPS, change))
    log.refresh()
    found = every_step(log)
    assert found["step"].tolist() == list(range(1, STEPS + 1))
    known = np.isfinite(found["loss"])
    assert np.count_nonzero(known) >= STEPS - 1  # of the first that was not seen yet it is not
    np.testing.assert_allclose(found["loss"][known], np.asarray(losses)[known], rtol=1e-6)


def test_steps_are_looked_for_again_where_none_ends_any_more(tmp_path: Path) -> None:
    @jax.jit
    def of_one(params, x, y):
        return descended(params, jax.grad(loss_of)(params, x, y))

    @jax.jit
    def of_other(others, x, y):
        return descended(others, jax.grad(lambda others: loss_of(others, x, y))(others))

    with gs.record(tmp_path / "run.gscope", every=EVERY, keep_last=3) as log:
        params, others = parameters(), parameters()
        for number in range(400):
            if number < 4:
                params = of_one(params, *data(number))
            if number in (0, *range(4, 400)):
                others = of_other(others, *data(number))
    log.refresh()
    assert every_step(log)["step"][-1] > 100
    assert len(log.where(lambda rows: rows["kind"] == Kind.BACKWARD_BEGIN)) > 10
