"""NaN and Inf of floating columns, as DuckDB finds them, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import load

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from graphscope.tables import query
from graphscope.tables.batches import Values
from graphscope.tables.export import ABOUT, TABLES
from graphscope.tables.files import write
from graphscope.tables.schema import FORMAT, SCHEMA, Table, Type

FLOATING = [table for table in SCHEMA if any(column.type == "double" for column in table.columns)]
ASKED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "isnan({})": np.isnan,
    "{} = 'nan'::DOUBLE": np.isnan,
    "isinf({})": np.isinf,
    "NOT isfinite({})": lambda numbers: ~np.isfinite(numbers),
    "isfinite({})": np.isfinite,
    "{} > 1e30": lambda numbers: np.isnan(numbers) | (numbers > 1e30),  # to DuckDB, NaN is more than every number
    "{} < -1e30": lambda numbers: numbers < -1e30,
    "NOT isnan({})": lambda numbers: ~np.isnan(numbers),
}
"""Conditions in SQL, and what they say of numbers."""


def filler(type: Type, rows: int) -> Values:
    if type in ("text", "texts", "lengths"):
        return ["" if type == "text" else []] * rows
    return np.zeros(rows, np.int64)


def found(place: Path, table: str, column: str) -> dict[str, tuple[int, int]]:
    """How many rows each condition chooses, and of how many it is true."""
    conditions = [said.format(column) for said in ASKED]
    chosen = [f"(SELECT count(*) FROM {table} WHERE {each})" for each in conditions]
    true = [f"(SELECT coalesce(sum(({each})::INT), 0) FROM {table})" for each in conditions]
    [counts] = query([place], f"SELECT {', '.join(chosen + true)}").rows
    return dict(zip(ASKED, zip(counts[: len(chosen)], counts[len(chosen) :], strict=True), strict=True))


def wanted(numbers: np.ndarray) -> dict[str, tuple[int, int]]:
    return {said: (int(is_true(numbers).sum()),) * 2 for said, is_true in ASKED.items()}


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("table", FLOATING, ids=lambda table: table.name)
def test_no_floating_column_hides_what_is_not_finite(table: Table, odd: float, tmp_path: Path) -> None:
    numbers = np.array([1.0, odd, -2.0, odd, 0.0])
    columns = {
        column.name: numbers if column.type == "double" else filler(column.type, len(numbers))
        for column in table.columns
    }
    (tmp_path / ABOUT).write_text(f'{{"format": {FORMAT}}}', encoding="utf-8")
    write(tmp_path / table.name / "run=it" / "rank=0" / "part-0.parquet", table, [columns])
    for column in table.columns:
        if column.type == "double":
            assert found(tmp_path, table.name, column.name) == wanted(numbers), column.name


@pytest.mark.slow
def test_losses_of_a_log_that_are_not_finite_are_found(tmp_path: Path) -> None:
    losses = []
    weight = gs.tensor([1.0, 2.0], requires_grad=True)
    optimizer = gs.optim.SGD([weight], lr=0.5)
    with gs.record(tmp_path / "it.gscope", every=3):
        for _ in range(12):
            optimizer.zero_grad()
            loss = weight.log().sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert 0 < np.isnan(losses).sum() < len(losses)
    log = tmp_path / "it.gscope"
    assert found(log, "series", "loss") == wanted(np.array(losses))
    assert query([log], "SELECT max(loss) FROM series WHERE NOT isnan(loss)").rows == [(np.nanmax(losses),)]
    for table in FLOATING:  # each column, as the log has it ahead of any file
        batches = list(TABLES[table.name](load(log)))
        for column in table.columns:
            if column.type == "double":
                numbers = np.concatenate([np.ma.compressed(batch[column.name]) for batch in batches])
                assert found(log, table.name, column.name) == wanted(numbers), f"{table.name}.{column.name}"
