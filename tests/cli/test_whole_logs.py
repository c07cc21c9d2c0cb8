"""A log of which a part is missing is owned up to by every command that reads it; of a whole one nothing is said."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import load
from graphscope.eventlog.wholeness import cut

from .conftest import Run

SEGMENT = f"segments/{0:012d}"
FILES = [
    *(f"{SEGMENT}/{name}.npy" for name in ("events", "edges", "outputs", "rare")),
    "series.npy",
    "norms.npy",
    *(f"tables/{name}-000.npy" for name in ("ops", "sites", "shapes", "attrs")),
]
COMMANDS = [
    ["summary", "it.gscope"],
    ["runs", "it.gscope"],
    ["diff", "it.gscope", "whole.gscope"],
    ["export", "it.gscope", "-o", "it.dot"],
    ["pack", "it.gscope"],
    ["open", "it.gscope", "--console"],
]
TABLES = [
    ["export", "it.gscope", "--format", "parquet", "-o", "tables"],
    ["query", "it.gscope", "SELECT 1 FROM steps"],
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A flight recording, and another beside it."""
    for name in ("it", "whole"):
        weight = gs.tensor([3.0, -4.0], requires_grad=True)
        optimizer = gs.optim.SGD([weight], lr=0.05)
        with gs.record(tmp_path / f"{name}.gscope", every=4):
            for _ in range(12):
                optimizer.zero_grad()
                weight.square().sum().backward()
                optimizer.step()
    return tmp_path / "it.gscope"


@pytest.mark.parametrize("name", FILES)
def test_each_file_that_is_cut_or_gone_is_named(name: str, log: Path) -> None:
    assert cut(load(log)) == ""
    size = (log / name).stat().st_size
    for length in (size // 2, 10, 0):  # the second has lost its header
        os.truncate(log / name, length)
        assert cut(load(log)) == f"its {name} is cut"
    (log / name).unlink()
    assert cut(load(log)) == f"its {name} is gone"


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_command_says_in_one_sentence_what_is_cut(words: list[str], log: Path, read: Run) -> None:
    assert "is cut" not in read(*words).stderr
    (log.parent / "it.gscope.zip").unlink(missing_ok=True)
    os.truncate(log / "series.npy", 3_000)
    said = read(*words).stderr
    assert said.count("its series.npy is cut: the log was cut, or copied in part") == 1, said


@pytest.mark.slow
@pytest.mark.parametrize("words", TABLES, ids=lambda words: words[0])
def test_tables_of_a_cut_log_are_not_taken_for_all(words: list[str], log: Path, read: Run) -> None:
    for module in ("pyarrow", "duckdb"):
        pytest.importorskip(module)
    os.truncate(log / SEGMENT / "edges.npy", 200)
    done = read(*words)
    assert done.returncode == 0
    assert done.stderr.count("edges.npy is cut") == 1


@pytest.mark.slow
def test_doctor_and_runs_have_it_among_their_data(log: Path, read: Run) -> None:
    os.truncate(log / "tables" / "sites-000.npy", 200)
    for words in (["it.gscope"], ["whole.gscope", "it.gscope"]):
        told = json.loads(read("doctor", "--json", *words).stdout)
        assert any("its tables/sites-000.npy is cut" in str(each) for each in told["unjudged"])
    runs = {each["log"]: each["missing"] for each in json.loads(read("runs", "--json").stdout)["runs"]}
    assert runs == {"it.gscope": "its tables/sites-000.npy is cut", "whole.gscope": ""}


def test_a_packed_log_has_the_series(log: Path, read: Run) -> None:
    assert read("pack", "it.gscope").returncode == 0
    packed = load(log.with_name("it.gscope.zip"))
    assert cut(packed) == ""
    from graphscope.graph.series import every_step, norms_of_steps

    for read_series in (every_step, norms_of_steps):
        found = read_series(load(log))
        assert len(found)
        np.testing.assert_array_equal(read_series(packed), found)
