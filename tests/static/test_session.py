"""Sessions: what TensorFlow 1's words mean; values and gradients are compared with the eager engine."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphscope as gs
import graphscope.static as tf
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Stop
from graphscope.errors import StaticError
from graphscope.static.graphs.drawing import view_of


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


class Pair(NamedTuple):
    first: Any
    second: Any


def test_fetches_of_any_form() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    double = tf.multiply(x, 2.0, name="double")
    with tf.Session() as session:
        found = session.run({"a": [double, (x,)], "b": Pair("double:0", "x:0")}, {x: [1, 2]})
    assert list(found) == ["a", "b"]
    assert found["b"]._fields == ("first", "second")
    np.testing.assert_array_equal(found["a"][0], np.float32([2, 4]))
    np.testing.assert_array_equal(found["a"][1][0], found["b"].second)


def test_any_tensor_is_fed_and_what_leads_to_it_does_not_run() -> None:
    ran = []
    x = tf.placeholder(tf.float32, [], name="x")
    middle = tf.py_func(lambda value: ran.append(value) or value, [x], tf.float32)
    out = middle * 3.0
    with tf.Session() as session:
        assert session.run(out, {middle: 2}) == 6
        assert not ran
        assert session.run(out, {x: 5}) == 15
        assert ran == [5]


def test_a_run_prunes_to_its_fetches() -> None:
    x = tf.placeholder(tf.float32, name="x")
    y = x + 1.0
    tf.Assert(False, [x])
    with gs.record() as log, tf.Session() as session:
        session.run(y, {x: 1})
    assert [node.name for node in log.graph.at(log.end - 1).select("op:add")] == ["add"]
    assert not log.graph.at(log.end - 1).select("op:assert")


def test_gradients_are_those_of_the_eager_engine_with_a_batch_that_is_not_known() -> None:
    numbers = np.random.default_rng(0)
    weights = numbers.normal(size=(3, 2)).astype(np.float32)
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(weights)
    b = tf.Variable(tf.zeros([2]))
    loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w) + b)))
    slopes = tf.gradients(loss, [w, b, x])
    with tf.Session() as session:
        for rows in (1, 5):
            batch = numbers.normal(size=(rows, 3)).astype(np.float32)
            found = session.run([loss, *slopes], {x: batch})
            eager = [gs.tensor(each).requires_grad_() for each in (weights, np.zeros(2, np.float32), batch)]
            expected = ((eager[2] @ eager[0] + eager[1]).tanh() ** 2).mean()
            expected.backward()
            np.testing.assert_allclose(found[0], expected.item(), rtol=1e-6)
            for gradient, tensor in zip(found[1:], eager, strict=True):
                np.testing.assert_allclose(gradient, tensor.grad, rtol=1e-5, atol=1e-7)


def test_second_gradients_and_grad_ys() -> None:
    x = tf.Variable(np.float64([0.5, -1.5]))
    y = x * x * x
    (first,) = tf.gradients(y, x, grad_ys=tf.constant(np.float64([2.0, 1.0])))
    (second,) = tf.gradients(first, x)
    with tf.Session() as session:
        a, b = session.run([first, second])
    np.testing.assert_allclose(a, [2 * 3 * 0.25, 3 * 2.25])
    np.testing.assert_allclose(b, [2 * 6 * 0.5, 6 * -1.5])
    assert tf.gradients(y, tf.Variable(1.0)) == [None]


def test_variables_keep_what_was_assigned_and_begin_anew() -> None:
    count = tf.Variable(3, name="count")
    step = count.assign_add(2)
    with tf.Session() as session:
        assert session.run([count, step]) == [3, 5]
        assert session.run(count) == 5
        count.load(40)
        assert session.run(step) == 42
        session.run(tf.global_variables_initializer())
        assert count.eval() == 3


def test_control_dependencies_order_what_takes_nothing_from_each_other() -> None:
    count = tf.Variable(1.0)
    with tf.control_dependencies([count.assign(10.0)]):
        after = count.read_value()
    with tf.Session() as session:
        assert session.run(after) == 10


def test_print_and_assert(capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    shown = tf.Print(x, [x, tf.reduce_sum(x)], "seen: ", summarize=2)
    check = tf.Assert(tf.reduce_all(tf.greater(x, 0.0)), [x], name="positive")
    with tf.control_dependencies([check]):
        out = shown * 2.0
    said = io.StringIO()
    with tf.Session() as session, redirect_stderr(said):
        session.run(out, {x: [1, 2, 3]})
        with pytest.raises(
            StaticError, match=r"assert node 'positive' \(.*test_session.py:\d+\) does not hold: \[-1.0\]"
        ):
            session.run(out, {x: [-1]})
    assert said.getvalue().startswith("seen: [1.0 2.0...][6.0]\n")
    assert tf.gradients(shown, x)[0] is not None


def test_cond_runs_one_branch_alone_and_its_gradient_is_of_that() -> None:
    ran = []
    x = tf.Variable(2.0)
    which = tf.placeholder(tf.bool_, [])

    def other() -> Any:
        return tf.py_func(lambda value: ran.append(1) or value, [x], tf.float32)

    y = tf.cond(which, lambda: x * x, other)
    (slope,) = tf.gradients(tf.cond(which, lambda: x * x, lambda: -x), x)
    with tf.Session() as session:
        assert session.run([y, slope], {which: True}) == [4, 4]
        assert not ran
        assert session.run([y, slope], {which: False}) == [2, -1]


@pytest.mark.slow
def test_loops_of_ten_thousand_turns_with_conds_inside() -> None:
    w = tf.Variable(np.float64(1.0001))
    turns = tf.placeholder(tf.int32, [])

    def body(i: Any, a: Any) -> Any:
        grown = tf.cond(
            tf.less(a, 2.0), lambda: a * w, lambda: tf.cond(tf.greater(a, 3.0), lambda: a / w, lambda: a * w)
        )
        return i + 1, grown

    count, out = tf.while_loop(lambda i, a: tf.less(i, turns), body, [0, np.float64(1.0)])
    (slope,) = tf.gradients(out, w)
    with tf.Session() as session:
        number, value, gradient = session.run([count, out, slope], {turns: 10_000})
    assert number == 10_000
    np.testing.assert_allclose(value, 1.0001**10_000)
    np.testing.assert_allclose(gradient, 10_000 * 1.0001**9_999)


def test_a_loop_variable_that_grows_says_so() -> None:
    i, rows = tf.while_loop(
        lambda i, rows: i < 3,
        lambda i, rows: (i + 1, tf.concat([rows, rows[:1] * 2.0], 0)),
        [0, tf.ones([1, 2])],
        shape_invariants=[[], [None, 2]],
    )
    (slope,) = tf.gradients(rows, tf.trainable_variables() or [i])
    with tf.Session() as session:
        assert session.run(rows).shape == (4, 2)
    assert slope is None


def test_a_session_is_recorded_with_names_lines_and_both_passes() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable(np.ones((2, 1)), dtype=tf.float32, name="w")
    with tf.name_scope("layer"):
        h = tf.sigmoid(tf.matmul(x, w, name="product"), name="h")
    (slope,) = tf.gradients(tf.reduce_sum(h), w)
    with gs.record() as log, tf.Session() as session:
        out = session.run(slope, {x: [[1, 2]]})
    whole = log.graph.at(log.end - 1)
    (product,) = whole.select("name:layer/product and forward")
    assert (product.op, product.scope, product.source_line[:1]) == ("matmul", "layer", "h")
    assert [edge.source.name for edge in product.inputs] == ["x", "w"]
    (rule,) = product.backward
    assert (rule.kind, rule.graph_pass) == ("grad", "backward")
    (leaf,) = [node for node in whole.select("name:w") if node.kind == "leaf"]
    np.testing.assert_array_equal(leaf.grad, out)
    assert {node.graph_pass for node in whole.select("name:gradients/*")} == {"backward"}
    (total,) = whole.select("op:sum and forward")
    assert total.event.scope == leaf.event.scope == 0, "`next` would pass over what is deeper"


def test_training_reaches_what_the_eager_engine_reaches() -> None:
    numbers = np.random.default_rng(1)
    data = numbers.normal(size=(8, 3)).astype(np.float32)
    start = numbers.normal(size=(3, 1)).astype(np.float32)
    x = tf.placeholder(tf.float32, [None, 3])
    for make, eager in (
        (lambda: tf.train.GradientDescentOptimizer(0.1), lambda p: gs.optim.SGD(p, lr=0.1)),
        (lambda: tf.train.MomentumOptimizer(0.1, 0.9), lambda p: gs.optim.SGD(p, lr=0.1, momentum=0.9)),
        (lambda: tf.train.AdamOptimizer(0.1), lambda p: gs.optim.Adam(p, lr=0.1)),
    ):
        w = tf.Variable(start)
        train = make().minimize(tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0)), var_list=[w])
        twin = gs.tensor(start.copy(), requires_grad=True)
        optimizer = eager([twin])
        with tf.Session() as session:
            for _ in range(5):
                session.run(train, {x: data})
                optimizer.zero_grad()
                ((gs.tensor(data) @ twin - 1) ** 2).mean().backward()
                optimizer.step()
            np.testing.assert_allclose(session.run(w), twin.detach().numpy(), rtol=2e-5, atol=1e-6)


def test_random_nodes_draw_anew_in_each_run_unless_they_have_a_seed() -> None:
    free, fixed = tf.random_normal([4]), tf.truncated_normal([200], seed=3)
    with tf.Session() as session:
        a, b = session.run([free, fixed]), session.run([free, fixed])
    assert (a[0] != b[0]).all()
    np.testing.assert_array_equal(a[1], b[1])
    assert np.abs(a[1]).max() <= 2


def test_a_loop_is_drawn_rolled_with_its_turns(tmp_path: Path) -> None:
    w = tf.Variable(1.5, name="w")
    _, out = tf.while_loop(
        lambda i, a: i < 10_000,
        lambda i, a: (i + 1, tf.cond(a < 2.0, lambda: a * w, lambda: a - w)),
        [0, 1.0],
        name="turns",
    )
    with tf.Session() as session:
        session.run(out)
    view = view_of(tf.get_default_graph(), [out.output])
    assert [cluster.label for cluster in view.clusters if cluster.kind == "repeat"] == ["turns × 10000"]
    assert len(view.nodes) < 15
    assert any(edge.carried for edge in view.edges)
    drawn = gs.export(view, tmp_path / "turns.svg")
    assert "turns × 10000" in str(drawn)
    back = view_of(tf.get_default_graph(), [value.output for value in tf.gradients(out, w) if value is not None])
    kinds = {node.id: node.graph_pass for node in back.nodes}
    assert [cluster.label for cluster in back.clusters if cluster.kind == "repeat"][1:] == ["gradients/turns/while_vjp"]
    kept = [edge for edge in back.edges if kinds[edge.source] == "forward" and kinds[edge.target] == "backward"]
    assert kept, "rules take what the loop has computed"


def test_a_recorded_loop_is_stepped_turn_by_turn() -> None:
    w = tf.Variable(2.0, name="w")
    _, out = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, tf.multiply(a, w, name="grow")), [0, 1.0])
    (slope,) = tf.gradients(out, w)
    with gs.record() as log, tf.Session() as session:
        assert session.run(slope) == 5 * 2.0**4
    debugger = Debugger(log)
    interpreter.run(debugger, "b name:*/grow forward")
    values = []
    while isinstance(stop := interpreter.run(debugger, "c"), Stop) and stop.breakpoint is not None:
        assert stop.node is not None
        if stop.node.kind == "op":
            values.append(float(debugger.lookup()("value")))
    assert values[:5] == [2, 4, 8, 16, 32]
    assert interpreter.run(debugger, "rc").node.row < log.end
