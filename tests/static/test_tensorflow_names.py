"""TensorFlow 1's own spellings: what they give is what NumPy gives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import graphscope.static as tf
from graphscope.errors import StaticError


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def test_sizes_are_those_of_the_run() -> None:
    x = tf.placeholder(tf.float32, [None, 3, None], name="x")
    assert x.get_shape().as_list() == [None, 3, None]
    with tf.Session() as session:
        shape, size, rank, first = session.run(
            [tf.shape(x), tf.size(x), tf.rank(x), tf.shape(x)[0]], {x: np.zeros((4, 3, 2))}
        )
    assert (shape.tolist(), shape.dtype, size, rank, first) == ([4, 3, 2], np.int32, 24, 3, 4)
    assert tf.shape(tf.zeros([2, 5])).eval(session=tf.Session()).tolist() == [2, 5]


def test_functions_whose_arguments_are_tensorflows() -> None:
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = tf.constant(a)
    cases = [
        (tf.gather(x, [1, 0, 1]), a[[1, 0, 1]]),
        (tf.gather(x, 1), a[1]),
        (tf.gather(x, [[0, 2], [1, 1]], axis=1), a[:, [[0, 2], [1, 1]]]),
        (tf.nn.embedding_lookup(x, [1]), a[[1]]),
        (tf.split(x, 2, axis=2)[1], a[..., 2:]),
        (tf.split(x, [1, 2], axis=1)[1], a[:, 1:]),
        (tf.unstack(x, axis=1)[2], a[:, 2]),
        (tf.reverse(x, axis=[1]), a[:, ::-1]),
        (tf.squeeze(x[:1], axis=[0]), a[0]),
        (tf.argmin(x, 1), a.argmin(1)),
        (tf.cumsum(x, axis=2), a.cumsum(2)),
        (tf.add_n([x, x, x]), 3 * a),
        (tf.squared_difference(x, 1.0), (a - 1) ** 2),
        (tf.mod(x, 5.0), a % 5),
        (tf.floordiv(x, 5.0), a // 5),
        (tf.nn.moments(x, [0, 2])[1], a.var((0, 2))),
        (tf.to_int32(x), a.astype(np.int32)),
    ]
    with tf.Session() as session:
        for (symbol, wanted), found in zip(cases, session.run([symbol for symbol, _ in cases]), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=symbol.name)
    with pytest.raises(StaticError, match="3 rows can't be split into 2 equal parts"):
        tf.split(x, 2, axis=1)


def test_variables_by_name_are_shared_where_that_is_asked_for() -> None:
    def layer(x: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x, tf.get_variable("w", [3, 2])) + tf.get_variable(
            "b", [2], initializer=tf.constant_initializer(0.5)
        )

    x = tf.placeholder(tf.float32, [None, 3])
    with tf.variable_scope("layer"):
        one = layer(x)
    with pytest.raises(StaticError, match="there is a variable 'layer/w' already"), tf.variable_scope("layer"):
        layer(x)
    with tf.variable_scope("layer", reuse=True):
        two = layer(x)
    assert [variable.op.name for variable in tf.trainable_variables()] == ["layer/w", "layer/b"]
    with tf.Session() as session:
        found, again, w = session.run([one, two, "layer/w:0"], {x: np.eye(3)})
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(found, w + 0.5, rtol=1e-6)
    assert np.abs(w).max() <= (6 / 5) ** 0.5
    with pytest.raises(StaticError, match="no variable 'other/w' to reuse"), tf.variable_scope("other", reuse=True):
        layer(x)
    with pytest.raises(StaticError, match="shape of the variable 'free' is not told"):
        tf.get_variable("free")


def test_a_session_for_a_prompt_is_entered_at_once() -> None:
    session = tf.InteractiveSession()
    assert (tf.constant(2.0) * 3.0).eval() == 6.0
    session.close()
    with pytest.raises(StaticError, match="no session is entered here"):
        tf.constant(2.0).eval()


def test_parts_of_a_dim_that_is_not_known_are_told_when_it_runs() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    a = np.arange(8, dtype=np.float32).reshape(4, 2)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.concat(tf.chunk(x, 2), 1), {x: a}), np.hstack([a[:2], a[2:]]))
        assert [part.tolist() for part in session.run(list(tf.unbind(x, 1)), {x: a})] == a.T.tolist()
    for function in (tf.unbind, tf.unstack):
        with pytest.raises(StaticError, match=r"how many parts .* is not known before it runs"):
            function(x)
    halves = tf.split(x, 2)
    with tf.Session() as session:
        assert [part.tolist() for part in session.run(halves, {x: a})] == [a[:2].tolist(), a[2:].tolist()]
        with pytest.raises(StaticError, match="3 rows can't be split into 2 equal parts"):
            session.run(halves, {x: a[:3]})
