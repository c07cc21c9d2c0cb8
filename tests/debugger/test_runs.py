"""tfdbg's words over recorded runs of a session."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
import graphscope.static as tf
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Listing, Message, Stop, ValueResult
from graphscope.eventlog.reader import Log
from tests.debugger.answers import table

pytestmark = pytest.mark.usefixtures("filters")


@pytest.fixture(scope="module")
def log() -> Log:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.Variable([1.0, 2.0], name="w")
        with tf.name_scope("loss"):
            logs = tf.log(x * w, name="log")
            total = tf.reduce_sum(logs, name="total")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(total)
        with gs.record() as log, tf.Session() as session, np.errstate(all="ignore"):
            session.run(total, {x: [1, 1]})
            session.run([train, total], {x: [1, 0]})
    return log


@pytest.fixture
def dbg(log: Log) -> Debugger:
    debugger = Debugger(log)
    interpreter.run(debugger, "goto 1")
    return debugger


def test_run_stops_at_the_first_infinite_tensor(dbg: Debugger) -> None:
    stop = interpreter.run(dbg, "run -f has_inf_or_nan")
    assert isinstance(stop, Stop)
    assert stop.node is not None
    assert (stop.node.name, stop.node.op) == ("loss/log", "log")
    fetched = [("run", 2), ("fetch", "GradientDescent"), ("fetch", "loss/total")]
    assert list(table(dbg, "ri").rows[:3]) == fetched
    states = {row[2]: row[1] for row in table(dbg, "states").rows}
    assert states["x"] == "P H  "
    assert states["loss/log"] == "  H  "
    assert states["loss/total"].strip() == ""
    assert [row[2] for row in table(dbg, "states").rows if row[0]] == ["loss/total"]


def test_run_t_goes_past_runs_of_the_session(dbg: Debugger) -> None:
    interpreter.run(dbg, "run -t 1")
    assert table(dbg, "ri").rows[0] == ("run", 2)


def test_expressions_name_tensors_as_tfdbg_does(dbg: Debugger) -> None:
    interpreter.run(dbg, "run -f has_inf_or_nan")
    found = interpreter.run(dbg, "ev np.isinf(`loss/log:0`).sum() + `x:0`[0]")
    assert isinstance(found, ValueResult)
    assert found.text == "np.float64(2.0)"
    assert isinstance(interpreter.run(dbg, "pt loss/log:0[0:1]"), ValueResult)
    listing = interpreter.run(dbg, "ni -t loss/log")
    assert isinstance(listing, Listing)
    assert "tf.log(x * w" in listing.lines[(listing.current or 0) - listing.first]


def test_filters_are_registered_at_the_prompt_and_by_programs(dbg: Debugger) -> None:
    interpreter.run(dbg, "filter big value.sum() >= 3")
    stop = interpreter.run(dbg, "run -f big")
    assert isinstance(stop, Stop)
    assert stop.node is not None
    assert stop.node.name == "w"
    tf.add_tensor_filter("pair", lambda datum, tensor: tensor.shape == (2,) and datum.op == "mul")
    assert {row[1] for row in table(dbg, "lt -f pair").rows} <= {"mul"}
    assert {"big", "pair"} <= {row[0] for row in table(dbg, "filter").rows}
    assert isinstance(interpreter.answer(dbg, "filter odd"), Message)


def test_without_a_session_the_answer_says_so(log: Log) -> None:
    with gs.record() as plain:
        gs.ones(2) + 1
    debugger = Debugger(plain)
    interpreter.run(debugger, "goto 0")
    assert "No run of a session" in str(interpreter.answer(debugger, "ri"))
