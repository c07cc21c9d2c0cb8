"""Steps of TensorFlow and Keras programs that are left out: they are counted, and what runs is the program's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog import record as recording
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import Kind
from graphscope.graph.series.every_step import every_step

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

Program = Callable[[int], Iterator[float]]

EVERY, STEPS, BATCH = 10, 34, 8
RECORDED = (1, 2, 11, 21, 31)


def data(steps: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).normal(size=(steps * BATCH, 3)).astype("float32")
    return x, x[:, :1] - x[:, 1:2]


def batches(steps: int) -> Iterator[tuple[Any, Any]]:
    x, y = data(steps)
    for start in range(0, len(x), BATCH):
        yield tf.constant(x[start : start + BATCH]), tf.constant(y[start : start + BATCH])


def network() -> Any:
    keras.utils.set_random_seed(0)
    layers = keras.layers
    return keras.Sequential([layers.Input((3,)), layers.Dense(4, activation="tanh"), layers.Dense(1)])


def stepping(model: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return step


def eager(steps: int) -> Iterator[float]:
    step = stepping(network(), keras.optimizers.SGD(0.05))
    for x, y in batches(steps):
        yield float(step(x, y))


def of_a_function(steps: int) -> Iterator[float]:
    step = tf.function(stepping(network(), keras.optimizers.Adam(0.05)))
    for x, y in batches(steps):
        yield float(step(x, y))


def scaled(steps: int) -> Iterator[float]:
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.05), initial_scale=1.0)
    step = tf.function(stepping(network(), optimizer))
    for x, y in batches(steps):
        yield float(step(x, y))


def adversarial(steps: int) -> Iterator[float]:
    one, other = network(), network()
    of_one, of_other = (keras.optimizers.SGD(0.05) for _ in range(2))

    @tf.function
    def step(x, y):
        stepping(other, of_other)(x, -y)
        return stepping(one, of_one)(x, y)

    for x, y in batches(steps):
        yield float(step(x, y))


def of_two_functions(steps: int) -> Iterator[float]:
    model, optimizer = network(), keras.optimizers.SGD(0.05)

    @tf.function
    def gradients_of(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        return loss, tape.gradient(loss, model.trainable_variables)

    @tf.function
    def update(gradients):
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for x, y in batches(steps):
        loss, gradients = gradients_of(x, y)
        update(gradients)
        yield float(loss)


def run_eagerly(steps: int) -> Iterator[float]:
    tf.config.run_functions_eagerly(True)
    try:
        yield from of_a_function(steps)
    finally:
        tf.config.run_functions_eagerly(False)


def told_by_the_program(steps: int) -> Iterator[float]:
    weight = tf.Variable(tf.zeros((3, 1)))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weight - y) ** 2)
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    for x, y in batches(steps):
        loss = step(x, y)
        gs.step()
        yield float(loss)


LOSSES_KNOWN = [eager, of_a_function, scaled, adversarial, of_two_functions, run_eagerly]


def sampled(program: Program, folder: Path) -> tuple[Log, list[float]]:
    with gs.record(folder / "run.gscope", every=EVERY, keep_last=3, values="full") as log:
        losses = list(program(STEPS))
    log.refresh()
    return log, losses


def passes(log: Log) -> int:
    return len(log.where(lambda rows: rows["kind"] == Kind.BACKWARD_BEGIN))


@pytest.mark.parametrize("program", LOSSES_KNOWN, ids=lambda each: each.__name__)
def test_each_step_is_counted_and_its_loss_is_known(program: Program, tmp_path: Path, capfd: Any) -> None:
    log, losses = sampled(program, tmp_path)
    found = every_step(log)
    assert found["step"].tolist() == list(range(1, STEPS + 1))
    np.testing.assert_allclose(found["loss"], losses, rtol=1e-5)
    assert passes(log) == len(RECORDED) * (2 if program is adversarial else 1)
    assert "all steps" not in capfd.readouterr().err
    np.testing.assert_allclose(losses, list(program(STEPS)), rtol=1e-3)


def test_of_a_program_that_tells_itself_where_steps_end_these_are_recorded(tmp_path: Path) -> None:
    log, losses = sampled(told_by_the_program, tmp_path)
    assert passes(log) == len(RECORDED)
    np.testing.assert_allclose(losses, list(told_by_the_program(STEPS)), rtol=1e-3)


@pytest.mark.parametrize("batches_a_call", [1, 4])
def test_fit(batches_a_call: int, tmp_path: Path) -> None:
    def fit() -> list[np.ndarray]:
        model = network()
        model.compile(keras.optimizers.SGD(0.05), "mse", steps_per_execution=batches_a_call)
        x, y = data(STEPS)
        model.fit(x, y, batch_size=BATCH, epochs=2, shuffle=False, verbose=0, validation_data=(x, y))
        return model.get_weights()

    with gs.record(tmp_path / "run.gscope", every=EVERY, keep_last=3) as log:
        weights = fit()
        assert recording.going().sampling.ended == 2 * STEPS
    log.refresh()
    assert 0 < passes(log) < (STEPS if batches_a_call == 1 else 2 * STEPS)
    for one, other in zip(weights, fit(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-6)


def test_variables_are_leaves_anew_in_each_recorded_step(tmp_path: Path) -> None:
    """What is told of a variable in a recorded step is what it holds then."""
    model = network()
    step = tf.function(stepping(model, keras.optimizers.SGD(0.05)))
    kernels = []
    with gs.record(tmp_path / "run.gscope", every=EVERY, keep_last=3, values="full") as log:
        for x, y in batches(STEPS):
            kernels.append(model.layers[0].kernel.numpy())
            step(x, y)
    log.refresh()
    told = [node.value for node in log.graph.select("leaf") if node.name == model.layers[0].kernel.path]
    assert len(told) >= len(RECORDED) - 1
    for value in told:
        assert any(np.array_equal(value, each) for each in kernels)
    assert np.array_equal(told[-1], kernels[RECORDED[-1] - 1])


def test_a_loss_that_is_not_finite_is_met_where_steps_are_left_out(tmp_path: Path) -> None:
    bad = 14
    step = tf.function(stepping(network(), keras.optimizers.SGD(0.05)))
    with gs.record(tmp_path / "run.gscope", every=1000, keep_last=3, values="summary") as log:
        for number, (x, y) in enumerate(batches(24), 1):
            loss = step(x * (math.nan if number == bad else 1), y)
            assert math.isfinite(float(loss)) == (number < bad)
    log.refresh()
    found = every_step(log)
    assert found["step"][~np.isfinite(found["loss"])].tolist() == list(range(bad, 25))
    assert passes(log) == 2 + 3


def test_steps_of_a_function_are_counted_that_is_called_first_where_steps_are_left_out(tmp_path: Path) -> None:
    model = network()
    first, then = (tf.function(stepping(model, keras.optimizers.SGD(rate))) for rate in (0.05, 0.01))
    with gs.record(tmp_path / "run.gscope", every=EVERY, keep_last=3) as log:
        losses = [float((first if number < 7 else then)(x, y)) for number, (x, y) in enumerate(batches(STEPS))]
    log.refresh()
    found = every_step(log)
    assert found["step"].tolist() == list(range(1, STEPS + 1))
    known = np.isfinite(found["loss"])
    assert np.count_nonzero(known) >= STEPS - 1  # of the first that was not seen yet it is not
    np.testing.assert_allclose(found["loss"][known], np.asarray(losses)[known], rtol=1e-5)


@pytest.mark.parametrize("every", [1, 5])
def test_a_program_goes_on_whose_strategy_mirrors_the_learning_rate(every: int, tmp_path: Path) -> None:
    def trained() -> list[float]:
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        with strategy.scope():
            model, optimizer = network(), keras.optimizers.SGD(0.05)
        step = stepping(model, optimizer)

        @tf.function
        def over_all(x, y):
            return strategy.reduce("SUM", strategy.run(step, (x, y)), axis=None)

        return [float(over_all(x, y)) for x, y in batches(12)]

    with gs.record(tmp_path / "run.gscope", every=every):
        found = trained()
    np.testing.assert_allclose(found, trained(), rtol=1e-4)
