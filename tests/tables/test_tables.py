"""What the tables say of a log, against NumPy, the reader's own single rows and the documentation."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import NODES
from graphscope.tables.schema import PARTITIONS, SCHEMA

pytest.importorskip("pyarrow")

from pyarrow import parquet

from graphscope.errors import ExportError
from graphscope.tables import export_tables, query

from .conftest import Recorded

VALUES = [
    np.array([[1.5, -2.0], [0.0, 4.25]], np.float32),
    np.array([np.nan, np.inf, -1.0, 0.0]),
    np.array([np.nan, np.nan]),
    np.array([3, -4, 0], np.int64),
    np.array([True, False]),
    np.array(7.5, np.float64),
    np.zeros((0, 3), np.float32),
]


def rows_of(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(folder / table).to_pylist()
    return found


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Log, Path]:
    """Values of many dtypes, an op of many inputs and one of several outputs, and no training step."""
    folder = tmp_path_factory.mktemp("mixed")
    with gs.record(folder / "mixed.gscope"):
        for value in VALUES:
            gs.tensor(value) + 0
        parts = [gs.ones(2) * number for number in range(5)]
        gs.stack(parts).unbind()[1].sum()
        (gs.randn(3000, requires_grad=True) * 1.0).sum().backward()
    export_tables([folder / "mixed.gscope"], folder / "tables")
    return load(folder / "mixed.gscope"), folder / "tables"


def test_statistics_are_those_of_numpy(mixed: tuple[Log, Path]) -> None:
    log, folder = mixed
    found = {(each["row"], each["slot"]): each for each in rows_of(folder, "values")}
    looked_at = 0
    for (row, slot), each in found.items():
        value = log.value(row, slot)
        assert value is not None
        numbers = np.asarray(value, np.float64).ravel()
        finite = numbers[np.isfinite(numbers)]
        assert (each["size"], each["nan"], each["inf"]) == (
            numbers.size, np.isnan(numbers).sum(), np.isinf(numbers).sum(),
        )  # fmt: skip
        assert each["zero"] == (numbers == 0).sum()
        if finite.size:
            wanted = [finite.min(), finite.max(), finite.mean(), finite.std()]
            assert [each[name] for name in ("minimum", "maximum", "mean", "std")] == pytest.approx(wanted)
        else:
            assert [each[name] for name in ("minimum", "maximum", "mean", "std")] == [None] * 4
        looked_at += 1
        wanted_norm = np.inf if finite.size < numbers.size else np.linalg.norm(finite)
        assert each["norm"] == pytest.approx(wanted_norm)
    assert looked_at >= 2 * len(VALUES)
    assert max(slot for _, slot in found) == 4


def test_nodes_and_edges_are_those_of_the_rows(mixed: tuple[Log, Path]) -> None:
    log, folder = mixed
    rows = [row for row in range(log.first, log.end) if log.raw(row)["kind"] in NODES]
    events = [log.event(row) for row in rows]
    nodes = rows_of(folder, "nodes")
    assert [each["row"] for each in nodes] == rows
    assert [each["op"] for each in nodes] == [log.graph.node(row).op for row in rows]
    assert {"tensor", "accumulate", "randn", "stack"} <= {each["op"] for each in nodes}
    assert [tuple(each["shape"]) for each in nodes] == [event.shape for event in events]
    assert [each["dtype"] or "" for each in nodes] == [event.dtype for event in events]
    assert [each["nonfinite"] for each in nodes] == [bool(log.nonfinite(row)) for row in rows]
    edges = [(each["target"], each["argument"], each["source"], each["slot"]) for each in rows_of(folder, "edges")]
    assert edges == [(row, place, source, slot) for row in rows for place, (source, slot) in enumerate(log.inputs(row))]
    assert max(place for _, place, _, _ in edges) == 4  # more than lie in a row
    assert any(slot for *_, slot in edges)


def test_statistics_that_were_recorded_are_those_of_the_values(tmp_path: Path) -> None:
    value = np.random.default_rng(0).normal(size=5000).astype(np.float32)
    value[17] = np.inf
    with gs.record(tmp_path / "it.gscope", values="summary"):
        gs.tensor(value) * 1.0
    export_tables([tmp_path / "it.gscope"], tmp_path / "tables", ["values"])
    finite = value[np.isfinite(value)].astype(np.float64)
    for each in rows_of(tmp_path / "tables", "values"):
        assert (each["size"], each["inf"], each["norm"]) == (5000, 1, np.inf)
        assert [each["minimum"], each["maximum"], each["mean"], each["std"]] == pytest.approx(
            [finite.min(), finite.max(), finite.mean(), finite.std()], rel=1e-5
        )


def test_files_have_the_columns_of_the_schema(recorded: Recorded) -> None:
    for table in SCHEMA:
        files = list((recorded.tables / table.name).rglob("*.parquet"))
        assert len(files) == len(recorded.logs)
        for file in files:
            assert parquet.read_schema(file).names == [column.name for column in table.columns]
            assert [each.partition("=")[0] for each in file.parts[-3:-1]] == [each.name for each in PARTITIONS]


@pytest.mark.slow
def test_a_log_that_is_exported_again_is_replaced_and_others_stay(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with gs.record(tmp_path / f"{name}.gscope"):
            gs.ones(2) * 2.0
    export_tables([tmp_path / "a.gscope", tmp_path / "b.gscope"], tmp_path / "tables")
    with gs.record(tmp_path / "a.gscope"):
        gs.ones(2) * 2.0 * 3.0 * 4.0
    export_tables([tmp_path / "a.gscope"], tmp_path / "tables")
    runs = [each["run"] for each in rows_of(tmp_path / "tables", "nodes")]
    assert runs.count("b") == 2
    assert runs.count("a") > 3


def test_a_log_that_grows_is_written_as_far_as_it_goes(tmp_path: Path) -> None:
    with gs.record(tmp_path / "it.gscope"):
        x = gs.ones(2) * 2.0
        export_tables([tmp_path / "it.gscope"], tmp_path / "tables")
        x * 3.0
    assert [each["op"] for each in rows_of(tmp_path / "tables", "nodes")][-1] == "mul"
    before = len(rows_of(tmp_path / "tables", "nodes"))
    export_tables([tmp_path / "it.gscope"], tmp_path / "tables")
    assert len(rows_of(tmp_path / "tables", "nodes")) > before


@pytest.mark.parametrize("name", ["weiß 1=2%", "日本", "é%41", "007", "2026-11-23", "a'b", "NULL"])
def test_a_run_is_called_as_its_log_whatever_that_looks_like(name: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    with gs.record(tmp_path / f"{name}.gscope"):
        gs.ones(2) * 2.0
    export_tables([tmp_path / f"{name}.gscope"], tmp_path / "tables", ["nodes"])
    assert query([tmp_path / "tables"], "SELECT DISTINCT run, rank FROM nodes").rows == [(name, 0)]
    (folder,) = (tmp_path / "tables" / "nodes").iterdir()
    assert as_spark_reads(folder.name.removeprefix("run=")) == name


def as_spark_reads(part: str) -> str:
    """What Spark (`unescapePathName`) takes a part of a path for: each escaped byte is a letter."""
    return re.sub("%([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), part)


def test_a_run_whose_name_is_not_utf_8_has_tables(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    log = tmp_path / os.fsdecode(b"run\xff.gscope")
    with gs.record(log):
        gs.ones(2) * 2.0
    export_tables([log], tmp_path / "tables", ["nodes"])
    assert query([tmp_path / "tables"], "SELECT DISTINCT run FROM nodes").rows == [("run\ufffd",)]


def test_one_log_is_not_written_twice(recorded: Recorded, tmp_path: Path) -> None:
    log = recorded.logs["train", 0]
    with pytest.raises(ExportError, match="both rank 0 of the run train"):
        export_tables([log, log.parent / "." / log.name], tmp_path / "tables")


@pytest.mark.slow
def test_polars_reads_a_table_as_it_is(recorded: Recorded) -> None:
    polars = pytest.importorskip("polars")
    losses = polars.scan_parquet(recorded.tables / "steps").filter(polars.col("run") == "train").collect()
    assert losses.filter(polars.col("rank") == 1).sort("step")["loss"].to_list() == pytest.approx(
        recorded.seen["train", 1].losses
    )


@pytest.mark.slow
def test_spark_reads_a_table_as_it_is(recorded: Recorded) -> None:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        for table in SCHEMA:
            found = session.read.parquet(str(recorded.tables / table.name))
            assert set(found.columns) == {column.name for column in (*table.columns, *PARTITIONS)}
            assert found.count() == len(rows_of(recorded.tables, table.name))
        steps = session.read.parquet(str(recorded.tables / "steps")).where("run = 'train' AND rank = 1").orderBy("step")
        assert [each.loss for each in steps.collect()] == pytest.approx(recorded.seen["train", 1].losses)
    finally:
        session.stop()


def test_the_series_of_a_flight_recorder_has_the_steps_that_it_left_out(tmp_path: Path) -> None:
    weight, losses = gs.tensor([3.0, 4.0], requires_grad=True), []
    optimizer = gs.optim.SGD([weight], lr=0.25)
    with gs.record(tmp_path / "run.gscope", every=10):
        for _ in range(30):
            optimizer.zero_grad()
            loss = (weight * weight).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    export_tables([tmp_path / "run.gscope"], tmp_path / "tables", ["series", "steps"])
    found = rows_of(tmp_path / "tables", "series")
    assert len(found) > len(rows_of(tmp_path / "tables", "steps"))
    for each in found:
        loss = losses[each["step"] - 1]
        assert (each["loss"], each["learning_rate"]) == (loss, 0.25)
        if each["gradient_norm"] is not None:  # of a sum of squares
            assert each["gradient_norm"] == pytest.approx(2 * np.sqrt(loss))
    assert any(each["gradient_norm"] is not None for each in found)


def test_steps_are_those_of_the_series_whatever_loops_count(tmp_path: Path) -> None:
    one, other = (gs.tensor([3.0, 4.0], requires_grad=True) for _ in range(2))
    first, second = (gs.optim.SGD([each], lr=0.01) for each in (one, other))
    losses = {}
    with gs.record(tmp_path / "run.gscope", every=7):
        for epoch in range(2):
            for batch in range(10):
                first.zero_grad()
                second.zero_grad()
                (one * one).mean().backward()
                first.step()
                loss = (other * other).sum()
                loss.backward()
                second.step()  # a turn ends with this one, as soon as both are known
                losses[f"epoch {epoch}, batch {batch}"] = loss.item()
    export_tables([tmp_path / "run.gscope"], tmp_path / "tables", ["series", "steps"])
    series = {each["step"]: each["loss"] for each in rows_of(tmp_path / "tables", "series")}
    steps = rows_of(tmp_path / "tables", "steps")
    assert 1 < len(steps) < len(losses)
    for each in steps:
        assert series[each["step"]] == each["loss"] == losses[each["name"]], each
    assert [each["step"] for each in steps] != [int(each["name"].split()[-1]) for each in steps]
