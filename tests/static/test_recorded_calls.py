"""Recorded calls made again: for every op of the engine what was recorded, and gradients that differences confirm."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message, TableResult
from graphscope.engine.core.op import OPS, VJP, Op
from graphscope.errors import StaticError
from graphscope.static.replay import gradient_checks, slices
from graphscope.static.replay.recorded_calls import call_of
from tests.engine.sampling import DIFFERENTIABLE, arguments, flat, run, tensors

RANDOM = {
    "bernoulli", "bernoulli_", "exponential_", "normal_", "poisson", "random_", "uniform_",
}  # fmt: skip
"""Ops that draw their numbers as they run: they are refused."""


NAMES = sorted({op.name for op, _ in DIFFERENTIABLE if not op.composite})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if place % 12 == 0 else pytest.mark.slow) for place, name in enumerate(NAMES)]
)
def test_recorded_calls_of_every_op_are_made_again_with_other_inputs(name: str) -> None:
    op = OPS[name]
    for sample in [sample for each, sample in DIFFERENTIABLE if each.name == name]:
        made, attrs = arguments(op, sample)
        changed = [other(each) for each in made]
        with gs.record() as log:
            run(op, tensors(made), attrs)
        node = [node for node in log.graph.at(log.end - 1).nodes if node.kind == "op" and node.op == name][-1]
        if name in RANDOM:
            with pytest.raises(StaticError, match="does not give what was recorded"):
                call_of(node)
            return
        call = call_of(node)
        for found in gradient_checks.rules(call):
            assert found.size is None or found.gap < 1e-4, name
        given = tensors(changed)
        arrays = [np.array(each) for each in flat(changed) if isinstance(each, np.ndarray)]
        before = [each for each in flat(made) if isinstance(each, np.ndarray)]
        result = run(op, given, attrs)  # which may write into them
        expected = result[0] if isinstance(result, tuple) else result
        found = call.with_inputs(
            {
                number: next(
                    array
                    for array, old in zip(arrays, before, strict=True)
                    if np.array_equal(old, call.inputs[place], equal_nan=old.dtype.kind in "fc")
                )
                for number, place in enumerate(call.places)
            }
        ).run()[0]
        np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-5, atol=1e-12, equal_nan=True)


def other(value: Any) -> Any:
    """Another value of the same kind: floating numbers are moved a little, all else is kept."""
    if isinstance(value, list | tuple):
        return type(value)(other(each) for each in value)
    return np.asarray(value * 0.9 + 0.01 * value**2) if getattr(value, "dtype", np.dtype(int)).kind == "f" else value


@pytest.fixture
def log() -> gs.eventlog.reader.Log:
    with gs.record() as log:
        w = gs.tensor([[0.5, -1.0], [0.25, 2.0]], requires_grad=True)
        x = gs.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
        h = (x @ w).tanh()
        loss = ((1.5 - h) * h).mean()
        loss.backward()
    return log


def end(log: gs.eventlog.reader.Log) -> Debugger:
    debugger = Debugger(log)
    interpreter.run(debugger, "goto loss")
    debugger.stand(debugger.log.end - 2)
    return debugger


def test_numbers_take_the_places_that_they_had(log: gs.eventlog.reader.Log) -> None:
    (node,) = log.graph.at(log.end - 1).select("op:sub forward")
    call = call_of(node)
    assert call.inputs[0] == 1.5
    assert call.places == (1,)


def test_replay_forward_is_what_the_program_would_have_computed(log: gs.eventlog.reader.Log) -> None:
    graph = log.graph.at(log.end - 1)
    loss, w = graph.select("op:mean forward")[-1], graph.select("name:w")[0]
    x = np.float32([[1, 2], [3, -1], [0.5, 0.5]])
    new = np.asarray(w.value) * np.float32(0.5)
    h = np.tanh(x @ new)
    found = slices.forward(graph, loss, {w.row: new})
    np.testing.assert_allclose(found[loss.row, 0], ((1.5 - h) * h).mean(), rtol=1e-6)
    with pytest.raises(StaticError, match=r"#0 w has shape \(2, 2\)"):
        slices.forward(graph, loss, {w.row: [1.0]})


def test_replay_backward_gives_what_was_recorded_and_follows_another_cotangent(log: gs.eventlog.reader.Log) -> None:
    graph = log.graph.at(log.end - 1)
    loss, w = graph.select("op:mean forward")[-1], graph.select("name:w")[0]
    (h,) = graph.select("op:tanh forward")
    np.testing.assert_allclose(slices.backward(graph, loss)[w.row], w.grad, rtol=1e-6)
    twice = slices.backward(graph, loss, {h.row: 2 * np.asarray(h.grad)})
    np.testing.assert_allclose(twice[w.row], 2 * np.asarray(w.grad), rtol=1e-6)


def test_commands(log: gs.eventlog.reader.Log) -> None:
    debugger = end(log)
    checked = interpreter.run(debugger, "check h")
    assert isinstance(checked, TableResult)
    assert [row[-1] for row in checked.rows] == ["agrees"]
    invoked = interpreter.run(debugger, "invoke h x=np.zeros((3, 2))")
    assert isinstance(invoked, TableResult)
    assert invoked.rows[0][2] == "0 .. 0, mean 0"
    replayed = interpreter.run(debugger, "replay loss w=w * 0")
    assert isinstance(replayed, TableResult)
    assert replayed.rows[-1][1:4:2] == ("loss", "0.")
    back = interpreter.run(debugger, "replay -b loss")
    assert isinstance(back, TableResult)
    assert {row[1]: row[-1] for row in back.rows}["w"] == "0"
    for line in ("check w", "invoke h q=1", "invoke h 1 +", "replay loss w=1/0"):
        assert isinstance(interpreter.answer(debugger, line), Message), line


def test_a_wrong_rule_is_found(log: gs.eventlog.reader.Log) -> None:
    graph = log.graph.at(log.end - 1)
    call = call_of(graph.select("op:tanh forward")[0])
    wrong = (VJP.of(lambda g, out: g * (1 - out)),)
    op = Op("wrong", "", formula="", forward=np.tanh, vjps=wrong, samples=())
    assert gradient_checks.rules(call)[0].gap < 1e-6
    assert gradient_checks.rules(dataclasses.replace(call, op=op))[0].gap > 1e-3
