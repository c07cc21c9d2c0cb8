"""`graphscope query` and `graphscope export --format parquet`, as a person runs them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.tables.schema import FORMAT

from .conftest import ROOT, Run


def record(folder: Path, *names: str) -> None:
    for name in names:
        with gs.record(folder / name):
            x = gs.tensor([2.0, 3.0], requires_grad=True)
            (x * x).sum().backward()


@pytest.fixture
def engines() -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")


@pytest.mark.usefixtures("engines")
def test_a_log_is_asked(tmp_path: Path, read: Run) -> None:
    record(tmp_path, "it.gscope")
    done = read("query", "SELECT op, maximum FROM nodes JOIN values USING (run, rank, row) WHERE op = 'sum' LIMIT 1")
    assert done.returncode == 0
    assert [line.split() for line in done.stdout.splitlines()[::2]] == [["op", "maximum"], ["sum", "13.0"]]


@pytest.mark.slow
@pytest.mark.usefixtures("engines")
def test_ranks_come_along_and_tables_are_asked_as_logs_are(tmp_path: Path, read: Run) -> None:
    record(tmp_path, "it-rank0.gscope", "it-rank1.gscope", "other.gscope")
    sql = "SELECT run, rank, count(*) AS sums FROM nodes WHERE op = 'sum' AND kind = 'op' GROUP BY ALL ORDER BY ALL"
    direct = read("query", "it.gscope", "other.gscope", sql)
    assert read("export", "it.gscope", "other.gscope", "--format", "parquet", "-o", "tables").returncode == 0
    assert read("query", "tables", sql).stdout == direct.stdout
    assert [line.split() for line in direct.stdout.splitlines()[2:]] == [
        ["it", "0", "1"], ["it", "1", "1"], ["other", "0", "1"],
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("engines")
def test_a_folder_stands_for_all_logs_in_it(tmp_path: Path, read: Run) -> None:
    (tmp_path / "sweep" / "more").mkdir(parents=True)
    record(tmp_path / "sweep", "a.gscope", "b-rank0.gscope", "b-rank1.gscope", "packed.gscope", "more/a.gscope")
    for name in ("a", "packed"):
        assert read("pack", f"sweep/{name}.gscope").returncode == 0
    shutil.rmtree(tmp_path / "sweep" / "packed.gscope")
    sql = "SELECT run, rank FROM nodes GROUP BY ALL ORDER BY ALL"
    direct = read("query", "sweep", sql)
    assert [line.split() for line in direct.stdout.splitlines()[2:]] == [
        ["a", "0"], ["b", "0"], ["b", "1"], ["more-a", "0"], ["packed", "0"],
    ]  # fmt: skip
    assert read("export", "sweep", "--format", "parquet", "-o", "tables").returncode == 0
    assert read("query", "tables", sql).stdout == direct.stdout
    record(tmp_path, "sweep.gscope")  # a log of the folder's name goes ahead of it, as in every command
    assert read("query", "sweep", sql).stdout.splitlines()[2:] == ["sweep      0"]
    record(tmp_path, "newest.gscope")
    assert read("query", sql).stdout.splitlines()[2:] == ["newest      0"]


@pytest.mark.usefixtures("engines")
def test_a_packed_rank_is_the_rank_that_it_was(tmp_path: Path, read: Run) -> None:
    record(tmp_path, "it-rank3.gscope")
    assert read("pack", "it-rank3.gscope").returncode == 0
    done = read("query", "it-rank3.gscope.zip", "SELECT run, rank, count(*) AS sites FROM sites GROUP BY ALL")
    assert done.stdout.splitlines()[2].split()[:2] == ["it", "3"]


@pytest.mark.usefixtures("engines")
def test_of_a_long_answer_the_first_rows_are_shown(tmp_path: Path, read: Run) -> None:
    record(tmp_path, "it.gscope")
    done = read("query", "it.gscope", "SELECT range FROM range(100000)")
    assert len(done.stdout.splitlines()) == 1002
    assert "these are the first 1,000 rows" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("engines")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["query", "it.gscope", "SELEC 1"], "the query can't be run: Parser Error: syntax error"),
        (["query", "it.gscope", "SELECT lost FROM steps"], 'Referenced column "lost" not found'),
        (["query", "it.gscope", "SELECT 1 FROM losses"], "the tables are nodes, edges, values"),
        (["query", "it.gscope", "SELECT 1; SELECT 2"], "these are several queries"),
        (["query", "it.gscope"], "'it.gscope' is no query"),
        (["query", "gone.gscope", "SELECT 1 FROM steps"], "there is no log 'gone.gscope'"),
        (["query", "foreign", "SELECT 1 FROM steps"], "there is no recording (*.gscope) in"),
        (["query", "newer", "SELECT 1 FROM steps"], "newer holds tables of format 99"),
        (["query", "older", "SELECT 1 FROM steps"], "older holds tables of format 1"),
        (["export", "it.gscope", "--format", "parquet", "-o", "older"], "older holds tables of format 1"),
        (["query", "odd", "SELECT 1 FROM steps"], "the table steps in odd has no column backward_passes, duration"),
        (["query", "half", "SELECT 1 FROM steps"], "the table steps in half can't be read"),
        (["query", "newer", "it.gscope", "SELECT 1"], "one folder of tables is asked at a time"),
        (["export", "it.gscope", "--format", "parquet", "-o", "foreign"], "foreign holds no tables of graphscope"),
        (["export", "it.gscope", "--format", "parquet", "-o", "it.py"], "it.py is a file"),
        (["export", "it.gscope", "--format", "parquet"], "say what to write"),
        (["export", "it.gscope", "it.gscope", "-o", "it.dot"], "one log is drawn at a time"),
        (["export", "it.gscope", "--format", "parquet", "-o", "t", "--step", "1"], "takes no --step"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_sentence(words: list[str], said: str, tmp_path: Path, read: Run) -> None:
    import pyarrow
    from pyarrow import parquet

    record(tmp_path, "it.gscope")
    (tmp_path / "it.py").touch()
    table = pyarrow.table({"step": [1], "name": ["a"]})
    for name, about in {
        "foreign": "",
        "newer": '{"format": 99}',
        "older": '{"format": 1}',
        "odd": f'{{"format": {FORMAT}}}',
        "half": f'{{"format": {FORMAT}}}',
    }.items():
        inside = tmp_path / name / "steps" / "run=a" / "rank=0"
        inside.mkdir(parents=True)
        if about:
            (tmp_path / name / "_graphscope.json").write_text(about)
        if name == "odd":
            parquet.write_table(table, inside / "part-0.parquet")
        if name == "half":
            (inside / "part-0.parquet").write_bytes(b"PAR1")
    done = read(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert not list(tmp_path.glob("t"))


@pytest.mark.slow
@pytest.mark.parametrize("module", ["pyarrow", "duckdb"])
def test_what_is_not_installed_is_named_with_its_extra(module: str, tmp_path: Path) -> None:
    record(tmp_path, "it.gscope")
    extra = {"pyarrow": "parquet", "duckdb": "query"}[module]
    words = {"pyarrow": ["export", "it.gscope", "--format", "parquet", "-o", "t"], "duckdb": ["query", "SELECT 1"]}
    program = (
        f"import sys; sys.modules[{module!r}] = None; from graphscope.cli import main; sys.exit(main({words[module]}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT)}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"tables need {module}" in done.stderr
    assert f"graphscope-debugger[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr
