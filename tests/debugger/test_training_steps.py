"""Training steps as data, for who is no person: what `steps` answers travels as JSON, numbers as numbers."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.debugger import commands as commands  # fills the table
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.interpreter import answer
from graphscope.debugger.json_data import from_json, to_json
from graphscope.debugger.results import Stop, TrainingStep
from tests.debugger.answers import table


@pytest.fixture
def debugger(tmp_path: Path) -> Debugger:
    """At the beginning of a training of 60 steps whose losses are known: w falls from 1 by a tenth each time."""
    with gs.record(tmp_path / "run.gscope"):
        weight = gs.tensor([1.0], requires_grad=True)
        optimizer = gs.optim.SGD([weight], lr=0.1)
        for step in range(100, 160):  # noqa: B007 - the log tells of it
            optimizer.zero_grad()
            (weight * 1.0).sum().backward()
            optimizer.step()
    found = Debugger(gs.load(tmp_path / "run.gscope"))
    answer(found, "restart")
    assert step == 159
    return found


def test_steps_travel_as_json(debugger: Debugger) -> None:
    found = table(debugger, "steps all")
    assert from_json(json.loads(json.dumps(to_json(found)))) == found
    steps = [each for each in found.items if isinstance(each, TrainingStep)]
    assert [each.title for each in steps] == [f"step {number}" for number in range(100, 160)]
    assert [each.counters for each in steps] == [{"step": number} for number in range(100, 160)]
    assert [each.loss for each in steps] == pytest.approx([1 - 0.1 * place for place in range(60)], abs=1e-5)
    assert [each.norm for each in steps] == pytest.approx([1.0] * 60)
    assert [each.rate for each in steps] == pytest.approx([0.1] * 60)
    assert all(one.last + 1 == other.first for one, other in itertools.pairwise(steps))


def test_a_page_goes_on_where_it_says(debugger: Debugger) -> None:
    seen: list[str] = []
    line = "steps 100"
    while line:
        page = table(debugger, line)
        seen += [str(row[1]) for row in page.rows]
        line = page.note.split("`")[1] if "goes on" in page.note else ""
    assert seen == [f"step {number}" for number in range(100, 160)]


def test_the_page_holds_where_one_stands(debugger: Debugger) -> None:
    for number in (100, 130, 159):
        stop = answer(debugger, f"goto step {number}")
        assert isinstance(stop, Stop)
        assert stop.step == f"step {number}"
        page = table(debugger, "steps")
        assert len(page.rows) == 20
        assert [row[1] for row in page.rows if row[0] == ">"] == [f"step {number}"]


def test_a_loss_that_is_no_number_is_told_and_travels(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope"):
        weight = gs.tensor([-1.0], requires_grad=True)
        optimizer = gs.optim.SGD([weight], lr=0.1)
        for step in range(2):  # noqa: B007 - the log tells of it
            optimizer.zero_grad()
            weight.log().sum().backward()
            optimizer.step()
    assert step == 1
    found = table(Debugger(gs.load(tmp_path / "run.gscope")), "steps all")
    again = from_json(json.loads(json.dumps(to_json(found))))
    for one in (found, again):
        first = one.items[0]
        assert math.isnan(first.loss)
        assert first.norm == pytest.approx(1.0)
        assert one.rows[0][2] == "nan"
