"""What can't run says so in one message: the node's name, its line, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import graphscope as gs
import graphscope.static as tf
from graphscope import jit
from graphscope.errors import StaticError
from graphscope.static.graphs.graph import walk

HERE = r"test_errors\.py:\d+"


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def refused(pattern: str) -> pytest.RaisesExc:
    """An error of one sentence that matches, with a cure."""
    return pytest.raises(StaticError, match=pattern, check=lambda error: bool(error.hint) and "\n" not in error.message)


def test_a_missing_feed() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.Session() as session, refused(rf"input node 'x' \(.*{HERE}\) was not fed"):
        session.run(x + 1.0)


def test_unknown_fetches_and_feeds(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.Graph().as_default():
        other = tf.constant(1.0, name="other")
    with tf.Session() as session:
        with refused("has no node 'y'"):
            session.run("y:0")
        with refused("has no output 3"):
            session.run("x:3")
        with refused("None can't be fetched"):
            session.run([x, None], {x: [1, 2]})
        with refused(r"1.5 \(float\) is neither tensor nor node"):
            session.run(1.5)
        with refused(rf"constant node 'other' \(.*{HERE}\) is no node of the graph of this session"):
            session.run(other)
        with refused(r"can't be fed: it gives nothing"):
            session.run(x, {tf.no_op(): 1})
        with refused("was fed the tensor 'add:0' of a graph"):
            session.run(x, {x: x + 1.0})


def test_shapes_that_contradict() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with refused(rf"matmul node 'wrong' \(.*{HERE}\)|matmul node .*{HERE}\)"):
        tf.matmul(x, tf.ones([4, 2]), name="wrong")
    with refused(rf"add node .*{HERE}\) does not fit what it is given"):
        tf.ones([2, 3]) + tf.ones([4])
    with tf.Session() as session:
        with refused(rf"input node 'x' \(.*{HERE}\) takes float32\[\?, 3\], and was fed an array of shape \(2, 4\)"):
            session.run(x, {x: np.zeros((2, 4))})
        with refused(rf"input node 'x' \(.*{HERE}\) can't be fed str"):
            session.run(x, {x: "words"})
    v = tf.Variable(np.zeros(3), name="v")
    with refused(rf"assign node .*{HERE}\) writes float64\[2\] into 'v'"):
        v.assign(np.zeros(2))


def test_a_cycle() -> None:
    x = tf.constant(1.0, name="x")
    y = tf.exp(x, name="y")
    z = tf.log(y, name="z")
    y.output.node.inputs = (z.output,)
    with refused(rf"(exp|log) node '[yz]' \(.*{HERE}\) takes '[yz]', which is made of it: a cycle"):
        walk([z.output])


def test_loop_variables_that_change() -> None:
    with refused(r"loop variable 'rows' of while node 'growing' .* is float32\[1, 2\] and becomes float32\[2, 2\]"):
        tf.while_loop(
            lambda rows: tf.reduce_sum(rows) < 3.0,
            lambda rows: tf.concat([rows, rows], 0),
            [tf.ones([1, 2], name="rows")],
            name="growing",
        )
    with refused("branches of cond node .* give"):
        tf.cond(tf.constant(True), lambda: tf.ones([2]), lambda: tf.constant([1, 2]))
    with refused("there are 1 shape_invariants for 2 loop variables"):
        tf.while_loop(lambda a, b: a < 1.0, lambda a, b: (a, b), [0.0, 1.0], shape_invariants=[[]])
    wide = tf.placeholder(tf.float32, [None])
    chosen = tf.cond(wide, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    with tf.Session() as session, refused(r"the condition of cond node .* has shape \(2,\)"):
        session.run(chosen, {wide: [1, 0]})


def test_python_that_asks_for_a_value() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with refused(rf"input node 'x' \(.*{HERE}\) has no value before the graph runs"):
        assert x > 0 if bool(x) else None
    with refused("a write in place has no place"):
        x.add_(1.0)


def test_what_fails_when_it_runs_names_its_node() -> None:
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    product = tf.matmul(x, y, name="product")
    broken = tf.py_func(lambda value: 1 // 0, [x], tf.float32, name="broken")
    with tf.Session() as session:
        with refused(rf"matmul node 'product' \(.*{HERE}\) failed: RuntimeError: matmul: "):
            session.run(product, {x: np.zeros((2, 3)), y: np.zeros((2, 3))})
        with refused(rf"py_func node 'broken' \(.*{HERE}\) failed: ZeroDivisionError"):
            session.run(broken, {x: 1})


def test_what_fails_in_a_later_turn_of_a_loop_names_its_node() -> None:
    def inverse(value: np.ndarray) -> np.ndarray:
        return np.float64(1 // (3 - int(value)))

    def body(i: tf.Tensor) -> tf.Tensor:
        return i + tf.cast(tf.abs(tf.py_func(inverse, [i], tf.float64, name="inverse")) * 0.0 + 1.0, tf.int32)

    last = tf.while_loop(lambda i: i < 10, body, [tf.constant(0)])
    with tf.Session() as session, refused(rf"py_func node 'while/body/inverse' \(.*{HERE}\) failed: Zero"):
        session.run(last)


def test_variables_and_sessions() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with refused(rf"initial value of a Variable depends on input node 'x' \(.*{HERE}\)"):
        tf.Variable(x * 2.0)
    with refused("needs an initial value"):
        tf.Variable()
    with refused("no variable has a gradient"):
        tf.train.GradientDescentOptimizer(0.1).minimize(x, var_list=[tf.Variable(1.0)])
    session = tf.Session()
    session.close()
    with refused("the session is closed"):
        session.run(tf.constant(1.0))
    with refused("no session is entered here"):
        x.eval()
    with pytest.raises(AttributeError, match="has no 'sparse_tensor'"):
        _ = tf.sparse_tensor
    with pytest.raises(AttributeError, match=r"has no 'Session.partial_run'\nhint: fetch what the first part gives"):
        _ = session.partial_run


def test_functions_that_are_called_otherwise_than_traced() -> None:
    def cube(x: gs.Tensor) -> gs.Tensor:
        return (x**3).sum()

    with refused(r"'cube' can't be called with 0 examples: missing a required argument: 'x'"):
        jit.trace(cube)
    with refused("a function is traced, not Tensor"):
        jit.trace(gs.ones(2))
    with refused("script takes a function, not int"):
        jit.script(3)
    step = jit.value_and_grad(cube, gs.ones(2))
    with refused("'cube' takes 1 tensors, and was given 0 arguments"):
        step()
    with refused("'cube' takes 1 tensors, and was given a ndarray"):
        step(np.ones(2))


def test_cures_fit_what_is_wrong() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="features")
    with pytest.raises(StaticError, match=r"transpose one of them"):
        tf.matmul(x, tf.ones([4, 2]))
    with pytest.raises(StaticError, match=r"shapes \(\?, 3\) and \(4,\) do not fit: dim -1 is 3 and 4"):
        x + tf.ones([4])
    with refused(rf"backward\(\) of sum node .*\(.*{HERE}\), which has no value"):
        x.sum().backward()
    with tf.Session() as session:
        with pytest.raises(StaticError, match="did you mean features"):
            session.run("feature:0")
        with refused("was fed complex numbers"):
            session.run(x, {x: np.ones((2, 3), complex)})
