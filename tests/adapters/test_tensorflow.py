"""Eager TensorFlow programs: what is recorded is what TensorFlow computes, in both passes."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs

tf = pytest.importorskip("tensorflow")
from tensorflow.python import pywrap_tfe  # noqa: E402
from tensorflow.python.eager import execute, imperative_grad, record  # noqa: E402
from tensorflow.python.framework import ops  # noqa: E402

pytestmark = pytest.mark.tensorflow

X = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]], np.float32)
Debug = Callable[..., str]


def parameters():
    return tf.Variable([[0.1, -0.2], [0.3, 0.4]], name="w"), tf.Variable([0.5, -0.5], name="b")


def loss_of(w, b):
    h = tf.tanh(tf.matmul(X, w) + b)
    left, right = tf.split(h, 2, axis=1)
    return tf.reduce_sum(left * right) + tf.reduce_mean(h * h)


def test_values_and_gradients_are_those_of_the_tape() -> None:
    w, b = parameters()
    with tf.GradientTape() as tape:
        bare = loss_of(w, b)
    expected = tape.gradient(bare, [w, b])
    with gs.record() as log:
        with tf.GradientTape() as tape:
            loss = loss_of(w, b)
        found = tape.gradient(loss, [w, b])
        graph = log.graph
        assert loss.numpy() == bare.numpy()
        for gradient, same, name in zip(found, expected, ("w", "b"), strict=True):
            np.testing.assert_array_equal(gradient, same)
            (leaf,) = (node for node in graph.select(f"name:{name} forward") if node.kind == "leaf")
            np.testing.assert_array_equal(leaf.grad, same)
        (tanh,) = graph.select("op:tanh forward")
        np.testing.assert_allclose(tanh.value, np.tanh(X @ w.numpy() + b.numpy()), rtol=1e-6)
        rules = [node for node in graph.select("backward") if node.kind == "grad"]
        assert {rule.op for rule in rules} >= {"tanh", "matmul", "split", "mul", "sum", "mean", "read_variable"}
        assert {Path(node.site.file).name for node in graph.nodes} == {Path(__file__).name}


@pytest.mark.slow
def test_each_rule_is_tied_to_the_op_whose_it_is() -> None:
    w, b = parameters()
    with gs.record() as log:
        with tf.GradientTape(persistent=True) as outer, tf.GradientTape() as inner:
            loss = loss_of(w, b)
            dw = inner.gradient(loss, w)
        second = outer.gradient(dw, w)
        with tf.GradientTape():
            loss_of(w, b)
        rules = [node for node in log.graph.select("backward") if node.kind == "grad"]
        assert rules
        assert all(
            rule.forward is not None and rule.forward.shape == rule.shape for rule in rules if rule.op != "split"
        )
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        dw = inner.gradient(loss_of(w, b), w)
    np.testing.assert_array_equal(second, outer.gradient(dw, w))


@pytest.mark.slow
def test_a_recording_holds_no_tensor_of_the_steps_that_have_ended() -> None:
    w, b = parameters()

    def alive() -> int:
        with tf.GradientTape() as tape:
            loss = loss_of(w, b)
        tape.gradient(loss, [w, b])
        del tape, loss
        gc.collect()
        return sum(issubclass(type(each), ops.EagerTensor) for each in gc.get_objects())

    with gs.record():
        after_first = alive()
        for _ in range(3):
            assert alive() == after_first


@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
def test_what_the_rules_of_tensorflow_compute_is_told_where_ops_are(capture: str) -> None:
    x = tf.constant([[1.0, 2.0]])
    w = tf.Variable([[3.0], [4.0]], name="w")
    with gs.record(capture=capture) as log:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, w))
        tape.gradient(loss, w)
        products = [node for node in log.graph.select("op:matmul backward") if node.kind == "op"]
        assert len(products) == (1 if capture == "ops" else 0)
        with tf.GradientTape() as outer:  # the rule of one tape runs under another
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(w * w * w)
            found = inner.gradient(loss, w)
        np.testing.assert_array_equal(outer.gradient(found, w), 6 * w.numpy())
        rules = [node for node in log.graph.select("op:mul backward") if node.kind == "grad"]
        assert {rule.forward.graph_pass for rule in rules} == {"forward", "backward"}


def test_a_function_runs_turn_by_turn_at_its_own_lines() -> None:
    @tf.function
    def power(x, n):
        total = x
        for _ in tf.range(n):
            if tf.reduce_sum(total) < 100:
                total = total * x
        return total

    x = tf.constant([2.0, 3.0])
    bare = power(x, 3)
    with gs.record() as log:
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = power(x, 3)
        np.testing.assert_array_equal(tape.gradient(found, x), [32.0, 108.0])
        products = log.graph.select("op:mul forward")
        assert len(products) == 3
        assert {node.site.line for node in products} == {power.python_function.__code__.co_firstlineno + 5}
    np.testing.assert_array_equal(found, bare)


def test_a_gradient_of_the_programs_own_is_a_rule() -> None:
    @tf.custom_gradient
    def clipped(x):
        def gradient(upstream):
            return tf.clip_by_value(upstream, -1.0, 1.0)

        return x * 1.0, gradient

    x = tf.Variable([1.0, 2.0], name="x")
    with gs.record() as log:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(clipped(x) * [0.5, 7.0])
        np.testing.assert_array_equal(tape.gradient(loss, x), [0.5, 1.0])
        (rule,) = (node for node in log.graph.select("op:clipped backward") if node.kind == "grad")
        np.testing.assert_array_equal(rule.grad, [0.5, 7.0])
        (leaf,) = (node for node in log.graph.select("name:x forward") if node.kind == "leaf")
        np.testing.assert_array_equal(leaf.grad, [0.5, 1.0])


def test_what_is_written_into_a_variable_is_its_next_version() -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    with gs.record() as log:
        before = w + 0.0
        w.assign_sub([0.25, 0.5])
        after = w + 0.0
        first, second = (node for node in log.graph.select("op:read_variable forward"))
        (write,) = log.graph.select("op:assign_sub forward")
        np.testing.assert_array_equal(write.value, [0.75, 1.5])
        assert [edge.source for edge in second.inputs] == [write]
        assert [edge.source.kind for edge in first.inputs] == ["leaf"]
    np.testing.assert_array_equal(after, before - [0.25, 0.5])


def test_tensorflow_is_left_as_it_was() -> None:
    places = ((pywrap_tfe, "TFE_Py_FastPathExecute"), (execute, "execute"), (record, "record_operation"))
    places += ((imperative_grad, "imperative_grad"), (type(tf.function(len)), "__call__"))
    before = [getattr(owner, name) for owner, name in places]
    w, b = parameters()
    with gs.record(), tf.GradientTape() as tape:
        loss = loss_of(w, b)
    assert [getattr(owner, name) for owner, name in places] == before
    calls = []
    function = tf.function(lambda x: calls.append(1) or x * 2)
    assert [float(function(tf.constant(each))) for each in (1.0, 2.0)] == [2.0, 4.0]
    assert len(calls) == 1  # it is compiled again
    assert tape.gradient(loss, w) is not None  # of a tape that was recorded


PROGRAM = """\
import tensorflow as tf
w = tf.Variable([1.0, 2.0, 3.0], name="w")
with tf.GradientTape() as tape:
    h = w * tf.constant([1.0, 2.0, 3.0])
    y = tf.sqrt(h)
    loss = tf.reduce_sum(y)
print("grad", tape.gradient(loss, w).numpy().tolist(), "loss", loss.numpy())
"""


def test_a_value_replaced_forward_reaches_what_follows_and_the_rules(debug: Debug) -> None:
    said = debug(PROGRAM, "b op:sqrt forward", "c", "set value = [2.0, 4.0, 5.0]", "c", "q")
    # d sqrt = 1 / (2 out) by the edited out, times the constant
    assert "grad [0.25, 0.25, 0.30000001192092896] loss 11.0" in said


def test_a_cotangent_replaced_reaches_the_gradient(debug: Debug) -> None:
    said = debug(PROGRAM, "b op:mul backward", "c", "set grad = [1.0, 10.0, 100.0]", "c", "c", "c", "q")
    assert "grad [1.0, 20.0, 300.0] loss 6.0" in said


def test_a_gradient_replaced_as_it_arrives_is_what_the_program_has(debug: Debug) -> None:
    said = debug(PROGRAM, "b op:accumulate", "c", "set grad = [1.0, 2.0, 3.0]", "c", "c", "q")
    assert "grad [1.0, 2.0, 3.0] loss 6.0" in said


def test_one_stops_before_an_op(debug: Debug) -> None:
    said = debug(PROGRAM, "b op:sqrt before", "c", "inputs", "n", "q")
    assert "sqrt" in said
    assert "program.py:5" in said


def test_data_is_called_as_the_program_calls_it(debug: Debug) -> None:
    program = "import tensorflow as tf\nx = tf.constant([1.0, 2.0])\nrate = 0.5\ny = tf.multiply(x, rate)\n"
    said = debug(program, "b op:mul", "inputs", "q")
    assert re.search(r"#0 .*\bx +2 +float32", said)
    assert re.search(r"constant +0.5", said)


def test_an_op_that_raises_is_a_node_without_a_value() -> None:
    with gs.record() as log:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
        (product,) = log.graph.select("op:matmul forward")
        assert product.value is None
        assert product.site.line == sys._getframe().f_lineno - 3


def test_the_first_nan_is_told_at_its_line() -> None:
    w = tf.Variable([1.0, 4.0], name="w")
    with gs.record() as log:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sqrt(w - 2.0))
        tape.gradient(loss, w)
        first = next(node for node in log.graph.nodes if node.value is not None and np.isnan(node.value).any())
        assert first.op == "sqrt"
        assert Path(first.site.file).name == Path(__file__).name


def test_random_numbers_of_a_function_are_those_of_its_graph() -> None:
    def drawn() -> list[float]:
        @tf.function
        def noise(x):
            return tf.reduce_sum(tf.nn.dropout(x + tf.random.normal([4]), 0.5) * tf.random.uniform([4]))

        tf.random.set_seed(7)
        return [float(noise(tf.ones([4]))) for _ in range(3)]

    bare = drawn()
    with gs.record():
        recorded = drawn()
    assert recorded == pytest.approx(bare, rel=1e-6)


def test_functions_of_tf_data_stay_compiled_which_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with gs.record():
        data = tf.data.Dataset.range(3).map(lambda each: each * 2)
        assert [int(each) for each in data] == [0, 2, 4]
    said = capsys.readouterr().err
    assert said.count("what functions that tf.data runs compute (<lambda> at test_tensorflow.py:") == 1


def test_a_function_of_pythons_inside_of_an_op_keeps_its_gradient() -> None:
    x = tf.Variable(3.0, name="x")
    with gs.record() as log:
        with tf.GradientTape() as tape:
            y = tf.py_function(lambda v: v * v, [x], tf.float32) * 2.0
        assert float(tape.gradient(y, x)) == 12.0
        assert log.graph.select("op:mul backward")


def test_rows_of_an_embedding_are_gathered_and_their_gradient_is_whole() -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="table")
    with gs.record() as log:
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, [0, 0])
            loss = tf.reduce_sum(rows * rows) + tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
        gradient = tape.gradient(loss, table)
        (leaf,) = (node for node in log.graph.select("name:table forward") if node.kind == "leaf")
        np.testing.assert_array_equal(leaf.grad, [[4.0, 8.0], [1.0, 1.0]])
    np.testing.assert_array_equal(tf.convert_to_tensor(gradient), [[4.0, 8.0], [1.0, 1.0]])


def test_a_function_that_takes_a_graph_stays_compiled() -> None:
    x = tf.Variable([1.0, 2.0])

    @tf.function
    def slopes():
        return tf.gradients(tf.reduce_sum(x * x), [x])

    with gs.record() as log:
        np.testing.assert_array_equal(slopes()[0], [2.0, 4.0])
        assert [node.op for node in log.graph.select("op:slopes forward")] == ["slopes"]


def test_formulas_are_those_of_what_was_computed() -> None:
    x, y = tf.ones([2, 3]), tf.ones([4, 3])
    with gs.record() as log:
        tf.matmul(x, y, transpose_b=True)
        tf.nn.bias_add(x, tf.ones([3]))
        tf.reduce_sum(x, axis=1)
        (total,) = log.graph.select("op:sum forward")
        found = {node.op: node.formula for node in log.graph.select("forward") if node.op in ("matmul", "bias_add")}
    assert found["matmul"] == "out = x @ yᵀ"
    assert found["bias_add"] == "out = x + bias"
    assert total.arguments.attributes == {"dim": 1}


def test_forward_accumulators_outlive_a_recording(tmp_path: Path) -> None:
    x = tf.Variable(3.0)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    with gs.record(), accumulator:
        y = x * x
    assert float(accumulator.jvp(y)) == 6.0
