"""No line of a report ends in blanks, and no column is cut for it."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs

from .conftest import Run


@pytest.mark.parametrize(
    "words",
    [["summary"], ["runs", "run.gscope"], ["doctor", "run.gscope"], ["memory"], ["query", "SELECT * FROM nodes"]],
)
def test_no_line_ends_in_blanks(words: list[str], tmp_path: Path, read: Run) -> None:
    if words[0] == "query":
        pytest.importorskip("duckdb")
    with gs.record(tmp_path / "run.gscope"):
        weight = gs.tensor([1.0, 2.0], requires_grad=True)
        (weight * 2.0).log().sum().backward()
        gs.step()
    lines = read(*words).stdout.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_query_shows_all_of_wide_values(tmp_path: Path, read: Run) -> None:
    pytest.importorskip("duckdb")
    with gs.record(tmp_path / "run.gscope"):
        gs.ones(2)
    lines = read("query", "SELECT repeat('x', 500) AS wide, 1 AS one").stdout.splitlines()
    assert lines[2] == f"{'x' * 500}     1"
