"""What a call was given comes out of a log as it went in: of any types, whichever of its numbers lie in the rows."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
from graphscope.eventlog import arguments
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.typed import Dtype, Input, Other, Outline, Structure

NUMBERS = st.integers(-(1 << 70), 1 << 70) | st.floats() | st.integers(-3, 3)
PLAIN = st.none() | st.booleans() | st.text() | NUMBERS | st.builds(Input, st.integers(0, 3)) | st.just(...)
PLAIN |= st.complex_numbers() | st.sampled_from([Dtype("float32"), Other("device", "cpu"), Outline("int64", (70, 2))])
PLAIN |= st.builds(slice, st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 9), st.none() | st.integers(1, 3))
PLAIN |= st.lists(st.integers(-9, 9), max_size=5).map(lambda values: np.array(values, np.int32))
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), PLAIN, max_size=2).map(lambda fields: Structure("Windows", fields))
    ),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(VALUES, max_size=4), st.dictionaries(st.text(max_size=3), VALUES, max_size=3), st.data())
def test_arguments_come_back(operands: list[Any], attributes: dict[str, Any], data: st.DataObject) -> None:
    numbers: list[Any] = []
    arguments.separated((tuple(operands), attributes), numbers)
    varying = data.draw(st.lists(st.integers(0, len(numbers) - 1), unique=True).map(sorted)) if numbers else []
    told = json.loads(json.dumps(arguments.entry(operands, attributes, varying), allow_nan=False))
    held = [arguments.bits(numbers[place]) & (1 << 64) - 1 for place in varying]
    found = arguments.of_entry(told, 4, held.__getitem__)
    assert repr(found.operands) == repr(tuple(operands))
    assert repr(dict(found.attributes)) == repr(attributes)


def test_numpy_scalars_and_objects_are_told_by_value_and_text() -> None:
    class Mute:
        def __str__(self) -> str:
            raise RuntimeError

    told = arguments.entry([np.float32(0.5), np.dtype("int8"), Mute(), 2**80], {})
    found = arguments.of_entry(json.loads(json.dumps(told)), 0, lambda place: 0)
    assert found.operands == (0.5, Dtype("int8"), Other("Mute", "<Mute>"), 2**80)


DEEP: Any = []
for _ in range(600):
    DEEP = {"tuple": [DEEP]}


@pytest.mark.parametrize(
    "told",
    [
        {"operands": [{"slice": 3}]},
        {"operands": [{}]},
        {"operands": [DEEP]},
        {"attributes": {"x": {"odd": 1}}},
        {"attributes": {"x": {"varying": ["float", "first"]}}},
        {"attributes": {"x": {"array": {"dtype": "S2000000000", "shape": [1], "elements": [1]}}}},
    ],
)
def test_what_is_no_typed_value_is_not_guessed(told: dict[str, Any]) -> None:
    assert arguments.of_entry(told, 1, [7].__getitem__) == arguments.Arguments(None, {})


RUN = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[2:]))
import graphscope as gs
with gs.record(sys.argv[1]):
    x = gs.ones(4, 4, 4)
    for turn in range(400):
        x * (turn / 8)
        turn - x
        x * (2**70 + turn % 2)
        x[turn % 4, 1 : 2 + turn % 3, turn % 2 : 3]
        gs.clamp(x, min=-turn, max=turn if turn % 2 else turn + 0.5)
        gs.add(x, x, alpha=turn)
        gs.topk(x, 1 + turn % 4)
        (x * 1).add_(turn)
"""


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
def test_numbers_that_vary_lie_in_the_rows_and_tables_do_not_grow(tmp_path: Any, compiled: bool) -> None:
    without = () if compiled else ("graphscope.eventlog._append", "graphscope.engine.core._calls")
    subprocess.run([sys.executable, "-c", RUN, tmp_path / "run.gscope", *without], check=True)
    log = load(tmp_path / "run.gscope")
    assert len(log.table("attrs")) < 40
    told: dict[str, list[Any]] = {}
    for row in range(log.first, log.end):
        event = log.event(row)
        if event.kind == Kind.OP:
            told.setdefault(log.op(event.op).name, []).append(log.arguments(row))
    turns = range(400)
    factors = [each.operands[1] for each in told["mul"]]
    assert factors[::3] == [turn / 8 for turn in turns]
    assert factors[1::3] == [2**70 + turn % 2 for turn in turns]
    assert [each.operands[0] for each in told["sub"]] == list(turns)
    assert [each.attributes["index"] for each in told["getitem"]] == [
        (turn % 4, slice(1, 2 + turn % 3, None), slice(turn % 2, 3, None)) for turn in turns
    ]
    assert [each.attributes["max"] for each in told["clamp"]] == [turn if turn % 2 else turn + 0.5 for turn in turns]
    assert [each.attributes["alpha"] for each in told["add_scaled"]] == [turn for turn in turns if turn != 1]
    assert [each.attributes["k"] for each in told["topk"]] == [1 + turn % 4 for turn in turns]
    assert [each.operands[1] for each in told["add_"]] == list(turns)


def test_engine_arguments_of_a_function_of_the_programs_own() -> None:
    class Scaled(gs.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: Any, how: Any) -> Any:
            return x * factor

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, None, None

    with gs.record() as log:
        for factor in (2, 3):
            Scaled.apply(gs.ones(2), factor, object())
    calls = [node for node in log.graph.nodes if node.op == "Scaled" and node.kind == "op"]
    assert [node.arguments.operands for node in calls] == [(Input(0), factor, Other("object", "")) for factor in (2, 3)]
