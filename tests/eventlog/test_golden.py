"""Logs of every format there has been stay readable: `tests/golden/` holds one of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphscope.errors import StaticError
from graphscope.eventlog import schema
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.typed import Input
from graphscope.static.replay.recorded_calls import call_of

GOLDEN = Path(__file__).parent.parent / "golden"
KINDS = {
    Kind.LEAF: [0, 1],
    Kind.OP: [2, 3, 4, 5, 6, 15, 16, 17, 18, 19, 28, 29, 30],
    Kind.BACKWARD_BEGIN: [7, 20],
    Kind.GRAD: [8, 9, 10, 11, 21, 22, 23, 24],
    Kind.ACCUMULATE: [12, 25],
    Kind.BACKWARD_END: [13, 26],
    Kind.STEP: [14, 27],
    Kind.PRINT: [31],
}


@pytest.fixture
def log() -> Log:
    return load(GOLDEN / "format-1.zip")


def test_there_is_one_of_each_format() -> None:
    found = sorted(path.name for path in GOLDEN.glob("format-*.zip"))
    assert found == [f"format-{number}.zip" for number in range(1, schema.FORMAT + 1)]


def test_format_1_rows(log: Log) -> None:
    assert (log.first, log.end, log.closed, log.metadata["argv"]) == (0, 32, True, ["train.py"])
    assert {kind: rows for kind in Kind if (rows := np.flatnonzero(log.column("kind") == kind).tolist())} == KINDS
    assert log.rare().tolist() == [7, 13, 14, 20, 26, 27, 31]
    assert log.first_nonfinite() == 28


def test_format_1_node(log: Log) -> None:
    event = log.event(3)
    assert (log.op(event.op).name, event.shape, event.dtype, event.inputs) == (
        "mm",
        (2, 1),
        "float32",
        ((0, 0), (2, 0)),
    )
    assert log.op(event.op).formula
    assert log.op(event.op).vjp
    assert log.value(3).tolist() == [[17], [39]]
    assert log.users(3) == [(4, 0, 0)]
    site = log.site(event.site)
    assert (site.file, site.line, site.column, site.end_column) == ("train.py", 6, 8, 33)
    assert log.source("train.py").splitlines()[site.line - 1].strip() == "y = gs.mm(w, x.reshape(2, 1))"
    assert log.thread(event.thread)["name"] == "MainThread"


def test_format_1_backward(log: Log) -> None:
    gradient, contribution, later = log.event(11), log.event(12), log.event(25)
    assert (gradient.forward, gradient.inputs, gradient.graph_pass) == (3, ((10, 0),), 1)
    assert (contribution.forward, contribution.inputs) == (0, ((11, 0),))
    assert contribution.flags & Flag.FRESH
    assert not later.flags & Flag.FRESH
    assert np.allclose(log.value(12), log.value(11) @ np.array([[5.0, 6.0]]))
    assert log.event(0).flags & Flag.REQUIRES_GRAD


def test_format_1_several_slots_and_many_inputs(log: Log) -> None:
    event = log.event(30)
    assert (event.output_count, event.inputs) == (2, ((1, 0), (1, 0), (0, 0), (1, 0)))
    assert log.outputs(30) == (((2,), "int64"), ((2,), "int64"))
    assert [log.value(30, slot).tolist() for slot in (0, 1)] == [[7, 8], [1, 0]]
    assert log.attrs(log.event(31).attrs) == {"text": "café"}
    assert log.value(6).shape == ()


def test_format_1_says_which_constants_took_part_and_not_where(log: Log) -> None:
    given = log.arguments(4)
    assert (given.operands, dict(given.attributes)) == (None, {"other": 0.01})
    assert log.arguments(3).operands == (Input(0), Input(1))
    assert dict(log.arguments(2).attributes) == {"shape": [2, 1]}
    assert log.graph.node(4).constants == [("other", "0.01")]
    with pytest.raises(StaticError, match="its log has format 1, which does not say where its constants stood"):
        call_of(log.graph.node(4))


def test_format_2_says_where_constants_stood_and_what_varied() -> None:
    log = load(GOLDEN / "format-2.zip")
    assert (log.first, log.end, log.closed, log.metadata["version"]) == (0, 42, True, "0.1.0")
    minus, scaled = log.graph.select("op:sub forward"), log.graph.select("op:mul forward")
    assert [node.arguments.operands for node in minus] == [(1, Input(0))] * 2
    assert [node.arguments.operands[1] for node in scaled] == [0.01, 0.5, 0.01, 1.5]
    (index, _) = log.graph.select("op:getitem forward")
    assert index.arguments.attributes["index"] == (..., 0)
    for node in [*minus, *scaled]:
        np.testing.assert_array_equal(call_of(node).run()[0], node.value)
