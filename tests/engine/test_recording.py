"""A recording changes nothing: the same values and gradients, and every one of them is in the log."""

from __future__ import annotations

import functools
import operator
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core.op import OPS, VJP
from graphscope.engine.ops.flat_rules import refused
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import Graph
from tests.engine.sampling import arguments, flat, name_of, results, run, tensors


def events_of(log):
    log.refresh()
    return [log.event(row) for row in range(log.first, log.end)]


def differentiated(op, made, attrs):
    """The inputs and results of a call, after a backward pass from all that has a gradient."""
    given = tensors(made)
    outs = results(run(op, given, attrs))
    wanting = [out for out in outs if out.requires_grad and not any(vjp and vjp.rule is refused for vjp in op.vjps)]
    if wanting:
        functools.reduce(operator.add, [out.real.sum() for out in wanting]).backward()
    return given, outs


@pytest.fixture(scope="module")
def runs():
    """One log in which each op ran with its first sample; by name what the op was given, and where its events are."""
    found = {}
    with gs.record() as log:
        for op in OPS.values():
            log.refresh()
            first = log.end
            given, _ = differentiated(op, *arguments(op, op.samples[0], "float32"))
            log.refresh()
            found[op.name] = given, [log.event(row) for row in range(first, log.end)]
    return log, found


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS.values(), ids=name_of)
def test_an_op_in_the_log(op, runs):
    bare, expected = differentiated(op, *arguments(op, op.samples[0], "float32"))
    log, found = runs
    given, events = found[op.name]
    if op.composite:
        inside = [
            e for e in events if e.scope and (log.scope(e.scope).name, log.scope(e.scope).type) == (op.name, "op")
        ]
        edges = [e.kind for e in inside if e.kind in (Kind.SCOPE_ENTER, Kind.SCOPE_EXIT)]
        assert edges == [Kind.SCOPE_ENTER, Kind.SCOPE_EXIT]
        return
    rows = [e for e in events if e.kind == Kind.OP and log.op(e.op).name == op.name]
    if len(expected) == 1:
        value = log.value(rows[-1].row if op.name != "sum" else rows[0].row)
        np.testing.assert_array_equal(value, expected[0].array)
        assert rows[0].shape == expected[0].shape
        assert rows[0].dtype == expected[0].dtype.name
    is_written = op.in_place or op.name == "copy_slices"  # the tensor that a view was written of
    assert bool(rows[0].flags & Flag.IN_PLACE) == is_written
    leaves = [e.row for e in events if e.kind == Kind.LEAF and e.flags & Flag.REQUIRES_GRAD]
    pairs = zip(flat(given), flat(bare), strict=True)
    pairs = [(x, y) for x, y in pairs if isinstance(x, gs.Tensor) and x.requires_grad]
    for leaf, (mine, other) in zip(leaves, pairs, strict=False):
        if other.grad is not None:
            np.testing.assert_array_equal(mine.grad.array, other.grad.array)
            parts = [e for e in events if e.kind == Kind.ACCUMULATE and e.forward == leaf]
            np.testing.assert_allclose(sum(log.value(e.row) for e in parts), other.grad.array, rtol=1e-5, atol=1e-6)


def test_every_op_can_be_described():
    for op in OPS.values():
        text = op.describe()
        assert set(text) >= {"name", "formula", "doc", "vjp", "inputs"}
        assert all(isinstance(part, str) for part in text["vjp"])
    assert OPS["mul"].describe()["vjp"] == ["g * y", "g * x"]
    assert OPS["sign"].describe()["vjp"] == ["0"]
    assert OPS["eq"].describe()["vjp"] == ["no gradient", "no gradient"]


def test_a_rule_whose_source_is_not_there_has_its_name() -> None:
    found = {}
    exec("def spread(g, x, *, dim): return g", found)
    rule = VJP.of(found["spread"])
    assert (rule.needs, rule.attrs, rule.text) == (("x",), ("dim",), "spread")


def test_the_ops_of_a_rule_are_rows_under_create_graph():
    x = gs.tensor([2.0], requires_grad=True)
    with gs.record() as log:
        (first,) = gs.grad((x * x * x).sum(), x, create_graph=True)
        first.sum().backward()
    assert x.grad.tolist() == [12.0]
    made = [e for e in events_of(log) if e.flags & Flag.CREATE_GRAPH]
    assert made
    for event in made:
        assert event.graph_pass == Pass.BACKWARD
        assert log.event(event.forward).kind == Kind.GRAD


def test_what_was_made_before_a_recording_and_in_an_earlier_one():
    x = gs.tensor([2.0], requires_grad=True)
    early = x * 3
    with gs.record() as first:
        middle = early * x
    with gs.record() as second:
        middle.sum().backward()
    assert x.grad.tolist() == [12.0]
    assert len(events_of(first)) == 3
    assert {e.kind for e in events_of(second)} >= {Kind.OP, Kind.GRAD, Kind.BACKWARD_END}


def test_threads_record_side_by_side():
    results = []

    def work(n):
        x = gs.full((10,), float(n), requires_grad=True)
        for _ in range(50):
            (found,) = gs.grad((x * x).sum(), x)
        results.append(found.tolist() == [2.0 * n] * 10)

    with gs.record() as log:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [True] * 4
    events = events_of(log)
    for event in events:
        for row, _ in event.inputs:
            assert events[row].thread == event.thread
    assert sum(e.kind == Kind.OP for e in events) == 4 * 50 * 2


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads give way to each other at nearly every instruction."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_meet_one_line_with_shapes_that_are_new_to_it(impatient: None) -> None:
    def work(first: int) -> None:
        x = None
        for turn in range(400):
            x = gs.ones(1 + (turn * 7 + first) % 15, requires_grad=True) * 2.0
        ended.append(x)

    for _ in range(20):
        ended: list[Any] = []
        with gs.record(values="none") as log:
            threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(ended) == 4
        assert len(Graph(log).select("op:mul forward")) == 4 * 400
