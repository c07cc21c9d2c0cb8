"""What a log says of runs of graphs: the same of each run wherever a segment ends, and of gradients what eager says."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
import graphscope.static as tf
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Stop
from graphscope.eventlog import record, retention
from graphscope.eventlog.gate import Replace
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import Kind


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "FIRST_ROWS", 211)
    monkeypatch.setattr(retention, "MOST_ROWS", 211)


Row = tuple[Any, ...]


def runs(log: Log) -> list[list[Row]]:
    """For each whole run its rows: what they say, and of other rows of the run how far back they lie."""
    log.refresh()
    going: dict[int, dict[int, int]] = {}
    rows: dict[int, list[Row]] = {}
    found = []
    for row in range(log.first, log.end):
        event = log.event(row)
        attrs = log.attrs(event.attrs)
        if event.kind == Kind.PRINT and "run" in attrs:
            going[event.thread], rows[event.thread] = {}, []
            continue
        if event.thread not in going:
            continue  # the beginning of this run is gone
        places = going[event.thread]
        places[row] = len(places)
        belongs = places.get(event.forward, "another run") if event.forward else None
        inputs = [(places.get(source, "another run"), slot) for source, slot in event.inputs]
        op = log.op(event.op).name if event.op else ""
        rows[event.thread].append(
            (Kind(event.kind).name, op, attrs.get("name"), event.graph_pass, belongs, inputs, event.shape)
        )
        if event.kind == Kind.STEP:
            found.append(rows.pop(event.thread))
            del going[event.thread]
    return found


def network() -> tuple[Any, Any]:
    """A placeholder, and a step of training."""
    numbers = np.random.default_rng(0)
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.name_scope("h"):
        weights = tf.Variable(numbers.normal(size=(3, 4)).astype(np.float32), name="W")
    last = tf.Variable(numbers.normal(size=(4, 2)).astype(np.float32), name="W2")
    hidden = tf.tanh(tf.matmul(x, weights))
    loss = tf.reduce_mean(tf.square(tf.nn.softmax(tf.identity(tf.matmul(hidden, last)))))
    return x, tf.train.AdamOptimizer(0.01).minimize(loss)


def line() -> tuple[Any, Any]:
    """A placeholder, and a step of training of one variable."""
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.Variable(np.float32([0.3, -0.2]), name="w")
    return x, tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.tanh(tf.identity(x * w) + 1.0)))


def loop() -> tuple[Any, Any]:
    """A placeholder, and the gradient of a loop with a branch in it."""
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.Variable(np.float32([0.3, -0.2]), name="w")

    def turn(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i < 1, lambda: tf.tanh(a * w), lambda: a + w)

    _, last = tf.while_loop(lambda i, a: i < 3, turn, [0, x])
    return x, tf.gradients(tf.reduce_sum(last), [w, x])


@pytest.mark.slow
@pytest.mark.parametrize(("make", "times"), [(line, 1000), (network, 30), (loop, 50)])
def test_every_run_has_the_same_rows_wherever_a_segment_ends(make: Any, times: int, small_segments: None) -> None:
    x, fetch = make()
    given = np.ones([2 if size is None else size for size in x.shape.as_list()], np.float32)
    with gs.record(values="none") as log, tf.Session() as session:
        for _ in range(times):
            session.run(fetch, {x: given})
    found = runs(log)
    assert len(found) == times
    assert all(each == found[0] for each in found[1:])
    assert "GRAD" in {row[0] for row in found[0]}


def test_threads_have_runs_of_their_own(small_segments: None) -> None:
    x, fetch = loop()
    with gs.record(values="none") as log, tf.Session() as session:

        def work() -> None:
            for _ in range(12):
                session.run(fetch, {x: [1, 2]})

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = runs(log)
    assert len(found) == 36
    assert all(each == found[0] for each in found)


def test_a_run_inside_of_a_run_has_rows_of_its_own() -> None:
    x, fetch = loop()
    with tf.Graph().as_default():
        y = tf.placeholder(tf.float32, [2])

        def inner(array: Any) -> Any:
            with tf.Session(graph=x.graph) as session:
                return session.run(fetch, {x: array})[0]

        outer = tf.py_func(inner, [y], tf.float32) * 2.0
        with gs.record() as log, tf.Session() as session:
            session.run(outer, {y: [1, 2]})
    with gs.record() as alone, tf.Session(graph=x.graph) as session:
        session.run(fetch, {x: [1, 2]})
    kinds = [[row[:4] for row in each] for each in (runs(log)[0], runs(alone)[0])]
    assert kinds[0] == kinds[1]


@pytest.mark.slow
def test_a_log_of_the_newest_steps_has_them_whole(small_segments: None) -> None:
    x, step = network()
    with gs.record(keep_last=3) as log, tf.Session() as session:
        for _ in range(40):
            session.run(step, {x: np.ones((2, 3))})
    log.refresh()
    assert log.first > 0
    found = runs(log)
    assert len(found) >= 3
    assert all(each == found[0] for each in found)


def _traced() -> Callable[[], Any]:
    w = gs.tensor([0.3, -0.2])
    run = gs.jit.trace(lambda x: ((x * w).tanh() + x).sum(), gs.ones(2))
    return lambda: run(gs.ones(2))


def _scripted() -> Callable[[], Any]:
    @gs.jit.script
    def run(x, n):  # type: ignore[no-untyped-def]
        for _ in range(3):
            if n < 2:
                x = x.tanh()
            n = n + 1
        return x.sum()

    return lambda: run(gs.ones(2), gs.tensor(0))


def _valued() -> Callable[[], Any]:
    run = gs.jit.value_and_grad(lambda x: ((x * 2.0).tanh() * x).sum(), gs.ones(2))
    return lambda: run(gs.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize("make", [_traced, _scripted, _valued])
def test_graphs_of_functions_run_alike_wherever_a_segment_ends(make: Any, small_segments: None) -> None:
    run = make()
    with gs.record(values="none") as log:
        for _ in range(100):
            record.mark(Kind.PRINT, run=1)
            run()
            gs.step()
    found = runs(log)
    assert len(found) == 100
    ops = [[row[:4] for row in each if row[0] != "LEAF"] for each in found]
    assert all(each == ops[0] for each in ops)
    leaves = [{row[2] for row in each if row[0] == "LEAF"} for each in found]  # what is given may be written again
    assert set().union(*leaves) <= leaves[0] | {"x", "n"}


# Of gradients what eager says ----------------------------------------------------------------------------------------


def rules(log: Log) -> list[tuple[str, list[Any]]]:
    """The rules of a backward pass, each with the gradient that arrived there."""
    log.refresh()
    whole = log.graph.at(log.end - 1)
    found = []
    for node in whole.select("grad"):
        assert node.forward is not None
        found.append((node.op, [(node.output(slot).round(4) + 0.0).tolist() for slot in range(len(node.outputs))]))
    return found


@pytest.mark.slow
def test_bodies_have_the_rules_that_a_scripted_function_has() -> None:
    @gs.jit.script
    def eager(a, w, i):  # type: ignore[no-untyped-def]
        for _ in range(3):
            if i < 1:
                a = (a * w).tanh()
            else:
                a = a + w
            i = i + 1
        return a.sum()

    x, slopes = loop()
    with gs.record() as log, tf.Session() as session:
        found = session.run(slopes, {x: [1, 2]})
    tensors = [gs.tensor(each, requires_grad=True) for each in ([1.0, 2.0], [0.3, -0.2])]
    with gs.record() as other:
        eager(*tensors, gs.tensor(0)).backward()
    np.testing.assert_allclose(found[0], tensors[1].grad.numpy(), rtol=1e-6)
    np.testing.assert_allclose(found[1], tensors[0].grad.numpy(), rtol=1e-6)
    # Rules that hand on what they get are seen as well; expand and cond have no like in the other.
    assert [each for each in rules(log) if each[0] != "expand"] == rules(other)


Step = tuple[str, int, int]
"""An op, and which of the tensors so far it takes."""

OPS: dict[str, Any] = {
    "add": lambda lib, x, y: x + y,
    "sub": lambda lib, x, y: 1.0 - x * y,
    "tanh": lambda lib, x, y: lib.tanh(x),
    "residual": lambda lib, x, y: x + lib.tanh(x),
    "matmul": lambda lib, x, y: lib.matmul(x, y),
    "relu": lambda lib, x, y: lib.relu(x) + y,
    "split": lambda lib, x, y: lib.unbind(x)[0] * lib.unbind(x)[1] + y,
    "half": lambda lib, x, y: lib.unbind(x)[1] + y,
    "index": lambda lib, x, y: x[0] + y,
    "gate": lambda lib, x, y: lib.sigmoid(x) * y,
}


def _programs(draw: st.DrawFn) -> list[Step]:
    return [
        (draw(st.sampled_from(sorted(OPS))), draw(st.integers(0, place + 2)), draw(st.integers(0, place + 2)))
        for place in range(draw(st.integers(1, 8)))
    ]


def _built(steps: list[Step], lib: Any, tensors: list[Any]) -> Any:
    for op, x, y in steps:
        tensors.append(OPS[op](lib, tensors[x], tensors[y]))
    return tensors[-1]


class Edit:
    """A debugger that puts a number in the place of the cotangent of one op, where it arrives."""

    wants_before = False

    def __init__(self, log: Log, op: str) -> None:
        self.log, self.op = log, op

    def before(self, *_: Any) -> None: ...
    def passed(self, *_: Any) -> None: ...

    def after(self, row: int, value: Any, frame: Any, **_: Any) -> Replace | None:
        self.log.refresh()
        event = self.log.event(row)
        meant = event.kind == Kind.GRAD and self.log.op(event.op).name == self.op
        return Replace(np.full_like(value, 0.5)) if meant else None


@pytest.mark.slow
@settings(max_examples=25)
@given(st.composite(_programs)(), st.sampled_from(["", "add", "tanh", "matmul", "unbind"]), st.booleans())
def test_random_graphs_have_the_rules_and_gradients_of_eager_ones(steps: list[Step], edited: str, open: bool) -> None:
    arrays = [np.random.default_rng(place).normal(size=(2, 2)).astype(np.float32) for place in range(3)]
    tensors = [gs.tensor(each, requires_grad=True) for each in arrays]
    with gs.record() as eager:
        record.writer.gate = Edit(eager, edited) if edited else None
        _built(steps, gs, list(tensors)).sum().backward()
    with tf.Graph().as_default(), gs.record() as log, tf.Session() as session:
        symbols: list[Any] = [tf.Variable(each, name="w") for each in arrays[:2]]
        symbols.append(tf.placeholder(tf.float32, [2, None if open else 2], name="x"))
        total = tf.reduce_sum(_built(steps, tf, list(symbols)))
        slopes = [each for each in tf.gradients(total, symbols) if each is not None]
        record.writer.gate = Edit(log, edited) if edited else None
        found = session.run(slopes, {symbols[2]: arrays[2]})
    expected = [tensor.grad.numpy() for tensor in tensors if tensor.grad is not None]
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
    assert sorted((each for each in rules(log) if each[0] != "expand"), key=str) == sorted(rules(eager), key=str)


def test_a_breakpoint_in_a_body_stops_at_the_rule() -> None:
    x, slopes = loop()
    with gs.record() as log, tf.Session() as session:
        session.run(slopes, {x: [1, 2]})
    debugger = Debugger(log)
    interpreter.run(debugger, "b op:tanh backward")
    stop = interpreter.run(debugger, "c")
    assert isinstance(stop, Stop)
    assert stop.node is not None
    assert stop.node.kind == "grad"
    np.testing.assert_array_equal(debugger.lookup()("grad"), [1, 1])


@pytest.mark.slow
def test_variables_keep_their_names_from_step_to_step() -> None:
    x, step = network()
    with gs.record() as log, tf.Session() as session:
        for _ in range(8):
            session.run(step, {x: np.ones((2, 3))})
    log.refresh()
    whole = log.graph.at(log.end - 1)
    for name in ("W2", "h/W"):
        hits = whole.select(f"name:{name} backward")
        assert len(hits) == 8
        assert all(np.any(node.grad) for node in hits)


def test_bodies_run_once_whether_or_not_they_are_differentiated(capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.Variable(2.0, name="x")
    count = tf.Variable(0, name="count")
    yes = tf.placeholder(tf.bool_, [])

    def body() -> Any:
        with tf.control_dependencies([count.assign_add(1)]):
            return tf.Print(x, [x], "seen ") * tf.random_normal([])

    y = tf.cond(yes, body, lambda: x)
    _, z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x * tf.random_normal([])), [0, 1.0])
    slope, through = tf.gradients(y, x)[0], tf.gradients(z, x)[0]
    said = io.StringIO()
    with tf.Session() as session, redirect_stderr(said):
        drawn, found = session.run([y, slope], {yes: True})
        product, gradient = session.run([z, through])
    assert found == pytest.approx(drawn / 2), "of the numbers that were drawn"
    assert gradient == pytest.approx(3 * product / 2)
    assert said.getvalue().count("seen") == 1
    assert count.array_now == 1


@pytest.mark.parametrize("yes", [True, False])
def test_second_gradients_go_through_branches(yes: bool) -> None:
    x = tf.Variable(np.float64([0.5, -1.5]))
    y = tf.placeholder(tf.float64, [2])
    which = tf.placeholder(tf.bool_, [])
    out = tf.cond(which, lambda: tf.tanh(x * y) * x, lambda: tf.cond(which, lambda: x, lambda: x * x * y * y))
    (first,) = tf.gradients(out, x)
    second = tf.gradients(first * first, [x, y])
    third = tf.gradients(second[0], y)
    with tf.Session() as session:
        found = session.run([first, *second, *third], {y: [2, 3], which: yes})
    a, b = gs.tensor([0.5, -1.5], dtype=gs.float64), gs.tensor([2.0, 3.0], dtype=gs.float64)
    for each in (a, b):
        each.requires_grad_()
    eager = (a * b).tanh() * a if yes else a * a * b * b
    (one,) = gs.autograd.grad(eager.sum(), a, create_graph=True)
    two = gs.autograd.grad((one * one).sum(), [a, b], create_graph=True)
    (three,) = gs.autograd.grad(two[0].sum(), b)
    for mine, theirs in zip(found, (one, *two, three), strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-9)


def test_gradients_asked_for_again_and_loops_in_loops() -> None:
    w, v = tf.Variable(np.float64(1.1), name="w"), tf.Variable(np.float64(0.9), name="v")

    def turn(i: Any, a: Any) -> Any:
        _, inner = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, tf.tanh(b * w) + v), [0, a])
        return i + 1, inner * v

    _, out = tf.while_loop(lambda i, a: i < 4, turn, [0, np.float64(0.5)])
    by_w, by_v = tf.gradients(out, w)[0], tf.gradients(out * out, [v, w])[0]
    a, b = (gs.tensor(each, dtype=gs.float64, requires_grad=True) for each in (1.1, 0.9))

    def eager() -> gs.Tensor:
        found = gs.tensor(0.5, dtype=gs.float64)
        for i in range(4):
            for _ in range(i):
                found = (found * a).tanh() + b
            found = found * b
        return found

    with tf.Session() as session:
        first, second = session.run([by_w, by_v])
    np.testing.assert_allclose(first, gs.autograd.grad(eager(), a)[0].item())
    np.testing.assert_allclose(second, gs.autograd.grad(eager() ** 2, b)[0].item())
