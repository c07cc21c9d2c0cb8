"""Sessions of TensorFlow 1, recorded and debugged; TensorFlow alone says what they compute."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphscope.eventlog.reader import Log, load
from tests.frameworks.recorded import recorded_whole
from tests.frameworks.referee import programs

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]
pytest.importorskip("tensorflow")

PROGRAMS = programs(Path(__file__).parents[1] / "frameworks" / "tensorflow1_programs")

HEAD = """\
import numpy as np
import tensorflow.compat.v1 as tf
{behaviour}
tf.set_random_seed(3)
"""

STATEFUL = """\
x = tf.placeholder(tf.float32, [2], name="x")
w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
count = tf.get_variable("count", [], initializer=tf.zeros_initializer(), trainable=False)
noise = tf.random_uniform([2], seed=1, name="noise")
h = tf.multiply(x, w, name="h")
k = tf.add(h, noise, name="k")
loss = tf.reduce_sum(k * k, name="loss")
train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
counted = tf.assign_add(count, 1.0, name="counted")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(2):
        values = sess.run([loss, train, noise, counted], {x: [1.0, 2.0]})
        print("run", step, float(values[0]), values[2].tolist(), values[3])
    print("w", sess.run(w).tolist())
"""

REFERENCES, RESOURCES = "tf.disable_v2_behavior()", "tf.disable_eager_execution()"


def run(folder: Path, text: str, *arguments: str, behaviour: str = REFERENCES) -> subprocess.CompletedProcess[str]:
    """Run a program under the arguments of `graphscope`, or bare without any."""
    program = folder / "program.py"
    program.write_text(HEAD.format(behaviour=behaviour) + text, encoding="utf-8")
    command = [sys.executable, *(("-m", "graphscope", *arguments) if arguments else ()), str(program)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def debug(folder: Path, text: str, *commands: str, behaviour: str = REFERENCES) -> subprocess.CompletedProcess[str]:
    """Run a program at the console."""
    asked = [word for command in (*commands, "q") for word in ("-c", command)]
    return run(folder, text, "debug", "--console", *asked, behaviour=behaviour)


def printed(text: str) -> list[str]:
    """What the program printed."""
    return [line for line in text.splitlines() if line.startswith(("run ", "w "))]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_what_they_print_bare_and_their_nodes_are_at_lines(program: Path, tmp_path: Path) -> None:
    _, gradients = recorded_whole(program, tmp_path / "run.gscope")
    assert gradients.named == gradients.printed


@pytest.mark.parametrize("behaviour", [REFERENCES, RESOURCES])
def test_state_changes_once_where_a_debugger_looks_on(tmp_path: Path, behaviour: str) -> None:
    alone = run(tmp_path, STATEFUL, behaviour=behaviour)
    told = debug(tmp_path, STATEFUL, "b name:loss", "c", "c", "c", "c", "c", behaviour=behaviour)

    assert told.stdout.count("(breakpoint 1: name:loss)") >= 4
    assert printed(told.stdout) == printed(alone.stdout)


def test_an_edited_value_reaches_the_rest_of_the_run_and_what_was_drawn_stays(tmp_path: Path) -> None:
    alone = run(tmp_path, STATEFUL)
    told = debug(tmp_path, STATEFUL, "b name:h forward", "c", "set value = [10, 20]", "cl 1", "c")

    noise = np.array(eval(re.search(r"\[.*\]", printed(alone.stdout)[0])[0]), np.float32)
    assert str(noise.tolist()) in printed(told.stdout)[0]
    k = np.array([10, 20], np.float32) + noise
    loss = float(re.search(r"run 0 (\S+)", printed(told.stdout)[0])[1])
    assert loss == pytest.approx(float((k * k).sum()), rel=1e-6)
    assert printed(told.stdout)[0].endswith(" 1.0")
    assert printed(told.stdout)[1].endswith(" 2.0")


def test_an_edited_cotangent_reaches_the_variable(tmp_path: Path) -> None:
    once = STATEFUL.replace("range(2)", "range(1)")
    told = debug(tmp_path, once, "b name:h backward", "c", "set grad = [1, -1]", "cl 1", "c")

    assert printed(told.stdout)[-1] == "w [0.0, 3.0]"  # 1 less x times what was put there


def test_a_value_that_was_used_at_once_is_said_to_stay(tmp_path: Path) -> None:
    told = debug(tmp_path, STATEFUL, "b name:counted", "c", "set value = 9", "cl 1", "c")

    assert "no other value can be put in the place of counted" in told.stderr
    assert printed(told.stdout) == printed(run(tmp_path, STATEFUL).stdout)


def test_a_breakpoint_before_a_node_names_it_and_its_line(tmp_path: Path) -> None:
    told = debug(tmp_path, STATEFUL, "b name:k before", "c", "c", "c")

    assert re.search(r"> #\d+ AddV2 \(not computed yet\) forward program.py:10 k", told.stdout)
    assert '-> k = tf.add(h, noise, name="k")' in told.stdout


LOOPS = """\
x = tf.placeholder(tf.float32, [], name="x")
_, total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [tf.constant(0), tf.constant(1.0)])
result = tf.cond(total > 5, lambda: total - 5, lambda: total + 5, name="chosen")
(slope,) = tf.gradients(result, [x])
call = None
with tf.Session() as sess:
    print("run", sess.run([result, slope], {x: 2.0}), sess.run(result, {x: 1.0}))
    call = sess.make_callable(tf.constant(1.0))
    print("run", call())
    handle = sess.partial_run_setup([total], [x])
    print("run", sess.partial_run(handle, total, {x: 2.0}))
raise SystemExit(4)
"""


@pytest.mark.parametrize("behaviour", [REFERENCES, RESOURCES])
def test_loops_and_branches_break_no_run_and_what_is_not_seen_is_said_once(tmp_path: Path, behaviour: str) -> None:
    alone = run(tmp_path, LOOPS, behaviour=behaviour)
    recorded = run(tmp_path, LOOPS, "record", "--log", "run.gscope", behaviour=behaviour)

    assert (recorded.returncode, recorded.stdout) == (alone.returncode, alone.stdout)
    assert alone.returncode == 4
    assert recorded.stderr.count("in loops and branches of the graph") == 1
    assert recorded.stderr.count("a partial run of a session is not recorded") == 1
    assert recorded.stderr.count("what make_callable makes is not recorded") == 1
    names = {node.name for node in load(tmp_path / "run.gscope").graph.nodes}
    assert "x" in names
    assert any(name.startswith("gradients") for name in names)


MONITORED = """\
x = tf.placeholder(tf.float32, [2], name="x")
w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
loss = tf.reduce_sum(w * w * x, name="loss")
step = tf.train.get_or_create_global_step()
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=3)]) as sess:
    while not sess.should_stop():
        print("run", sess.run([train, loss], {x: [1.0, 2.0]})[1])
sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
print("w", loss.eval({x: [1.0, 1.0]}), w.eval())
"""


def test_monitored_and_interactive_sessions_are_recorded(tmp_path: Path) -> None:
    alone = run(tmp_path, MONITORED)
    recorded = run(tmp_path, MONITORED, "record", "--log", "run.gscope")

    assert alone.returncode == recorded.returncode == 0
    assert recorded.stdout == alone.stdout
    losses = [node.value for node in load(tmp_path / "run.gscope").graph.select("name:loss forward")]
    assert ["run " + str(np.float32(value)) for value in losses[:3]] == printed(alone.stdout)[:3]


BROKEN = """\
from graphscope.adapters.tensorflow import run_rows
x = tf.placeholder(tf.float32, [2], name="x")
w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
count = tf.assign_add(w, x)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    run_rows.RunRows.op = None
    print("run", sess.run(count, {x: [1.0, 2.0]}).tolist(), sess.run(w).tolist())
"""


def test_a_failure_of_ours_ends_the_recording_and_no_run_happens_twice(tmp_path: Path) -> None:
    recorded = run(tmp_path, BROKEN, "record", "--log", "run.gscope")

    assert recorded.returncode == 0
    assert printed(recorded.stdout) == ["run [2.0, 3.0] [2.0, 3.0]"]
    assert recorded.stderr.count("recording TensorFlow ended") == 1


BUILT_BEFORE = """\
x = tf.placeholder(tf.float32, [3, 2], name="x")
w = tf.get_variable("w", [2, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
optimizer = tf.train.GradientDescentOptimizer(0.1)
((slope, _),) = pairs = optimizer.compute_gradients(loss)
train = optimizer.apply_gradients(pairs)
import graphscope as gs
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    with gs.record("run.gscope"):
        found = sess.run([slope, train, loss], {x: np.arange(6.0).reshape(3, 2)})[0]
np.save("slope.npy", found)
"""


def test_gradients_of_a_graph_that_was_built_before_are_tied_by_what_the_graph_tells(tmp_path: Path) -> None:
    assert run(tmp_path, BUILT_BEFORE).returncode == 0

    log: Log = load(tmp_path / "run.gscope")
    rules = [node for node in log.graph.nodes if node.kind == "grad"]
    assert {"MatMul", "Mean", "Square"} <= {node.op for node in rules}
    assert all(node.forward is not None and node.forward.op == node.op for node in rules)
    (leaf,) = [node for node in log.graph.nodes if node.name == "w" and node.kind == "leaf"]
    np.testing.assert_array_equal(leaf.grad, np.load(tmp_path / "slope.npy"))


WRAPPED = """\
import graphscope.static
w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
loss = tf.reduce_sum(w * w, name="loss")
train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
sess = graphscope.static.debug(tf.Session())
sess.add_tensor_filter("small", lambda datum, tensor: datum.node_name == "loss" and tensor < 1)
sess.run(tf.global_variables_initializer())
for step in range(4):
    print("run", step, sess.run([train, loss])[1])
tf.train.Saver().save(sess, "./kept")
"""


@pytest.mark.skipif(np.__version__ < "2", reason="graphscope.static takes NumPy 2")
def test_a_wrapped_session_stops_at_each_run_and_stays_a_session(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD.format(behaviour=REFERENCES) + WRAPPED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}, capture_output=True, text=True, check=False,
        input="ri\nrun\nri\nrun -f small\nri\nrun -t 9\n", timeout=300,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert re.findall(r"^run +(\d+)$", done.stdout, re.MULTILINE) == ["1", "2", "3"]
    assert printed(done.stdout)[-1] == "run 3 0.03125"
    assert list(tmp_path.glob("kept*"))
