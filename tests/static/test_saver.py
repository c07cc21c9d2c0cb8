"""Savers, collections and the other optimizers of programs of sessions; what is not there says what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
import graphscope.static as tf
from graphscope.errors import StateError, StaticError


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_variables_come_back_from_a_file(tmp_path: Path) -> None:
    w = tf.Variable(np.arange(6.0, dtype=np.float32).reshape(2, 3), name="w")
    with tf.variable_scope("layer"):
        b = tf.get_variable("b", initializer=np.float32(4.0))
    step = tf.Variable(np.int64(7), trainable=False, name="global_step")
    saver = tf.train.Saver()
    with tf.Session() as session:
        path = saver.save(session, tmp_path / "model", global_step=step)
        session.run([w.assign_add(np.ones((2, 3), np.float32)), b.assign(0.0), step.assign_add(1)])
        saver.restore(session, path)
        found = session.run([w, b, step])
    assert path == str(tmp_path / "model-7")
    np.testing.assert_array_equal(found[0], np.arange(6.0).reshape(2, 3))
    assert [float(each) for each in found[1:]] == [4.0, 7.0]
    kept = gs.load(f"{path}.safetensors")  # other programs read it, too
    assert sorted(kept) == ["global_step", "layer/b", "w"]


def test_the_newest_few_are_kept(tmp_path: Path) -> None:
    w = tf.Variable(0.0, name="w")
    saver = tf.train.Saver(max_to_keep=2)
    assert tf.train.latest_checkpoint(tmp_path) is None
    for number in (1, 2, 3, 3):
        w.load(number)
        saver.save(None, str(tmp_path / "m"), global_step=number)
    newest = tf.train.latest_checkpoint(tmp_path)
    assert newest == saver.last_checkpoints[-1] == str(tmp_path / "m-3")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["checkpoint", "m-2.safetensors", "m-3.safetensors"]
    assert [tf.train.checkpoint_exists(tmp_path / name) for name in ("m-1", "m-2")] == [False, True]


def test_some_variables_under_other_names(tmp_path: Path) -> None:
    old, other = tf.Variable([1.0, 2.0], name="old"), tf.Variable([9.0], name="other")
    path = tf.train.Saver([old, other]).save(None, tmp_path / "m")
    new = tf.Variable([0.0, 0.0], name="new")
    tf.train.Saver({"old": new}).restore(None, path)
    assert new.array_now.tolist() == [1.0, 2.0]


def test_a_file_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable([5.0], name="v")
    path = tf.train.Saver().save(None, tmp_path / "m")
    w.load([3.0, 4.0])
    wrong = tf.Variable([0.0, 0.0, 0.0], name="wrong")
    for given, message in (({"w": w, "v": wrong}, "'v' has shape \\(3,\\), and shape \\(1,\\) in"),
                           ({"w": w, "u": v}, "has no variable 'u': it has v, w")):  # fmt: skip
        with pytest.raises(StaticError, match=message):
            tf.train.Saver(given).restore(None, path)
    assert w.array_now.tolist() == [3.0, 4.0]
    with pytest.raises(StaticError, match=r"there is no file .*n.safetensors\nhint: .*latest_checkpoint"):
        tf.train.Saver().restore(None, tmp_path / "n")
    with pytest.raises(StaticError, match="there is no folder"):
        tf.train.Saver().save(None, tmp_path / "not there" / "m")
    Path(f"{path}.safetensors").write_bytes(b"\xff" * 40)
    with pytest.raises(StateError):
        tf.train.Saver([w]).restore(None, path)
    with pytest.raises(StaticError, match="two variables to save are called 'w'"):
        tf.train.Saver([w, w])


def test_a_saver_wants_variables() -> None:
    with pytest.raises(StaticError, match="there are no variables to save"):
        tf.train.Saver()


def test_collections() -> None:
    w = tf.Variable(1.0, name="a/w")
    kept = tf.Variable(2.0, trainable=False, collections=["mine"], name="b/w")
    tf.add_to_collection(tf.GraphKeys.LOSSES, "one")
    tf.add_to_collections([tf.GraphKeys.LOSSES, "mine"], w)
    assert tf.get_collection("losses") == ["one", w]
    assert tf.get_collection("mine") == [kept, w]
    assert tf.get_collection("mine", scope="a/") == [w]
    assert tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES) == tf.global_variables() == [w]
    assert tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [w]
    tf.get_collection("losses").append("a copy")
    tf.get_collection_ref("losses").append("kept")
    assert tf.get_default_graph().get_collection("losses") == ["one", w, "kept"]
    assert tf.get_collection("nothing") == []


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_optimizers_go_as_their_formulas_say(momentum: float) -> None:
    made = [tf.Variable([1.0, -2.0], name=name) for name in ("adagrad", "rms")]
    with tf.Session() as session:
        optimizers = [tf.train.AdagradOptimizer(0.3), tf.train.RMSPropOptimizer(0.1, 0.8, momentum)]
        steps = [each.minimize(tf.reduce_sum(w**2), var_list=[w]) for each, w in zip(optimizers, made, strict=True)]
        for _ in range(3):
            session.run(steps)
        found = session.run(made)
    x, y = np.array([1.0, -2.0]), np.array([1.0, -2.0])
    total, average, moved = 0.1, 1.0, 0.0
    for _ in range(3):
        total = total + (2 * x) ** 2
        x = x - 0.3 * 2 * x / np.sqrt(total)
        average = 0.8 * average + 0.2 * (2 * y) ** 2
        moved = momentum * moved + 0.1 * 2 * y / np.sqrt(average + 1e-10)
        y = y - moved
    np.testing.assert_allclose(found, [x, y], rtol=1e-5)


def test_what_is_not_there_says_what_to_do() -> None:
    with pytest.raises(AttributeError, match="no 'summary'\nhint: record the runs"):
        _ = tf.summary
    with pytest.raises(StaticError, match=r"no 'train.Coordinator'\nhint: feed arrays"):
        _ = tf.train.Coordinator
    assert not hasattr(tf, "no_such_thing")
    assert not hasattr(tf.train, "no_such_thing")
