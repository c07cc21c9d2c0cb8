"""tfdbg's words, argument for argument, on a recording of sessions; NumPy says what the values are."""

from __future__ import annotations

from pathlib import Path

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

X = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)


@pytest.fixture(scope="module")
def log() -> Log:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable(np.eye(2, dtype=np.float32), name="w")
        with tf.name_scope("layer"):
            h = tf.nn.relu(tf.matmul(x, w), name="h")
        with tf.control_dependencies([tf.Assert(tf.reduce_all(x < 9), [x], name="small")]):
            loss = tf.reduce_mean(tf.square(h), name="loss")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with gs.record() as log, tf.Session() as session:
            session.run(loss, {x: X})
            session.run([train, loss], {x: X * 2})
    return log


@pytest.fixture
def dbg(log: Log) -> Debugger:
    debugger = Debugger(log)
    interpreter.run(debugger, "goto 1")
    interpreter.run(debugger, "run -nn loss")
    return debugger


def names(dbg: Debugger, line: str) -> list[object]:
    found = table(dbg, line)
    return [row[found.columns.index("name")] for row in found.rows]


def test_expressions_of_lt_match_from_the_beginning_and_ops_in_any_case(dbg: Debugger) -> None:
    assert names(dbg, "lt -n layer") == ["layer/MatMul", "layer/h"]
    assert names(dbg, "lt -n h") == []
    assert names(dbg, "lt -n .*h$") == ["layer/h"]
    assert names(dbg, "lt -t Relu") == names(dbg, "lt -t relu") == ["layer/h"]


def test_lt_sorts_by_tfdbgs_words(dbg: Debugger) -> None:
    assert names(dbg, "lt -s tensor_name") == sorted(names(dbg, "lt"))
    assert names(dbg, "lt -s dump_size -r")[-2:] == ["loss", "All"]  # four bytes, and one
    ops = [row[1] for row in table(dbg, "lt -s op_type").rows if row[1] != row[2]]  # leaves are called by their names
    assert ops == sorted(ops)
    assert "can't sort" in str(interpreter.answer(dbg, "lt -s weight"))


def test_names_are_left_out_of_a_filter(dbg: Debugger) -> None:
    interpreter.run(dbg, "filter large value.max() >= 3")

    assert "x" in names(dbg, "lt -f large")
    assert "x" not in names(dbg, "lt -f large -fenn x$")
    assert "no filter is given" in str(interpreter.answer(dbg, "lt -fenn x"))


def test_a_filter_is_told_of_an_output_as_tfdbg_tells_it(dbg: Debugger) -> None:
    seen = {}

    def note(datum, tensor):
        seen[datum.node_name] = (datum.output_slot, datum.tensor_name, datum.debug_op, datum.shape, datum.dtype)
        return np.array_equal(datum.get_tensor(), tensor) and datum.dump_size_bytes == tensor.nbytes

    tf.add_tensor_filter("note", note)

    assert names(dbg, "lt -f note") == names(dbg, "lt")
    assert seen["layer/h"] == (0, "layer/h:0", "DebugIdentity", (2, 2), "float32")


def test_ni_tells_attributes_dumps_and_the_line(dbg: Debugger) -> None:
    interpreter.run(dbg, "run -ot assign_sub")

    told = dict(table(dbg, "ni -a -d -t loss").rows)
    assert len([what for what in told if str(what).startswith("dump #")]) == 2
    assert any(str(what).startswith("attribute") for what in told)
    assert "tf.reduce_mean" in str(told["traceback"])
    assert isinstance(interpreter.run(dbg, "ni -t loss"), Listing)


def test_li_and_lo_follow_order_without_data(dbg: Debugger) -> None:
    assert names(dbg, "li loss") == ["Square"]
    assert "small" in " ".join(map(str, names(dbg, "li -c loss")))
    assert {"x", "w", "layer/h"} <= set(names(dbg, "li -r loss"))
    assert names(dbg, "li -r -d 2 loss") == ["layer/h", "Square"]
    assert names(dbg, "lo layer/h") == ["Square"]


def test_pt_marks_ranges_takes_slices_and_writes(dbg: Debugger, tmp_path: Path) -> None:
    marked = interpreter.run(dbg, "pt layer/h:0 -r [2,3]")
    assert isinstance(marked, ValueResult)
    assert "«2.0»" in marked.text
    assert "«3.0»" in marked.text
    assert "«1.0»" not in marked.text
    assert "2 of 4" in marked.text
    several = interpreter.run(dbg, "pt x -r [[-inf,-1],[2.5,inf]]")
    assert isinstance(several, ValueResult)
    assert f"{np.count_nonzero((X <= -1) | (X >= 2.5))} of 4" in several.text
    sliced = interpreter.run(dbg, "pt -s x[1,:]")
    assert isinstance(sliced, ValueResult)
    assert (sliced.text, sliced.shape) == ("", (2,))
    interpreter.run(dbg, f"pt x -w {tmp_path / 'x.npy'}")
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), X)
    assert "is no range" in str(interpreter.answer(dbg, "pt x -r [1"))


def test_pt_n_counts_the_times_that_a_tensor_was_made(dbg: Debugger) -> None:
    interpreter.run(dbg, "run -ot assign_sub")

    for number in (0, 1):
        found = interpreter.run(dbg, f"pt -n {number} loss")
        assert isinstance(found, ValueResult)
        expected = np.square(np.maximum(X * (number + 1), 0)).mean()
        assert found.text == repr(np.array(expected))
    assert "was made 2 times" in str(interpreter.answer(dbg, "pt -n 2 loss"))


def test_ls_and_ps_tell_of_the_files_that_made_nodes(dbg: Debugger) -> None:
    assert any(row[0] == __file__ for row in table(dbg, "ls").rows)
    assert table(dbg, "ls -p nowhere").rows == ()
    assert table(dbg, "ls -n layer").rows[0][1] == 2
    listing = interpreter.run(dbg, f"ps {Path(__file__).name} -t")
    assert isinstance(listing, Listing)
    assert any("layer/h:0" in text for _, text in listing.notes)


def test_eval_is_ev(dbg: Debugger) -> None:
    found = interpreter.run(dbg, "eval np.max(`layer/h:0`)")
    assert isinstance(found, ValueResult)
    assert found.text == "np.float32(3.0)"
    python = interpreter.run(dbg, "eval('1 + 1')")
    assert isinstance(python, ValueResult)
    assert python.text == "2"


def test_what_a_word_says_goes_to_a_file(dbg: Debugger, tmp_path: Path) -> None:
    file = tmp_path / "listed.txt"
    assert isinstance(interpreter.run(dbg, f"lt -n layer > {file}"), Message)
    assert "layer/h" in file.read_text(encoding="utf-8")
    interpreter.run(dbg, f"eval '`x`.max() > 1' > {file}")
    assert "True" in file.read_text(encoding="utf-8")
    compared = interpreter.run(dbg, "ev `x`.max() > 1")
    assert isinstance(compared, ValueResult)
    assert compared.text == "np.True_"
    assert "can't write" in str(interpreter.answer(dbg, f"lt > {tmp_path}/no/where.txt"))


def test_what_is_not_met_up_to_the_end_is_said(dbg: Debugger) -> None:
    stop = interpreter.run(dbg, "run -ot Zeta")
    assert isinstance(stop, Stop)
    assert stop.notes == ("no node met `run -ot Zeta` on the way",)
    again = interpreter.run(dbg, "c")
    assert isinstance(again, Stop)
    assert again.notes == ()
