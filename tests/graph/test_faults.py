"""Which nodes of a log hold NaN or Inf, where marks hold such numbers, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import graphscope as gs
from graphscope.diagnose import every
from graphscope.eventlog.nonfinite import rows_with_nonfinite
from graphscope.eventlog.reader import load
from graphscope.eventlog.record import record
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph import Graph
from graphscope.graph.faults import fault_rows, flagged_faults, nonfinite_rows
from tests.graph.conftest import Tape

MOST: Final = 1000


def test_what_a_person_put_there_counts_for_the_node_and_the_mark_is_none(tape: Tape) -> None:
    spoilt = tape.leaf([1.0, 2.0], "spoilt")
    tape.writer.mark(Kind.EDIT, inputs=(spoilt,), value=np.float32([1.0, np.nan]))
    right = tape.leaf([np.nan, 2.0], "right")
    tape.writer.mark(Kind.EDIT, inputs=(right,), value=np.float32([1.0, 3.0]))
    sum_ = tape.op("add", spoilt, right)
    tape.writer.mark(Kind.EDIT, inputs=(sum_,), value=np.float32([np.inf, 1.0]))
    graph = Graph(tape.log())
    assert list(nonfinite_rows(graph.log)) == [spoilt, sum_]
    assert list(nonfinite_rows(graph.log, spoilt + 1)) == [sum_]
    assert list(nonfinite_rows(graph.log, None, sum_)) == [spoilt]
    assert list(fault_rows(graph)) == list(flagged_faults(graph, MOST)) == [spoilt, sum_]
    assert list(fault_rows(graph.at(right))) == [spoilt]
    assert [(found.row, found.cause) for found in every()["nan"].findings(graph)] == [(spoilt, "edited")]


@pytest.mark.parametrize("options", [{"values": "none"}, {"values": "summary"}, {"keep_last": 1}, {}], ids=str)
def test_a_loss_that_is_not_finite_is_no_node_again_where_its_backward_pass_begins(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with record(tmp_path / "run.gscope", **options):
        w = gs.zeros(2000, requires_grad=True)
        optimizer = gs.optim.SGD([w], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            loss = w.log().sum()
            loss.backward()
            optimizer.step()
    log = load(tmp_path / "run.gscope")
    expected = [row for row in range(log.first, log.end) if log.event(row).kind in NODES and log.nonfinite(row)]
    assert {log.event(row).kind for row in expected} >= {Kind.OP, Kind.ACCUMULATE}
    graph = Graph(log)
    assert list(rows_with_nonfinite(log)) == list(nonfinite_rows(log)) == expected
    assert list(fault_rows(graph)) == list(flagged_faults(graph, MOST)) == expected
