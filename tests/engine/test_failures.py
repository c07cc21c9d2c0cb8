"""An op that raises is a node of the log: its inputs, its line, and what it said."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import Flag, Kind


def failure(log: Log) -> tuple[int, dict[str, object]]:
    """The node that the first EXCEPTION row of a log names, and what the row says."""
    log.refresh()
    mark = next(log.event(int(row)) for row in log.rare() if log.event(int(row)).kind == Kind.EXCEPTION)
    ((node, _),) = mark.inputs
    return node, log.attrs(mark.attrs)


@pytest.mark.parametrize("spelling", ["straight", "general", "in place"])
def test_an_op_that_raises_is_a_node(spelling: str, tmp_path: Path) -> None:
    run = {"straight": gs.matmul, "general": lambda x, y: gs.cat([x, y], 0), "in place": lambda x, y: x.add_(y)}
    with gs.record(tmp_path / "run.gscope") as log:
        left, right = gs.ones(4, 3), gs.ones(5, 2)
        with pytest.raises(RuntimeError, match="do not fit"):
            run[spelling](left, right)
    row, said = failure(log)
    event = log.event(row)
    assert event.flags & Flag.FAILED
    assert log.op(event.op).name == {"straight": "matmul", "general": "cat", "in place": "add_"}[spelling]
    assert [source for source, _ in event.inputs] == [0, 1]
    site = log.site(event.site)
    assert site is not None
    assert Path(site.file) == Path(__file__)
    assert log.value(row) is None
    assert said["type"] == "RuntimeError"


def test_a_second_backward_names_the_node_that_was_freed(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        weight = gs.ones(3, requires_grad=True)
        loss = (weight * weight).sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
    row, _ = failure(log)
    assert log.op(log.event(row).op).name == "mul"


def test_a_gradient_of_another_dtype_is_brought_to_that_of_its_tensor(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        weight = gs.ones(3, requires_grad=True)
        doubled = weight * 2
        doubled.register_hook(lambda gradient: gradient.double() * 2)
        doubled.backward(gs.ones(3, dtype=gs.float64))
    assert weight.grad is not None
    assert weight.grad.dtype == gs.float32
    assert weight.grad.tolist() == [4.0, 4.0, 4.0]
    log.refresh()
    assert log.first_nonfinite() is None


def test_a_leaf_that_was_once_the_root_keeps_its_edges_apart(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        weight = gs.tensor(3.0, requires_grad=True)
        weight.backward()
        (weight * 2).backward()
    log.refresh()
    rows = [row for row in range(log.first, log.end) if log.event(row).kind == Kind.ACCUMULATE]
    sources = [[log.event(source).kind for source, _ in log.inputs(row)] for row in rows]
    assert sources == [[], [Kind.GRAD]]
