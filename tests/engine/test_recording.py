"""A recording changes nothing: the same values and gradients, and every one of them is in the log."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.op import OPS
from graphscope.eventlog.schema import Flag, Kind, Pass
from tests.engine.sampling import SAMPLES, arguments, flat, name_of, run, tensors


def events_of(log):
    log.refresh()
    return [log.event(row) for row in range(log.first, log.end)]


@pytest.mark.parametrize(("op", "sample"), SAMPLES, ids=name_of)
def test_an_op_in_the_log(op, sample):
    made, attrs = arguments(op, sample, "float32")
    bare = tensors(made)
    expected = run(op, bare, attrs)
    if expected.node is not None:
        expected.sum().backward()
    given = tensors(made)
    with gs.record() as log:
        out = run(op, given, attrs)
        if out.node is not None:
            out.sum().backward()
    events = events_of(log)
    if op.composite:
        inside = [
            e for e in events if e.scope and (log.scope(e.scope).name, log.scope(e.scope).type) == (op.name, "op")
        ]
        assert [inside[0].kind, inside[-1].kind] == [Kind.SCOPE_ENTER, Kind.SCOPE_EXIT]
        return
    rows = [e for e in events if e.kind == Kind.OP and log.op(e.op).name == op.name]
    np.testing.assert_array_equal(log.value(rows[-1].row if op.name != "sum" else rows[0].row), expected.data)
    assert rows[0].shape == expected.shape
    assert rows[0].dtype == expected.dtype.name
    assert bool(rows[0].flags & Flag.IN_PLACE) == op.in_place
    leaves = [e.row for e in events if e.kind == Kind.LEAF]
    pairs = [(x, y) for x, y in zip(flat(given), flat(bare), strict=True) if isinstance(x, gs.Tensor)]
    for leaf, (mine, other) in zip(leaves, pairs, strict=True):
        if other.grad is not None:
            np.testing.assert_array_equal(mine.grad.data, other.grad.data)
            parts = [e for e in events if e.kind == Kind.ACCUMULATE and e.forward == leaf]
            np.testing.assert_allclose(sum(log.value(e.row) for e in parts), other.grad.data, rtol=1e-6)


def test_every_op_can_be_described():
    for op in OPS.values():
        text = op.describe()
        assert set(text) == {"name", "formula", "doc", "vjp", "inputs"}
        assert all(isinstance(part, str) for part in text["vjp"])
    assert OPS["mul"].describe()["vjp"] == ["g * y", "g * x"]
    assert OPS["sign"].describe()["vjp"] == ["g * 0"]
    assert OPS["eq"].describe()["vjp"] == ["no gradient", "no gradient"]


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
