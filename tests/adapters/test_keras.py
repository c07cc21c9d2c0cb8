"""Keras programs: layers and losses are scopes, and a step of an optimizer is a node for each variable."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.schema import Kind

pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

pytestmark = pytest.mark.tensorflow

X, Y = np.eye(6, 4, dtype=np.float32), np.arange(6) % 3


def model():
    keras.utils.set_random_seed(1)
    inputs = keras.Input((4,))
    hidden = keras.layers.Dense(8, activation="tanh", name="hidden")(inputs)
    made = keras.Model(inputs, keras.layers.Dense(3, name="logits")(hidden))
    made.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return made


def trained(made) -> list[float]:
    return made.fit(X, Y, batch_size=3, epochs=2, shuffle=False, verbose=0).history["loss"]


@pytest.mark.slow
def test_fit_is_recorded_step_by_step_and_computes_the_same() -> None:
    bare = trained(model())
    made = model()
    before = [each.numpy() for each in made.trainable_variables]
    with gs.record() as log:
        assert trained(made) == pytest.approx(bare, rel=1e-5)
        graph = log.graph
        assert sum(event.kind == Kind.STEP for event in map(log.event, range(log.first, log.end))) == 4
        updates = graph.select("op:SGD")
        assert len(updates) == 4 * len(made.trainable_variables)
        for update, variable, value in zip(updates, made.trainable_variables, before, strict=False):
            old, gradient = (edge.source for edge in update.inputs)
            assert old.name == update.name == variable.path
            np.testing.assert_array_equal(old.value, value)
            np.testing.assert_allclose(update.value, value - 0.01 * gradient.value, rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(updates[-1].value, made.trainable_variables[-1].numpy())


@pytest.mark.slow
def test_layers_and_losses_are_scopes() -> None:
    made = model()
    with gs.record() as log:
        made.train_on_batch(X, Y)
        assert {node.op for node in log.graph.select("scope:hidden forward")} >= {"matmul", "bias_add", "tanh"}
        assert log.graph.select("scope:logits op:matmul backward")
        assert log.graph.select("scope:sparse_categorical_crossentropy forward")
        assert log.graph.select("scope:metrics forward")


class Pair(keras.Model):
    """Its layers make their variables when it is called first."""

    def __init__(self):
        super().__init__(name="pair")
        self.parts = [keras.layers.Dense(3), keras.layers.Dense(2)]

    def call(self, x):
        return self.parts[1](self.parts[0](x))


@pytest.mark.parametrize("is_built", [True, False], ids=["built before", "built meanwhile"])
def test_variables_bear_their_paths(is_built: bool) -> None:
    made = Pair()
    if is_built:
        made(X)
    with gs.record() as log:
        made(X)
        named = {node.name for node in log.graph.nodes if node.kind == "leaf"} - {"", "x"}
    assert named == {each.path for each in made.weights}


def test_an_optimizer_of_the_programs_own_is_shown_op_by_op() -> None:
    class Halving(keras.optimizers.SGD):
        def update_step(self, gradient, variable, learning_rate):
            self.assign_sub(variable, gradient * 0.5)

    variable = keras.Variable([1.0, 2.0], name="v")
    optimizer = Halving()
    optimizer.build([variable])
    with gs.record() as log:
        optimizer.apply([keras.ops.array([2.0, 4.0])])
        (write,) = log.graph.select("op:assign_sub forward")
        np.testing.assert_array_equal(write.value, [0.0, 0.0])
    np.testing.assert_array_equal(variable.numpy(), [0.0, 0.0])


@pytest.mark.slow
def test_keras_is_left_as_it_was() -> None:
    call, apply = keras.Layer.__call__, keras.optimizers.Optimizer.apply
    with gs.record():
        trained(model())
    assert keras.Layer.__call__ is call
    assert keras.optimizers.Optimizer.apply is apply
