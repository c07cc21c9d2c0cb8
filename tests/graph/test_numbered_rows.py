"""Numbers of collectives: they lie in the rows, and in the entries of logs that were recorded before they did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer
from graphscope.graph.arrivals import arrivals
from graphscope.graph.collectives import collectives
from tests.graph.conftest import Tape


def write_numbered(writer: Writer, group: str, number: int, inputs: list[int], encoded: object = None) -> int:
    """Append a mark `WAIT` and the row of a collective, both with their number behind the inputs."""
    encoded = {"varying": ["int", 0]} if encoded is None else encoded
    attrs = writer.attributes({"group": group, "number": encoded, "ranks": [0, 1]})
    writer.append_many(writer.template(Kind.WAIT, attrs=attrs, number_count=1), None, [number])
    template = writer.template(Kind.OP, attrs=attrs, input_count=len(inputs), number_count=1)
    return writer.append_many(template, None, [*inputs, number])


@pytest.mark.parametrize("base", [0, 1000])
def test_numbers_lie_in_rows_of_any_width(tmp_path: Path, base: int) -> None:
    writer = Writer(tmp_path / "run.gscope", base=base)
    leaves = [writer.append(writer.template(Kind.LEAF), None) for _ in range(5)]
    turns = [("a", 0, 0), ("b", 0, 1), ("a", 1, 2), ("a", 2, 3), ("b", 1, 5), ("a", 1 << 40, 3)]
    made = {(group, number): write_numbered(writer, group, number, leaves[:width]) for group, number, width in turns}
    log = load(writer.path)
    groups, found = arrivals(log)
    assert groups == (("a", (0, 1)), ("b", (0, 1)))
    told = [(groups[each["group"]][0], int(each["number"])) for each in found]
    assert told == [(group, number) for group, number, _ in turns]
    assert [*(found["row"] + 1 + base)] == [*made.values()]
    assert not found["waits"].any()
    assert {key: event.row + base for key, event in collectives(log).items()} == made
    for (_, _, width), row in zip(turns, made.values(), strict=True):
        assert [source + base for source, _ in log.inputs(row - base)] == leaves[:width]


def test_a_log_whose_entries_have_the_numbers(tmp_path: Path) -> None:
    """They began again after 65536, so that its table did not grow without end."""
    tape = Tape(tmp_path / "run.gscope")
    x = tape.leaf(np.ones(2), "x")
    numbers = [65534, 65535, 0, 1]
    rows = []
    for number in numbers:
        attrs = {"group": "all", "number": number, "ranks": [0, 1]}
        tape.writer.mark(Kind.WAIT, **attrs)
        rows.append(tape.op("add", x, x, **attrs))
    groups, found = arrivals(tape.log())
    assert groups == (("all", (0, 1)),)
    assert [*found["number"]] == [65534, 65535, 65536, 65537]
    assert [*(found["row"] + 1)] == rows
    assert [*collectives(tape.log())] == [("all", number) for number in numbers]


@pytest.mark.parametrize(
    ("encoded", "numbers"),
    [
        ({"varying": ["int", 99]}, [0]),
        ({"varying": ["int", -1]}, []),
        ({"varying": ["float", 0]}, []),
        ({"varying": 3}, []),
        ({"varying": ["int", 1 << 80]}, []),
        (-1, []),
        (1 << 80, []),
        ("many", []),
    ],
)
def test_damaged_entries(tmp_path: Path, encoded: object, numbers: list[int]) -> None:
    writer = Writer(tmp_path / "run.gscope")
    write_numbered(writer, "a", 5, [], encoded)
    log = load(writer.path)
    assert [*arrivals(log)[1]["number"]] == numbers
    assert [number for _, number in collectives(log)] == numbers
